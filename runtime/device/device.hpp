// Devices: where the heavy work runs, behind one interface that fits CUDA and Ascend streams too.
//
// A device has streams; a stream runs its launches one after another, streams run beside each
// other, and a launch may wait for launches of other streams (`after`: an event is the completion
// of a launch). A launch returns at once; its end is told to a CompletionSink exactly once, with a
// result or an error, also after a cancel.
//
// Protocol: open_stream → launch* → (cancel)? → complete, once a launch → close_stream.
//
// Invariants
// 1. Launches of one stream end in launch order.
// 2. Exactly one `complete` per launch. A real device makes none after close_stream has returned; a
//    modelled one has told its ends before.
// 3. What a launch reads and writes (its slot, its KV blocks) belongs to the stream from `launch`
//    to its completion, also when it was cancelled: a cancel is a wish, the completion is the fact.
// 4. A captured graph replays exactly the launches that were made during capture.
//
// Threads: calls come from the owner's thread. Real devices complete on their own threads and may
// not be called back from there. Modelled devices (simulated, scripted) have no threads: they
// compute the completion time at the launch and tell it at once, with `at` in the future; whoever
// implements the sink delivers it then.
//
// CUDA mapping: stream = cudaStream_t, launch end = cudaEvent_t polled by the owner or a host
// function that only posts, slot = cudaMallocHost, graph = cudaGraphExec_t. Ascend: aclrtStream
// with a subscribed report thread, aclrtMallocHost, aclmdlRICapture*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"
#include "runtime/device/step.hpp"

namespace troupe {

struct StreamId : Strong<StreamId, std::uint32_t> {
  using Strong::Strong;
};
/// A launch, unique on its device: the caller numbers them, upwards.
struct LaunchId : Strong<LaunchId, std::uint64_t> {
  using Strong::Strong;
};
struct GraphId : Strong<GraphId, std::uint32_t> {
  using Strong::Strong;
};

enum class LaunchKind : std::uint8_t {
  kForward = 0,   ///< plan: compute logits
  kSample,        ///< plan: choose tokens from the logits of the same plan
  kCopyToDevice,  ///< copy: slot memory → device memory
  kCopyToHost,    ///< copy: device memory → slot memory
  kGraph,         ///< graph: replay a capture
};

struct CopyRange {
  std::uint32_t slot = 0;
  std::size_t slot_offset = 0;    ///< bytes
  std::size_t device_offset = 0;  ///< bytes from the start of the device's copy area
  std::size_t length = 0;         ///< bytes
};

struct Launch {
  LaunchId id;
  StreamId stream;
  LaunchKind kind = LaunchKind::kForward;
  std::uint32_t slot = 0;                ///< pinned slot that plan and result use
  std::shared_ptr<const StepPlan> plan;  ///< forward, sample
  CopyRange copy;                        ///< copies
  GraphId graph;                         ///< graph
  std::vector<LaunchId> after;           ///< launches of other streams that must have ended
};

/// Told the end of each launch. `at` is Time() from a real device (it ended now); a modelled one
/// says the time of the end, mostly in the future.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void complete(LaunchId launch, Time at, Result<StepResult> result) = 0;
};

struct DeviceInfo {
  std::string kind;              ///< "cpu", "scripted", "simulated"
  std::uint32_t slot_count = 0;  ///< launches in flight that the ring can hold
  std::size_t slot_bytes = 0;
  std::uint32_t block_count = 0;          ///< KV blocks of kKvBlockTokens tokens
  std::uint32_t tokens_per_step_max = 1;  ///< tokens that one sample launch may give a row
  std::uint32_t context_max = 0;          ///< tokens of prompt and output together
  std::uint32_t vocabulary = 0x7fffffff;  ///< token ids are below this; scripts take any
};

/// Tokens of a KV block (seed 000: 128).
inline constexpr std::uint32_t kKvBlockTokens = 128;

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  virtual Result<StreamId> open_stream() = 0;
  /// Cancels what runs there and waits for it; afterwards nothing completes any more.
  virtual void close_stream(StreamId stream) = 0;

  /// Requires: an open stream, a slot below slot_count, a launch id never used before. `now` is the
  /// owner's time, for modelled devices.
  virtual void launch(Launch launch, Time now, CompletionSink& sink) = 0;
  /// Asks a launch to end early; it completes with Code::kCancelled or with its result.
  virtual void cancel(LaunchId launch, Time now) = 0;

  /// Host memory of a slot that copies can use directly.
  virtual std::span<std::byte> slot_memory(std::uint32_t slot) = 0;

  /// Launches on `stream` from here to end_capture are recorded, not run. Devices without graphs
  /// answer Code::kUnsupported.
  virtual Status begin_capture(StreamId stream) = 0;
  virtual Result<GraphId> end_capture(StreamId stream) = 0;
};

}  // namespace troupe
