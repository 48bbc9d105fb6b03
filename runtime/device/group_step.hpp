// One step of a whole group of GPUs, told as what changes in it.
//
// Why: a decode instance of 64 GPUs with 64 rows each makes 80 steps a second. A plan that lists
// all rows of all ranks would cost a simulation of hundreds of GPUs more than everything else. So a
// group's plan says which rows enter and leave, and its result says which have ended: a step costs
// O(members + changes).
//
// A group is one communication domain (EP/DP): its members step together, and a step takes as long
// as its slowest member. Only modelled devices run groups (runtime/simulation/group_models.hpp).
//
// Units: positions and counts are tokens.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// An image of a prompt, which encoders turn into embeddings before the prompt is computed.
struct SimulatedImage {
  std::uint32_t width = 0;  ///< pixels
  std::uint32_t height = 0;
  std::uint32_t end = 0;  ///< the prompt's tokens up to its last one
};

/// What only requests have that share prefixes or show images.
struct PromptParts {
  std::vector<std::uint64_t> chain;    ///< block hashes of the prompt and its answer
  std::vector<SimulatedImage> images;  ///< in the prompt's order
};

/// What is known of a simulated request beside the length of its prompt. The entrypoint may read
/// where its prefix is; how long the answer gets is read by devices alone. A value, which goes from
/// message to message: to share it would cost a count far away in memory at each.
struct SimulatedWork {
  std::uint32_t output = 0;   ///< tokens of the answer; 0: nothing is known
  std::uint32_t cached = 0;   ///< tokens of the prompt in the store, if there is no chain
  std::uint64_t session = 0;  ///< 0: none
  std::shared_ptr<const PromptParts> parts;  ///< most have none

  std::span<const std::uint64_t> chain() const {
    return parts == nullptr ? std::span<const std::uint64_t>() : parts->chain;
  }
  std::span<const SimulatedImage> images() const {
    return parts == nullptr ? std::span<const SimulatedImage>() : parts->images;
  }
};

/// The blocks of a chain that lie within the prompt.
inline std::span<const std::uint64_t> prompt_chain(std::span<const std::uint64_t> chain,
                                                   std::uint32_t prompt_tokens,
                                                   std::uint32_t block_tokens) {
  return chain.first(std::min<std::size_t>(prompt_tokens / block_tokens, chain.size()));
}

/// Goes with a request through the cores of one process; never over a wire.
struct SealedWork {
  SimulatedWork work;
  static void fields(auto&, auto&&) {}
};

/// A piece of a prompt.
struct GroupChunk {
  std::uint32_t member = 0;
  RequestId request;
  std::uint32_t start = 0;
  std::uint32_t tokens = 0;
  bool last = false;  ///< its end yields the answer's first token
  SimulatedWork work;
};

/// A row that decodes from this step on.
struct GroupEntry {
  std::uint32_t member = 0;
  RequestId request;
  std::uint32_t context = 0;    ///< tokens of its KV
  std::uint32_t generated = 0;  ///< tokens of its answer so far
  SimulatedWork work;
};

struct GroupLeave {
  std::uint32_t member = 0;
  RequestId request;
};

struct GroupPlan {
  bool reset = false;              ///< a new life of the group: forget all rows of the last one
  std::vector<GroupChunk> chunks;  ///< of this step only
  std::vector<GroupEntry> enters;
  std::vector<GroupLeave> leaves;  ///< rows that were cancelled; unknown ones are ignored
  std::vector<float> drafts;       ///< decode: drafts a row to verify, of each member
  /// Engines that do both: decode alone goes on for so many steps, or until a row ends.
  std::uint32_t steps_most = 1;
};

struct GroupEnd {
  RequestId request;
  std::uint32_t member = 0;
  std::uint32_t tokens = 0;  ///< that it generated since it entered
};

struct GroupResult {
  std::vector<Duration> own;    ///< each member's time, without waiting for the others
  std::vector<GroupEnd> ended;  ///< rows whose answer is complete, by member
  double tokens = 0;            ///< that the step gave, of all rows
  std::uint32_t steps = 1;      ///< how many steps these were
};

/// Of a step's result; empty for devices that run single ranks.
struct GroupOutcome {
  std::shared_ptr<const GroupResult> result;
  static void fields(auto&, auto&&) {}
};

}  // namespace troupe
