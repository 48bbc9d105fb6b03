// Faults of a cluster with prefill and decode apart, as data: what breaks, when, for how long.
//
//   faults:
//     - {at_ms: 2000, kill: decode_instance, which: 0}
//     - {every_ms: 60000, kill: prefill_engine}                 # gaps are drawn: exponential
//     - {every_ms: 10000, kill: gateway}       # or streams, the stream table
//     - {at_ms: 1000, until_ms: 4000, freeze: prefill_engine}   # its node answers nothing
//     - {at_ms: 1000, until_ms: 9000, partition: decode_instance, which: 1}
//     - {at_ms: 1000, until_ms: 3000, slow: decode_instance, share: 0.5}      # of its speed is
//     left
//     - {at_ms: 1000, until_ms: 3000, slow: nic, which: 5, share: 0.1}        # spine,
//     storage_read, …
//     - {every_ms: 30000, for_ms: 500, stall: storage_read}     # nothing moves
//     - {drop: start_prefill, share: 0.01}                      # of the messages of this kind; or
//     all
//     - {drop: all, from: prefill_engine, to: front, share: 0.01, at_ms: 0, until_ms: 5000}
//
// A fault has either at_ms (and until_ms, if it lasts), or every_ms: the mean of the exponential
// gaps between its occurrences (and for_ms, if it lasts), from from_ms on, up to until_ms. Without
// `which` each occurrence draws its victim. Everything is drawn from the plan's seed.
//
// Places are nodes: the front (gateway, balancers, route, clients), each prefill engine, each
// decode instance, each encoder machine (encoder_machine). Only messages between nodes can be lost.
//
// Data only. Units: virtual time from the run's beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/time.hpp"
#include "runtime/simulation/fabric_speeds.hpp"

namespace troupe {

enum class GroupKind : std::uint8_t { kPrefillEngine, kDecodeInstance, kEncoderMachine };

/// What a front node's supervisor starts again.
enum class FrontService : std::uint8_t { kGateway, kStreams };

enum class FaultAct : std::uint8_t {
  kKill,
  kKillService,
  kFreeze,
  kPartition,
  kSlowGroup,
  kSlowLink,  ///< a stall too: kStalledShare of it is left
  kDrop,
};

enum class FaultPlace : std::uint8_t {
  kAnywhere,
  kFront,
  kPrefillEngine,
  kDecodeInstance,
  kEncoderMachine
};

/// Of a link's bandwidth in a stall: a store of 10 TiB/s then moves 11 KB a second. A flow keeps a
/// speed, so that it has an end that can be moved forward again.
inline constexpr double kStalledShare = 1e-9;

struct ClusterFault {
  FaultAct act = FaultAct::kKill;
  GroupKind group = GroupKind::kPrefillEngine;
  FrontService service = FrontService::kGateway;
  FabricPart part = FabricPart::kNic;
  std::optional<std::uint32_t> which;  ///< of its pool, or the GPU of a NIC; nothing: drawn
  double share = 1;                    ///< slow: of the speed that is left; drop: of what is lost
  std::string message;                 ///< drop: its kind; "all": any
  FaultPlace from = FaultPlace::kAnywhere;
  FaultPlace to = FaultPlace::kAnywhere;
  Duration at;                    ///< by rate: no occurrence is earlier
  std::optional<Duration> lasts;  ///< nothing: to the end of the run; a kill takes no time
  std::optional<Duration> every;  ///< by rate: mean gap
  std::optional<Duration> until;  ///< by rate: no occurrence is later
};

using ClusterFaults = std::vector<ClusterFault>;

}  // namespace troupe
