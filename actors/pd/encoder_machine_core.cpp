#include "actors/pd/encoder_machine_core.hpp"

#include <algorithm>

namespace troupe {

namespace {
constexpr TimerTag kEncoderJoin{1, 0};
}  // namespace

void EncoderMachineCore::on(const Started&, Context& context, Effects& out) {
  join(context, out);
}

void EncoderMachineCore::on(const TimerFired&, Context& context, Effects& out) {
  if (!known_) join(context, out);
}

void EncoderMachineCore::join(Context& context, Effects& out) {
  EncoderMachineJoined joined;
  joined.machine = context.self;
  joined.encoders.assign(gpus_.size(), context.self);
  out.send(args_.balancer, make_message<EncoderMachineJoined>(std::move(joined)));
  out.timer(kEncoderJoin, context.now + kJoinAgain);
}

void EncoderMachineCore::on(const EncodePatches& encode, Context& context, Effects& out) {
  if (encode.gpu >= gpus_.size() || encode.patches == 0) {
    return out.warn("encode_patches_refused", "it names no GPU of this machine, or no patches");
  }
  known_ = true;
  const Key key{context.from, encode.image};
  if (!images_.emplace(key, encode.patches).second) {
    return out.send(context.from, make_message<EncodePending>(encode.image));
  }
  if (std::find(routes_.begin(), routes_.end(), context.from) == routes_.end()) {
    routes_.push_back(context.from);
    out.watch(context.from);
  }
  gpus_[encode.gpu].waiting.push_back(key);
  launch(encode.gpu, context, out);
}

void EncoderMachineCore::on(const StopEncode& stop, Context& context, Effects&) {
  images_.erase({context.from, stop.image});
}

void EncoderMachineCore::on(const Down& down, Context&, Effects&) {
  std::erase(routes_, down.ref);
  std::erase_if(images_, [&](const auto& one) { return one.first.first == down.ref; });
}

void EncoderMachineCore::launch(std::uint32_t index, Context& context, Effects& out) {
  Gpu& gpu = gpus_[index];
  if (gpu.running.first) return;
  while (!gpu.waiting.empty() && !images_.contains(gpu.waiting.front())) gpu.waiting.pop_front();
  if (gpu.waiting.empty()) return;
  gpu.running = gpu.waiting.front();
  gpu.waiting.pop_front();
  auto group = std::make_shared<GroupPlan>();
  GroupChunk image;
  image.tokens = static_cast<std::uint32_t>(images_.at(gpu.running));
  group->chunks.push_back(std::move(image));
  auto step = std::make_shared<StepPlan>();
  step->step = ++steps_;
  step->group = std::move(group);
  out.launch({OpId(index + 1),
              args_.streams[index],
              LaunchKind::kForward,
              0,
              std::move(step),
              {},
              context.now + kStepMost});
}

void EncoderMachineCore::on(const Done<StepResult>& done, Context& context, Effects& out) {
  if (done.failed) return out.fail("an image could not be encoded: " + done.error.message);
  const auto index = static_cast<std::uint32_t>(done.op.value - 1);
  use_.add(*done.output.group.result, done.output.device_time.seconds(), 0);
  const Key key = std::exchange(gpus_[index].running, Key());
  if (images_.erase(key) > 0) {
    out.count("troupe_images_encoded_total");
    out.send(key.first, make_message<PatchesEncoded>(key.second));
  }
  launch(index, context, out);
}

std::size_t EncoderMachineCore::busy() const {
  return static_cast<std::size_t>(std::count_if(
      gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return bool(gpu.running.first); }));
}

}  // namespace troupe
