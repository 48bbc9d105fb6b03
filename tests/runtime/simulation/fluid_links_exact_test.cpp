// Fluid links against their rules written down plainly: no lists, no heap, every flow looked at for
// every change. Ends must be equal to the nanosecond, in the same order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/rng.hpp"
#include "runtime/simulation/fluid_links.hpp"

namespace troupe {
namespace {

class PlainLinks {
 public:
  struct Flow {
    std::vector<std::uint32_t> path;
    double bytes = 0;
    double left = 0;
    double rate = 0;
    std::int64_t since = 0;
    std::int64_t end = 0;
    bool on(std::uint32_t link) const {
      return std::find(path.begin(), path.end(), link) != path.end();
    }
  };
  struct Link {
    double bandwidth = 0;
    double widest = 0;
    double rated = 0;
    double carried = 0;
    std::uint32_t flows = 0;
    std::uint32_t most = 0;
    double share() const { return bandwidth / std::max(1u, flows); }
  };
  std::vector<Link> links;
  std::map<std::uint64_t, Flow> flows;  ///< in the order of their starts

  void start(std::uint64_t name, double bytes, const std::vector<std::uint32_t>& path,
             std::int64_t now) {
    std::map<std::uint32_t, double> before;
    for (const std::uint32_t id : path) {
      Link& link = links[id];
      before[id] = link.flows == 0 ? 2 * link.bandwidth : link.share();
      link.most = std::max(link.most, ++link.flows);
      double elsewhere = path.size() == 1 ? link.bandwidth : 1e300;
      for (const std::uint32_t other : path) {
        if (other != id) elsewhere = std::min(elsewhere, links[other].bandwidth);
      }
      link.widest = std::max(link.widest, elsewhere);
    }
    flows[name] = {path, bytes, bytes, 0, now, 0};
    set_rate(flows[name], now);
    for (const std::uint32_t id : path) share_anew(id, before[id], now);
  }

  void remove(std::uint64_t name, std::int64_t now) {
    const Flow flow = flows[name];
    flows.erase(name);
    std::map<std::uint32_t, double> before;
    for (const std::uint32_t id : flow.path) {
      before[id] = links[id].share();
      --links[id].flows;
    }
    for (const std::uint32_t id : flow.path) share_anew(id, before[id], now);
  }

  void set_bandwidth(std::uint32_t id, double bandwidth, std::int64_t now) {
    links[id].bandwidth = bandwidth;
    links[id].rated = links[id].share();
    for (auto& [name, flow] : flows) {
      if (!flow.on(id)) continue;
      for (const std::uint32_t other : flow.path) {
        if (other == id && flow.path.size() > 1) continue;
        links[other].widest = std::max(links[other].widest, bandwidth);
      }
      set_rate(flow, now);
    }
  }

  std::optional<std::uint64_t> soonest() const {
    std::optional<std::uint64_t> least;
    for (const auto& [name, flow] : flows) {
      if (!least || flow.end < flows.at(*least).end) least = name;
    }
    return least;
  }

  std::vector<std::uint64_t> take_ended(std::int64_t now) {
    std::vector<std::uint64_t> ended;
    for (auto next = soonest(); next && flows[*next].end <= now; next = soonest()) {
      for (const std::uint32_t id : flows[*next].path) links[id].carried += flows[*next].bytes;
      ended.push_back(*next);
      remove(*next, now);
    }
    return ended;
  }

 private:
  void share_anew(std::uint32_t id, double before, std::int64_t now) {
    Link& link = links[id];
    if (std::min(before, link.share()) >= link.widest) {
      link.rated = 0;
      return;
    }
    if (std::abs(link.share() - link.rated) * FluidLinks::kExactFlows < link.rated) return;
    link.rated = link.share();
    for (auto& [name, flow] : flows) {
      if (flow.on(id)) set_rate(flow, now);
    }
  }

  void set_rate(Flow& flow, std::int64_t now) {
    double rate = 1e300;
    for (const std::uint32_t id : flow.path) rate = std::min(rate, links[id].share());
    if (rate == flow.rate) return;
    flow.left = std::max(0.0, flow.left - flow.rate * Duration(now - flow.since).seconds());
    flow.since = now;
    flow.rate = rate;
    flow.end = now + static_cast<std::int64_t>(std::min(std::ceil(flow.left / rate * 1e9), 4e18));
  }
};

/// What a run is made of.
struct Mix {
  const char* name;
  std::vector<double> bandwidths;
  std::size_t flows_most;  ///< none starts beyond
  std::uint64_t starts;    ///< of 100 steps
  std::size_t links_least, links_most;
  std::uint64_t bytes_unit;  ///< sizes are 0 to 8 of it: many are equal
};

class BothLinks {
 public:
  BothLinks(const Mix& mix, std::uint64_t seed) : mix_(mix), rng_(seed) {
    for (const double bandwidth : mix.bandwidths) {
      fast_.add_link(bandwidth);
      plain_.links.push_back({.bandwidth = bandwidth});
    }
  }

  void step() {
    const std::uint64_t dice = rng_.below(100);
    if (dice < mix_.starts && plain_.flows.size() < mix_.flows_most) {
      start();
    } else if (dice < mix_.starts + 5 && !plain_.flows.empty()) {
      cancel();
    } else if (dice < mix_.starts + 7) {
      const auto link = static_cast<std::uint32_t>(rng_.below(mix_.bandwidths.size()));
      const double width = mix_.bandwidths[link] * std::array{0.1, 0.5, 1.0, 4.0}[rng_.below(4)];
      fast_.set_bandwidth(LinkId(link), width, Time(now_));
      plain_.set_bandwidth(link, width, now_);
    } else {
      pass();
    }
    compare();
  }

 private:
  void start() {
    std::vector<std::uint32_t> path;
    const std::size_t links = mix_.links_least + rng_.below(mix_.links_most - mix_.links_least + 1);
    while (path.size() < links) {
      const auto link = static_cast<std::uint32_t>(rng_.below(mix_.bandwidths.size()));
      if (std::find(path.begin(), path.end(), link) == path.end()) path.push_back(link);
    }
    std::vector<LinkId> ids;
    for (const std::uint32_t link : path) ids.emplace_back(link);
    const std::uint64_t bytes = rng_.below(9) * mix_.bytes_unit;
    const FlowId flow = fast_.start(Bytes(bytes), ids, Time(now_));
    ASSERT_EQ(names_.count(flow.value), 0u) << "a flow that runs has its id alone";
    names_[flow.value] = ++started_;
    plain_.start(started_, static_cast<double>(bytes), path, now_);
  }

  void cancel() {
    auto which = names_.begin();
    std::advance(which, static_cast<std::ptrdiff_t>(rng_.below(names_.size())));
    fast_.cancel(FlowId(which->first), Time(now_));
    plain_.remove(which->second, now_);
    names_.erase(which);
  }

  /// To the next end, near it, or past several.
  void pass() {
    const auto next = plain_.soonest();
    if (!next) return;
    const std::int64_t wait = std::max<std::int64_t>(0, plain_.flows[*next].end - now_);
    now_ += rng_.chance(0.6)
                ? wait
                : static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(2 * wait + 2)));
    std::vector<std::uint64_t> ended;
    fast_.take_ended(Time(now_), [&](FlowId flow) {
      ended.push_back(names_[flow.value]);
      names_.erase(flow.value);
    });
    ASSERT_EQ(ended, plain_.take_ended(now_));
  }

  void compare() {
    const auto next = plain_.soonest();
    ASSERT_EQ(fast_.next_end().has_value(), next.has_value());
    if (next) {
      ASSERT_EQ(fast_.next_end()->value, plain_.flows[*next].end);
    }
    ASSERT_EQ(fast_.flows(), plain_.flows.size());
    for (std::uint32_t i = 0; i < mix_.bandwidths.size(); ++i) {
      ASSERT_EQ(fast_.carried(LinkId(i)), plain_.links[i].carried) << "link " << i;
      ASSERT_EQ(fast_.most_flows(LinkId(i)), plain_.links[i].most) << "link " << i;
    }
  }

  const Mix& mix_;
  Rng rng_;
  FluidLinks fast_;
  PlainLinks plain_;
  std::map<std::uint32_t, std::uint64_t> names_;  ///< of flows that run, by FlowId
  std::uint64_t started_ = 0;
  std::int64_t now_ = 0;
};

TEST(FluidLinksExactly, EndAsTheirRulesSay) {
  const std::vector<Mix> mixes = {
      {"NICs, spine and storage",
       {50e9, 50e9, 50e9, 50e9, 200e9, 120e9, 500e9},
       12,
       50,
       3,
       3,
       1 << 20},
      {"narrow spine", {50e9, 50e9, 50e9, 50e9, 60e9}, 16, 50, 2, 3, 3 << 19},
      {"slow links, equal ends", {8, 8, 16, 24}, 10, 45, 1, 4, 48},
      {"a crowd", {1e6, 1e6, 3e5}, 150, 70, 1, 2, 1'000},
  };
  for (const Mix& mix : mixes) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(std::string(mix.name) + ", seed " + std::to_string(seed));
      BothLinks both(mix, seed);
      for (int step = 0; step < 2'000 && !testing::Test::HasFatalFailure(); ++step) both.step();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace troupe
