// Fabric: the simulated network and storage, which all transfers of a cluster share.
//
// Protocol: pd_messages.hpp. MoveBytes becomes a fluid flow (runtime/simulation/fluid_links.hpp):
//
//   fetch   storage read → spine → the machine's NIC in
//   push    NIC out → spine → NIC in
//   write   NIC out → spine → storage write
//
// A storage read begins after its access time, which has jitter; the store's operations a second
// bound its bandwidth, since it is read in blocks. A flow that was stopped ends without a word.
//
// It stands in the place of the transport: in production bytes move by themselves, and nobody asks
// an actor.
//
// Stops are few: they look for their move among those under way, so that no index of moves has to
// be kept for the others.
//
// Invariant: one timer, for the earliest start or end. Units: bytes, seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/pd/pd_messages.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/simulation/fabric_speeds.hpp"
#include "runtime/simulation/fluid_links.hpp"

namespace troupe {

class FabricCore {
 public:
  using Accepts = Protocol<Started, MoveBytes, StopMove, LinksChanged, TimerFired, Undeliverable>;
  struct Args {
    FabricSpeeds speeds;
    std::uint32_t ports = 0;
  };
  static constexpr const char* kKind = "fabric";

  explicit FabricCore(const Args& args);

  void on(const Started&, Context&, Effects&) {}
  void on(const MoveBytes& move, Context& context, Effects& out);
  void on(const StopMove& stop, Context& context, Effects& out);
  void on(const LinksChanged& changed, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // its flow has ended

  void fetch_ahead(const MoveBytes& move) const {
    if (move.kind == MoveKind::kFetch) return;  // it begins later
    links_.fetch(nic_out(move.from));
    if (move.kind == MoveKind::kPush) links_.fetch(nic_in(move.to));
  }

  std::string describe() const { return "flows=" + std::to_string(links_.flows()); }
  const FluidLinks& links() const { return links_; }
  LinkId spine() const { return spine_; }
  LinkId storage_read() const { return storage_read_; }
  LinkId storage_write() const { return storage_write_; }
  LinkId nic_in(PortId port) const { return LinkId(first_in_ + port.value); }
  LinkId nic_out(PortId port) const { return LinkId(first_out_ + port.value); }
  std::uint32_t ports() const { return args_.ports; }
  /// Transfers that somebody waits for, and those that have not begun to flow.
  std::size_t asked() const { return asked_; }
  std::size_t not_begun() const { return starts_.size(); }
  std::uint64_t moves(MoveKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

 private:
  /// Who hears of a move's end. A write has no number, and nobody hears of it.
  struct Asker {
    std::uint64_t move = 0;
    ActorRef ref;
  };
  struct Fetch {
    Time start;
    std::uint64_t order = 0;
    Asker asker;
    PortId to;
    std::uint64_t bytes = 0;
    friend bool operator>(const Fetch& a, const Fetch& b) {
      return a.start != b.start ? a.start > b.start : a.order > b.order;
    }
  };
  void begin(LinkId from, LinkId to, std::uint64_t bytes, const Asker& asker, Time now);
  void work_off(Context& context, Effects& out);
  void arm(Effects& out);

  Args args_;
  FluidLinks links_;
  LinkId spine_, storage_read_, storage_write_;
  std::vector<double> planned_;  ///< bandwidth of each link without faults
  std::uint32_t first_in_ = 0;
  std::uint32_t first_out_ = 0;
  std::vector<Fetch> starts_;  ///< a heap: reads whose access time runs
  std::vector<Asker> askers_;  ///< by flow; those of ended ones have no number
  std::size_t asked_ = 0;
  std::uint64_t counts_[3] = {};
  std::optional<Time> armed_;
};

}  // namespace troupe
