#include "actors/prefill_balancer/chunk_queue.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace troupe {

ChunkQueue::ChunkQueue(const PrefillCurve& curve, Duration budget, const ChunkLimits& limits)
    : curve_(curve), budget_(budget), limits_(limits) {
  TROUPE_ASSERT(budget > Duration(), "a step has time");
}

void ChunkQueue::push(RequestId request, std::uint32_t hit, std::uint32_t length) {
  TROUPE_ASSERT(hit < length, "at least one token is computed");
  queue_.push_back({request, hit, length});
}

bool ChunkQueue::withdraw(RequestId request) {
  return std::erase_if(queue_, [&](const Entry& entry) { return entry.request == request; }) > 0;
}

std::vector<ChunkQueue::Chunk> ChunkQueue::next_step() {
  std::vector<Chunk> chunks;
  StepFill fill(curve_, budget_ - debt_, limits_);
  auto taken = queue_.begin();
  while (taken != queue_.end()) {
    Entry& first = *taken;
    const std::uint32_t rest = first.length - first.computed;
    const std::uint32_t tokens = fill.take(first.computed, rest);
    if (tokens == 0) break;
    chunks.push_back({first.request, first.computed, tokens, tokens == rest});
    first.computed += tokens;
    if (tokens < rest) break;
    ++taken;
  }
  queue_.erase(queue_.begin(), taken);
  predicted_ = fill.time();
  return chunks;
}

void ChunkQueue::took(Duration time) {
  debt_ = std::clamp(time - budget_, Duration(), budget_ / 4);
}

Duration ChunkQueue::load() const {
  Duration sum;
  for (const Entry& entry : queue_) {
    sum += curve_.work(entry.length - entry.computed, entry.computed);
  }
  return sum;
}

}  // namespace troupe
