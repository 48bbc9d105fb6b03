// One prefill GPU's queue: first come first served, in chunks by time (layer d).
//
// Each step has a budget in nanoseconds. The first request gets the largest chunk that the fitted
// curve allows, what is left of the budget goes to the next (runtime/cost: StepFill). A step that
// took longer than its budget takes from the next one's, at most a quarter of it, so that a curve
// that is a bit wrong does not add up to late first tokens (ALGOS 4.2).
//
// Invariants
// 1. Chunks of a request are contiguous, in order, and end at its length.
// 2. Order is the order of push(); only the last chunk of a step may leave its request unfinished.
// 3. load() is what is left to compute, without the fixed times of steps.
//
// Used by a prefill rank; a policy of the balancer sees only what it reports. Units: ns, tokens.
// Pure; one owner.
#pragma once

#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/cost/prefill_curve.hpp"

namespace troupe {

class ChunkQueue {
 public:
  struct Chunk {
    RequestId request;
    std::uint32_t start = 0;  ///< tokens before it
    std::uint32_t tokens = 0;
    bool last = false;
  };

  /// Requires: budget > 0.
  ChunkQueue(const PrefillCurve& curve, Duration budget, const ChunkLimits& limits = {});

  /// Requires: hit < length.
  void push(RequestId request, std::uint32_t hit, std::uint32_t length);
  /// False: it is not there; chunks of it that were given are the device's.
  bool withdraw(RequestId request);

  /// The next step; empty if nothing waits. Its tokens count as computed.
  std::vector<Chunk> next_step();
  /// How long the step took for which next_step() predicted `predicted()`.
  void took(Duration time);
  Duration predicted() const { return predicted_; }

  void set_curve(const PrefillCurve& curve) { curve_ = curve; }
  Duration load() const;
  std::size_t size() const { return queue_.size(); }

 private:
  struct Entry {
    RequestId request;
    std::uint32_t computed = 0;
    std::uint32_t length = 0;
  };
  PrefillCurve curve_;
  Duration budget_;
  ChunkLimits limits_;
  std::vector<Entry> queue_;
  Duration debt_;       ///< of the last step, to be saved in the next
  Duration predicted_;  ///< of the last step given
};

}  // namespace troupe
