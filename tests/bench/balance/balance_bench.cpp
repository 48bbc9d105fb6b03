// balance.decode_ns, balance.prefill_ns, balance.vision_ns: what a balancer's decision costs.
//
// A decision is the whole life of a request at the balancer's policy: submitted, placed (in a
// round, or by a pull), its progress, its end. decode: 512 and 4,096 GPUs of 48 requests each;
// prefill: 128 engines of 4 ranks; vision: 64 machines of 8 GPUs.
#include <cmath>

#include "actors/decode_balancer/decode_placer.hpp"
#include "actors/prefill_balancer/bucket_policy.hpp"
#include "actors/vision_balancer/vision_pool.hpp"
#include "tests/bench/figure.hpp"

namespace troupe::bench {
namespace {

double decode_ns(std::uint32_t gpus, std::uint64_t requests) {
  DecodePlacer placer(DecodeRule::kBalanced);
  for (std::uint32_t i = 0; i < gpus; ++i) placer.add_gpu(200'000, 96);
  Rng rng(1);
  const std::uint64_t live = std::uint64_t{gpus} * 48;
  std::vector<RequestId> running;
  const auto arrive = [&](std::uint64_t id) {
    const Time now(static_cast<std::int64_t>(id) * 1'000);
    (void)placer.submit(RequestId(id), 1'000 + static_cast<std::uint64_t>(rng.exponential(76'000)),
                        now, now + seconds(60));
    if (id % 8 != 0) return;
    for (const auto& placed : placer.round(now)) {
      (void)placer.start(placed.request, placed.generation);
      running.push_back(placed.request);
    }
  };
  std::uint64_t id = 0;
  while (running.size() < live) arrive(++id);
  const double start = cpu_seconds();
  for (const std::uint64_t end = id + requests; id < end;) {
    arrive(++id);
    std::swap(running[rng.below(running.size())], running.back());
    placer.release(running.back());
    running.pop_back();
  }
  return (cpu_seconds() - start) / static_cast<double>(requests) * 1e9;
}

double prefill_ns(std::uint64_t requests) {
  PrefillPool pool;
  BucketPolicy policy(pool, BucketOptions());
  Handouts handouts;
  for (int i = 0; i < 128; ++i) policy.joined(pool.add_engine(4), handouts);
  Rng rng(1);
  std::vector<RequestId> running;
  const auto collect = [&] {
    running.insert(running.end(), handouts.begin(), handouts.end());
    handouts.clear();
  };
  const auto one_more = [&](std::uint64_t id) {
    PrefillJob job;
    job.request = RequestId(id);
    job.length = 1'000 + static_cast<std::uint32_t>(rng.exponential(76'000));
    job.hit = static_cast<std::uint32_t>(0.96 * job.length) / 128 * 128;
    policy.arrived(pool.add_job(std::move(job)), handouts);
    collect();
  };
  std::uint64_t id = 0;
  while (pool.jobs() < 1'500) one_more(++id);
  const double start = cpu_seconds();
  for (const std::uint64_t end = id + requests; id < end;) {
    one_more(++id);
    std::swap(running[rng.below(running.size())], running.back());
    PrefillJob& job = *pool.find(running.back());
    const EngineId engine = job.engine;
    pool.advance(job, job.length - 1);  // the step before its last
    pool.take_back(job);
    pool.drop_job(running.back());
    running.pop_back();
    policy.has_room(engine, handouts);
    collect();
    if (id % 4'400 == 0) policy.round(handouts);
    collect();
  }
  return (cpu_seconds() - start) / static_cast<double>(requests) * 1e9;
}

double vision_ns(std::uint64_t images) {
  VisionPool pool;
  for (int i = 0; i < 64; ++i) pool.add_machine(8);
  Rng rng(1);
  std::vector<std::pair<EncoderId, std::uint64_t>> running;
  const double start = cpu_seconds();
  for (std::uint64_t i = 0; i < images; ++i) {
    const std::uint64_t patches = 1 + rng.below(4'000);
    running.emplace_back(*pool.place(patches, rng), patches);
    if (running.size() < 2'000) continue;
    std::swap(running[rng.below(running.size())], running.back());
    pool.finish(running.back().first, running.back().second);
    running.pop_back();
  }
  return (cpu_seconds() - start) / static_cast<double>(images) * 1e9;
}

int run(const Arguments& arguments) {
  const std::uint64_t count = arguments.quick ? 20'000 : 400'000;
  std::vector<Figure> figures{{"balance.decode_ns", "ns a request, 512 GPUs", 1'500, true, {}},
                              {"balance.decode_4096_ns", "ns a request", 3'000, true, {}},
                              {"balance.prefill_ns", "ns a request", 1'500, true, {}},
                              {"balance.vision_ns", "ns an image", 200, true, {}}};
  for (int i = 0; i < (arguments.quick ? 1 : 5); ++i) {
    figures[0].samples.push_back(decode_ns(512, count));
    figures[1].samples.push_back(decode_ns(4'096, count));
    figures[2].samples.push_back(prefill_ns(count));
    figures[3].samples.push_back(vision_ns(count));
  }
  return report(std::move(figures), arguments.json);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  return troupe::bench::run(troupe::bench::parse(argc, argv));
}
