// A scenario: a simulated cluster, its load, its faults, and what must come of it. Data only.
//
// `troupe simulate` fills one from its flags; tests/simulation/*.yaml hold the others:
//
//   name: one rank dies under load
//   seed: 7
//   cluster:  {nodes: 2, ranks: 4, blocks: 4096, max_num_seqs: 64, …}
//   workload: {concurrency: 64, num_requests: 2000, isl: 2000, osl: 100, osl_spread: 50, …}
//   faults:
//     - {at_ms: 812, kill: rank}        # one of the ranks, drawn by the seed; or gateway, streams,
//     - {at_ms: 900, kill: request}     # request (the one started last)
//     - {from_ms: 0, until_ms: 5000, drop: submit_row, share: 0.01}   # messages between nodes
//   expect:   {ok_min: 1500, failed_max: 200, cancelled_min: 10, …}
//
// Every key is optional, but for the share of a drop. Unknown messages, unknown keys, wrong types
// and values out of range are refused with file:line. What every run must keep (one outcome a
// request, nothing held at the end, no orphaned block) is not written here: the runner checks it
// always.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"
#include "runtime/simulation/expectations.hpp"

namespace troupe {

struct ClusterShape {
  std::uint32_t nodes = 1;
  std::uint32_t ranks = 1;  ///< on each node
  // One simulated GPU. 65,536 blocks of 112 KiB (CALIB.md, Block KV) are 7 GiB.
  std::uint32_t blocks = 65536;
  std::uint32_t context_max = 131072;
  std::uint32_t max_num_seqs = 256;
  std::uint32_t max_num_batched_tokens = 8192;
  std::uint32_t rank_queue_max = 256;
  bool async_steps = true;
  // The gateway, on the first node.
  std::uint32_t requests_max = 0;  ///< 0: as many as the ranks run and queue
  Duration request_timeout = seconds(600);
  std::uint32_t bytes_per_token = 8;  ///< of an answer's stream
};

struct Workload {
  std::uint32_t concurrency = 0;
  double request_rate = 0;
  double burstiness = 1;
  std::uint64_t num_requests = 0;
  Duration duration;
  std::uint32_t warmup = 0;
  std::uint32_t isl = 512;
  double isl_stddev = 0;
  std::uint32_t osl = 128;  ///< mean of the answers' lengths
  std::uint32_t osl_spread = 0;
  double cancel_rate = 0;
  Duration cancel_delay;
  Duration cancel_delay_most;
  Duration timeout;
  double slow_readers = 0;
  Duration slow_reader_starts = seconds(3600);
  std::string goodput;     ///< "ttft:500 tpot:50", milliseconds
  double image_share = 0;  ///< of the requests, with images; only clusters with encoders have some
  std::uint32_t images = 1;
  std::string image_size;  ///< "1024x768,512x512": each alike
};

enum class FaultKind : std::uint8_t { kKillRank, kKillGateway, kKillStreams, kKillRequest, kDrop };

struct Fault {
  FaultKind kind = FaultKind::kKillRank;
  Duration at;     ///< kills: when; drops: from when
  Duration until;  ///< drops
  double share = 0;
  std::string message;  ///< drops: the name of the message kind
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  bool explore_ties = false;
  ClusterShape cluster;
  Workload workload;
  std::vector<Fault> faults;
  Expectations expect;
};

/// Names of the messages that a fault may drop: those that travel between nodes.
using MessageNames = std::vector<std::string>;

/// `file` is for messages only.
Result<Scenario> parse_scenario(std::string_view text, const std::string& file,
                                const MessageNames& droppable);
Result<Scenario> load_scenario(const std::string& file, const MessageNames& droppable);

}  // namespace troupe
