// The event simulator against queueing theory: mean times in M/M/1, M/D/1 and M/M/k queues that the
// serving cores make, within confidence bounds; and Little's law.
//
// Two places queue: a rank that runs one row at a time (single-engine world), and the decode
// balancer in front of k GPUs of one row each (cluster): arrivals are Poisson, service is what
// steps take. Sojourns are cut into batches; the bound is Student's t for 99.9 % over their means,
// and what messages, rounds and pushes add beside the queue, which theory does not know.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/simulation/cluster.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t kRequests = 20'000;
constexpr std::size_t kBatches = 20;
/// Of t with 19 degrees of freedom, both sides of 99.9 %.
constexpr double kStudent = 3.883;

/// Mean time in an M/G/k queue: Erlang's C, with the correction of Allen and Cunneen for the
/// service's squared coefficient of variation. Exact for M/M/k, and by Pollaczek and Khinchine for
/// M/G/1.
double mean_sojourn(double arrivals, double service, double variation, unsigned servers) {
  const double load = arrivals * service;
  double term = 1, sum = 0;
  for (unsigned i = 0; i < servers; ++i) {
    sum += term;
    term *= load / (i + 1);
  }
  const double last = term / (1 - load / servers);
  const double waits = last / (sum + last);
  const double wait = waits * service / (servers - load) * (1 + variation) / 2;
  return wait + service;
}

/// From the client's sending to the last byte, in the order of arrivals.
class Sojourns {
 public:
  std::function<void(Time, const Envelope&)> observer() {
    return [this](Time now, const Envelope& envelope) {
      if (const auto* asked = envelope.message.as<HttpArrived>()) {
        begun_.resize(std::max<std::size_t>(begun_.size(), asked->exchange + 1));
        took_.resize(begun_.size(), -1);
        begun_[asked->exchange] = now;
      } else if (const auto* end = envelope.message.as<SessionEnd>()) {
        took_.at(end->exchange) = (now - begun_.at(end->exchange)).seconds();
      }
    };
  }
  struct Estimate {
    double mean = 0;
    double error = 0;  ///< half of the confidence interval
  };
  /// Without the first tenth, while the queue fills.
  Estimate estimate() const {
    const std::size_t skip = took_.size() / 10;
    const std::size_t each = (took_.size() - skip) / kBatches;
    std::vector<double> means;
    for (std::size_t i = 0; i < kBatches; ++i) {
      const auto first = took_.begin() + static_cast<std::ptrdiff_t>(skip + i * each);
      EXPECT_GE(*std::min_element(first, first + static_cast<std::ptrdiff_t>(each)), 0);
      means.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(each), 0.0) /
                      static_cast<double>(each));
    }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / kBatches;
    double squares = 0;
    for (const double one : means) squares += (one - mean) * (one - mean);
    const double deviation = std::sqrt(squares / (kBatches - 1));
    return {mean, kStudent * deviation / std::sqrt(static_cast<double>(kBatches))};
  }

 private:
  std::vector<Time> begun_;
  std::vector<double> took_;  ///< exchanges are numbered from 1
};

void expect_mean(const Sojourns& sojourns, double theory, double besides) {
  const auto found = sojourns.estimate();
  // A bound as wide as the figure would prove nothing.
  EXPECT_LT(found.error, theory * 0.25);
  EXPECT_GT(found.mean, theory - found.error);
  EXPECT_LT(found.mean, theory + found.error + besides);
  std::printf("   theory %.4f s, found %.4f +- %.4f s\n", theory, found.mean, found.error);
}

/// A step takes a time that does not depend on what is in it.
class DrawnCost final : public StepCost {
 public:
  DrawnCost(double mean, bool exponential) : mean_(mean), exponential_(exponential), rng_(17) {}
  Duration step(const StepPlan&) override {
    return from_seconds(exponential_ ? rng_.exponential(mean_) : mean_);
  }
  std::vector<std::string> describe() const override { return {}; }
  std::string extrapolation() const override { return {}; }

 private:
  double mean_;
  bool exponential_;
  Rng rng_;
};

void run_rank(double load, bool exponential) {
  constexpr double kService = 1;
  SCOPED_TRACE(load);
  Scenario scenario;
  scenario.seed = 5;
  scenario.cluster.max_num_seqs = 1;
  scenario.cluster.async_steps = false;
  scenario.cluster.rank_queue_max = 100'000;
  scenario.cluster.request_timeout = seconds(1'000'000);
  scenario.workload.request_rate = load / kService;
  scenario.workload.num_requests = kRequests;
  scenario.workload.isl = 10;
  scenario.workload.osl = 1;
  Sojourns sojourns;
  SimulatedCluster::Options options;
  options.cost = std::make_shared<DrawnCost>(kService, exponential);
  options.observer = sojourns.observer();
  const auto cluster = run_clean(scenario, std::move(options));
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), kRequests);
  expect_mean(sojourns, mean_sojourn(load / kService, kService, exponential ? 1 : 0, 1), 1e-3);
}

TEST(Queueing, ARankOfOneRowIsAnMM1Queue) {
  for (const double load : {0.3, 0.6, 0.8}) run_rank(load, true);
}

TEST(Queueing, ARankOfOneRowIsAnMD1Queue) {
  for (const double load : {0.3, 0.6, 0.8}) run_rank(load, false);
}

/// Answers of 1 + so many tokens on average, 20 ms each; the first comes from prefill, which takes
/// no time here.
constexpr double kTokens = 50;
constexpr double kStepMs = 20;

struct Service {
  double mean = 0;  ///< seconds
  double variation = 0;
};

/// Of whole tokens: an exponential that was rounded, less the first one.
Service service_of(bool exponential) {
  if (!exponential) return {kTokens * kStepMs / 1e3, 0};
  const double mean = kTokens + 1;
  double first = 0, second = 0;
  for (int n = 2; n < 100 * kTokens; ++n) {
    const double chance = std::exp(-(n - 0.5) / mean) - std::exp(-(n + 0.5) / mean);
    first += chance * (n - 1);
    second += chance * (n - 1) * (n - 1);
  }
  return {first * kStepMs / 1e3, second / (first * first) - 1};
}

ClusterPlan queue_plan(unsigned servers) {
  ClusterPlan plan;
  plan.seed = 9;
  plan.prefill.engines = 1;
  plan.prefill.ranks = 1;
  plan.prefill.fit = false;
  plan.decode.instances = servers;
  plan.decode.ranks = 1;
  plan.decode.rows_most = 1;
  plan.decode.drafts = "off";
  plan.request_timeout = seconds(1'000'000);
  for (const char* name : {"prefill_a_ms", "prefill_b_us", "decode_k_ms", "decode_p1_us",
                           "decode_p2_us", "decode_extra_ms"}) {
    plan.set_constant(name, 0, "test");
  }
  plan.set_constant("decode_t0_ms", kStepMs, "test");
  return plan;
}

void run_decode(double load, bool exponential, unsigned servers) {
  SCOPED_TRACE(load);
  const Service service = service_of(exponential);
  TrafficPlan traffic;
  traffic.request_rate = load * servers / service.mean;
  traffic.num_requests = kRequests;
  traffic.isl = 200;
  traffic.osl = kTokens + 1;
  if (exponential) {
    traffic.osl = Distribution::parse("exponential:" + std::to_string(kTokens + 1), 1).value();
  }
  traffic.seed = 9;
  Sojourns sojourns;
  PdCluster::Options options;
  options.load = traffic;
  options.observer = sojourns.observer();
  auto made = PdCluster::make(queue_plan(servers), std::move(options));
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_TRUE((*made)->run().ok());
  for (const auto& rule : (*made)->broken_rules()) ADD_FAILURE() << rule;
  const double theory =
      mean_sojourn(traffic.request_rate, service.mean, service.variation, servers);
  // A GPU stands for up to 2 ms between two rows: round, push, messages. That is service, too.
  const double slower =
      mean_sojourn(traffic.request_rate, service.mean + 2e-3, service.variation, servers);
  expect_mean(sojourns, theory, slower - theory + 2e-3);
}

TEST(Queueing, OneDecodeGpuIsAnMM1Queue) {
  for (const double load : {0.3, 0.6, 0.8}) run_decode(load, true, 1);
}

TEST(Queueing, OneDecodeGpuIsAnMD1Queue) {
  for (const double load : {0.3, 0.6, 0.8}) run_decode(load, false, 1);
}

TEST(Queueing, DecodeGpusBehindOneBalancerAreAnMMkQueue) {
  for (const double load : {0.5, 0.8}) {
    run_decode(load, true, 2);
    run_decode(load, true, 8);
  }
}

TEST(LittlesLaw, BothSidesAreCountedApart) {
  Occupancy occupancy;
  EXPECT_TRUE(occupancy.balanced());
  occupancy.enters(Time() + seconds(1));
  occupancy.enters(Time() + seconds(2));
  EXPECT_FALSE(occupancy.balanced()) << "somebody is inside";
  occupancy.leaves(Time() + seconds(1), Time() + seconds(4));
  occupancy.leaves(Time() + seconds(2), Time() + seconds(5));
  EXPECT_TRUE(occupancy.balanced());
  EXPECT_DOUBLE_EQ(occupancy.mean_inside(), 6.0 / 4);
  EXPECT_DOUBLE_EQ(occupancy.mean_inside(), occupancy.rate() * occupancy.mean_time());
  occupancy.enters(Time() + seconds(6));
  occupancy.leaves(Time() + seconds(5), Time() + seconds(7));
  EXPECT_FALSE(occupancy.balanced()) << "its time is not the one that was spent";
}

TEST(LittlesLaw, HoldsInARunWithFaultsAndLeavingClients) {
  Scenario scenario = open_loop(500);
  scenario.workload.cancel_rate = 0.2;
  scenario.workload.cancel_delay_most = seconds(1);
  const auto cluster = run_clean(scenario);
  const Occupancy& occupancy = cluster->traffic().report().occupancy();
  EXPECT_TRUE(occupancy.balanced());
  EXPECT_NEAR(occupancy.mean_inside(), occupancy.rate() * occupancy.mean_time(),
              1e-9 * occupancy.mean_inside());
  EXPECT_GT(occupancy.mean_inside(), 5);
}

}  // namespace
}  // namespace troupe
