// The protocol of the traffic generator, beside that of sessions, which it plays.
//
//   node → traffic       GatewayStarted: the gateway to send to
//   host → traffic       Drain: start nothing more, leave what is under way, stop
//   traffic → observer   TrafficProgress each second, TrafficEnded once
#pragma once

#include <memory>

#include "actors/node/node_messages.hpp"

namespace troupe {

class TrafficReport;

struct TrafficProgress {
  static constexpr MessageInfo info{0x0501, "traffic_progress"};
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint32_t live = 0;
  static void fields(auto& self, auto&& visit) {
    visit("started", self.started);
    visit("ended", self.ended);
    visit("failed", self.failed);
    visit("cancelled", self.cancelled);
    visit("live", self.live);
  }
};

/// The report, shared; it never leaves the node.
struct SharedReport {
  std::shared_ptr<const TrafficReport> report;
  static void fields(auto&, auto&&) {}
};

struct TrafficEnded {
  static constexpr MessageInfo info{0x0502, "traffic_ended"};
  SharedReport report;
  static void fields(auto& self, auto&& visit) { visit("report", self.report); }
};

using TrafficProtocol =
    Protocol<Started, GatewayStarted, SessionAdopted, SessionRespond, SessionBegin, SessionWrite,
             SessionEnd, SessionCut, TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
