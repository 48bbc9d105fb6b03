// Links that contend: transfers as fluids that share what they run through.
//
// A flow runs over a few links at once (a GPU's NIC, the spine, the other GPU's NIC; or storage). A
// link gives each of its flows the same share of its bandwidth; a flow runs at the least of its
// shares. What a flow cannot use because it is held up elsewhere is not handed to the others, so
// that shared links look slightly slower than with max-min fairness, never faster.
//
// When a flow starts or ends, only flows change that share a link with it, and only if that link's
// share can hold anybody up: a spine that has room for all of its NICs is not looked at. Their ends
// are computed anew from what is left. The flows of a link with more than kExactFlows are computed
// anew only when their share has moved by that part of itself: a storage with ten thousand readers
// would else cost ten thousand computations for each that comes or goes.
//
// A link keeps a list of its flows from when it first has to look at them; most of a cluster's
// flows run over a spine and a storage that never do.
//
// Invariants
// 1. The flows of a link together run at no more than its bandwidth; with more than kExactFlows,
//    at no more than 1 + 1 / kExactFlows of it.
// 2. A flow ends when exactly its bytes have gone through; a cancelled one never ends.
// 3. The same calls give the same ends: equal ends come in the order of starts.
// 4. A listed link's list has all of its flows, another's none; `share` is of its flows now.
//
// Cost: O(min(flows on the links that hold up, kExactFlows) log flows) a change; once O(flows) for
// a link, when its list is made. Units: bytes, seconds. Pure; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/fetch.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"
#include "runtime/simulation/end_heap.hpp"

namespace troupe {

struct LinkId : Strong<LinkId, std::uint32_t> {
  using Strong::Strong;
};
/// A flow that runs: a small number, fit for an index of a table. Once it has ended, another's.
struct FlowId : Strong<FlowId, std::uint32_t> {
  using Strong::Strong;
};

class FluidLinks {
 public:
  static constexpr std::size_t kPathMost = 4;
  static constexpr std::uint32_t kExactFlows = 32;

  /// Requires: bytes_per_second > 0.
  LinkId add_link(double bytes_per_second);
  /// From now on; flows that run on it go on at the new speed. Requires: > 0.
  void set_bandwidth(LinkId link, double bytes_per_second, Time now);

  /// Requires: 1 to kPathMost different links. `now` never goes back.
  FlowId start(Bytes bytes, std::span<const LinkId> path, Time now);
  /// Requires: it runs.
  void cancel(FlowId flow, Time now) { remove(flow.value, now); }

  /// When the next flow ends, if nothing else changes.
  std::optional<Time> next_end() const {
    return ends_.empty() ? std::nullopt : std::optional(ends_.soonest());
  }
  /// Ends all flows that do so at or before `now`, and names each. Requires: `ended` changes
  /// nothing here.
  void take_ended(Time now, auto&& ended) {
    while (!ends_.empty() && ends_.soonest() <= now) ended(FlowId(end_soonest(now)));
  }

  // What is touched soon begins to travel to the cache: of thousands of links most are far away.
  void fetch(LinkId link) const { fetch_line(&links_[link.value]); }
  void fetch_soonest() const {
    if (ends_.empty()) return;
    const Flow& flow = flows_[ends_.soonest_flow()];
    for (std::uint32_t i = 0; i < flow.links; ++i) fetch(flow.path[i]);
  }

  std::size_t flows() const { return ends_.size(); }
  double bandwidth(LinkId link) const { return links_[link.value].bandwidth; }
  /// Bytes of flows over it that have ended.
  double carried(LinkId link) const { return links_[link.value].carried; }
  std::uint32_t most_flows(LinkId link) const { return links_[link.value].most; }

 private:
  static constexpr std::uint32_t kNobody = ~0u;
  struct Flow {
    double left = 0;
    double rate = 0;
    Time since;  ///< of `left`
    double bytes = 0;
    std::uint32_t links = 0;  ///< 0: nobody's
    LinkId path[kPathMost];
  };
  /// Of a flow in the list of one of its links. Number i of flow f is f * kPathMost + i.
  struct Place {
    std::uint32_t next = kNobody;
    std::uint32_t previous = kNobody;
  };
  struct alignas(64) Link {
    double bandwidth = 0;
    double share = 0;   ///< of each flow
    double widest = 0;  ///< the fastest that any flow on it could ever run elsewhere
    double rated = 0;   ///< the share that its flows were last computed with; 0: not all with one
    double carried = 0;
    std::uint32_t flows = 0;
    std::uint32_t most = 0;
    std::uint32_t first = kNobody;  ///< of its list
    bool listed = false;
  };

  std::uint32_t take_slot();
  std::uint32_t end_soonest(Time now);
  void remove(std::uint32_t flow, Time now);
  void widen(const Flow& flow);
  void enlist(Link& link, std::uint32_t place);
  void delist(Link& link, std::uint32_t place);
  void make_list(LinkId link);
  /// One more or one less runs on it. Returns the share until then.
  static double set_flows(Link& link, std::uint32_t flows);
  /// The flows of a link whose share was `before`; `known` of them run at the new one already.
  void share_anew(LinkId link, double before, std::uint32_t known, Time now);
  double rate_of(const Flow& flow) const;
  void set_rate(std::uint32_t flow, Time now);
  static Time end_of(const Flow& flow);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> unused_;
  EndHeap ends_;
};

}  // namespace troupe
