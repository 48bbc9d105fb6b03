#include "runtime/cluster/peer_pipe.hpp"

namespace troupe {

namespace {
/// Large enough that the cost of a frame is spread, small enough that a heartbeat does not wait.
constexpr std::size_t kBatchBytes = 256u << 10;
constexpr std::uint32_t kBatchCount = 8192;
static_assert(kBatchCount < kFrameMax, "a frame holds a batch and a beat");
constexpr std::size_t kScratchKept = 1u << 20;
}  // namespace

PeerPipe::Put PeerPipe::put(const Envelope& envelope) {
  thread_local std::string scratch;
  scratch.clear();
  append_envelope(envelope, scratch);
  std::lock_guard lock(mutex_);
  if (closed_) return Put::kClosed;
  if (outstanding_locked() > bytes_max_) {
    closed_ = overflowed_ = true;
    batches_.clear();
    waiting_ = 0;
    return Put::kOverflow;
  }
  const bool first = batches_.empty();
  const bool full = !first && (batches_.back().bytes.size() >= kBatchBytes ||
                               batches_.back().count >= kBatchCount);
  if (first || full) batches_.emplace_back();
  batches_.back().bytes += scratch;
  ++batches_.back().count;
  waiting_ += scratch.size();
  if (scratch.capacity() > kScratchKept) std::string().swap(scratch);
  return first ? Put::kFirst : Put::kQueued;
}

std::deque<PeerPipe::Batch> PeerPipe::take() {
  std::lock_guard lock(mutex_);
  waiting_ = 0;
  return std::exchange(batches_, {});
}

void PeerPipe::sent(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  sent_ += bytes;
}

void PeerPipe::acknowledged(std::uint64_t total) {
  std::lock_guard lock(mutex_);
  // More than was sent, or less than before: a confused peer gains nothing.
  if (total > acknowledged_ && total <= sent_) acknowledged_ = total;
}

void PeerPipe::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  batches_.clear();
  waiting_ = 0;
}

bool PeerPipe::overflowed() const {
  std::lock_guard lock(mutex_);
  return overflowed_;
}

std::size_t PeerPipe::outstanding() const {
  std::lock_guard lock(mutex_);
  return outstanding_locked();
}

}  // namespace troupe
