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
// Invariants
// 1. The flows of a link together run at no more than its bandwidth; with more than kExactFlows,
//    at no more than 1 + 1 / kExactFlows of it.
// 2. A flow ends when exactly its bytes have gone through; a cancelled one never ends.
// 3. The same calls give the same ends: equal ends come in the order of starts.
//
// Cost: O(min(flows on the links that hold up, kExactFlows) log flows) a change. Units: bytes,
// seconds. Pure; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/flat_map.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct LinkId : Strong<LinkId, std::uint32_t> {
  using Strong::Strong;
};
/// A flow, chosen by whoever starts it: not 0, and not in use.
struct FlowId : Strong<FlowId, std::uint64_t> {
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

  /// Requires: a new id, 1 to kPathMost different links. `now` never goes back.
  void start(FlowId flow, Bytes bytes, std::span<const LinkId> path, Time now);
  /// False: it is not there.
  bool cancel(FlowId flow, Time now);

  /// When the next flow ends, if nothing else changes.
  std::optional<Time> next_end();
  /// All flows that end at or before `now`.
  std::vector<FlowId> take_ended(Time now);

  std::size_t flows() const { return by_id_.size(); }
  double bandwidth(LinkId link) const { return links_[link.value].bandwidth; }
  /// Bytes of flows over it that have ended.
  double carried(LinkId link) const { return links_[link.value].carried; }
  std::uint32_t most_flows(LinkId link) const { return links_[link.value].most; }

 private:
  struct Flow {
    FlowId id;
    double bytes = 0;
    double left = 0;
    double rate = 0;
    Time since;  ///< of `left`
    Time end;
    std::uint64_t order = 0;
    std::uint32_t version = 0;  ///< of its end
    std::uint32_t links = 0;
    LinkId path[kPathMost];
    std::uint32_t place[kPathMost] = {};  ///< in each link's list
  };
  struct Link {
    double bandwidth = 0;
    double widest = 0;  ///< the fastest that any flow on it could ever run elsewhere
    std::vector<std::uint32_t> flows;
    double carried = 0;
    double rated = 0;  ///< the share that its flows were last computed with
    std::uint32_t most = 0;
  };
  struct End {
    Time at;
    std::uint64_t order;
    std::uint32_t flow;
    std::uint32_t version;
    friend bool operator>(const End& a, const End& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  bool holds(const End& end) const;
  void remove(std::uint32_t index, Time now);
  void detach(const Flow& flow, std::uint32_t which);
  /// The flows of a link whose share was `before`.
  void share_anew(LinkId link, double before, Time now);
  void set_rate(std::uint32_t index, Time now);
  double share(const Link& link) const {
    return link.bandwidth / static_cast<double>(link.flows.empty() ? 1 : link.flows.size());
  }

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> unused_;
  FlatMap<std::uint32_t> by_id_;
  std::vector<End> ends_;  ///< a heap; stale ones are dropped when they come up, or are too many
  std::uint64_t next_order_ = 0;
};

}  // namespace troupe
