#include "actors/vision_balancer/vision_balancer_core.hpp"

#include <algorithm>

namespace troupe {

namespace {
constexpr TimerTag kWaitTimer{0, 0};
}  // namespace

void VisionBalancerCore::on(const EncoderMachineJoined& joined, Context& context, Effects& out) {
  if (machines_.contains(joined.machine)) return;
  bool usable = !joined.encoders.empty();
  for (const ActorRef& one : joined.encoders) usable = usable && !machine_of_.contains(one);
  if (!usable) {
    return out.warn("encoder_machine_refused",
                    to_string(joined.machine) + ": no encoders, or one of another machine");
  }
  const std::uint32_t number =
      pool_.add_machine(static_cast<std::uint32_t>(joined.encoders.size()));
  machines_[joined.machine] = {number, joined.encoders};
  if (machine_at_.size() <= number) machine_at_.resize(number + 1);
  machine_at_[number] = joined.machine;
  for (const ActorRef& one : joined.encoders) {
    if (machine_of_.emplace(one, joined.machine).second) out.watch(one);
  }
  settle(context, out);
}

void VisionBalancerCore::on(const EncoderMachineLeft& left, Context& context, Effects& out) {
  end_machine(left.machine, "left", context, out);
}

void VisionBalancerCore::end_machine(const ActorRef& ref, const char* why, Context& context,
                                     Effects& out) {
  const auto at = machines_.find(ref);
  if (at == machines_.end()) return;
  for (auto& [key, image] : images_) {
    if (!image.encoder || image.encoder->machine != at->second.number) continue;
    image.encoder.reset();
    wait(key, image);
  }
  pool_.remove_machine(at->second.number);
  for (const ActorRef& one : at->second.encoders) {
    if (machine_of_.erase(one) > 0) out.unwatch(one);
  }
  machines_.erase(at);
  out.warn("encoder_machine_ended", to_string(ref) + ": " + why);
  settle(context, out);
}

void VisionBalancerCore::on(const EncodeImage& encode, Context& context, Effects& out) {
  if (!encode.owner) return out.warn("encode_image_refused", "an image without an owner");
  if (draining_) return refuse(encode, {Code::kUnavailable, "the vision balancer drains"}, out);
  const ImageKey key{encode.owner, encode.image};
  if (images_.contains(key))
    return refuse(encode, {Code::kInvalid, "the image is here already"}, out);
  const auto patches = patches_of({encode.width, encode.height}, args_.patch);
  if (!patches.ok()) return refuse(encode, patches.error(), out);
  const auto owner = owners_.find(encode.owner);
  if (waiting_.size() >= args_.waiting_most ||
      (owner != owners_.end() && owner->second >= args_.images_most)) {
    return refuse(encode, {Code::kUnavailable, "too many images wait for an encoder; try again"},
                  out);
  }
  if (++owners_[encode.owner] == 1) out.watch(encode.owner);
  Image image;
  image.patches = *patches;
  image.order = ++next_order_;
  image.until = context.now + encode.time_left;
  wait(key, images_.emplace(key, image).first->second);
  settle(context, out);
}

void VisionBalancerCore::refuse(const EncodeImage& encode, Error error, Effects& out) {
  out.send(encode.owner,
           make_message<EncodeRefused>(encode.image, error.code, std::move(error.message)));
}

void VisionBalancerCore::wait(const ImageKey& key, Image& image) {
  waiting_.emplace(image.order, key);
  deadlines_.emplace(image.until, image.order);
}

void VisionBalancerCore::place_waiting(Context& context, Effects& out) {
  while (!waiting_.empty()) {
    const auto head = waiting_.begin();
    Image& image = images_.at(head->second);
    image.encoder = pool_.place(image.patches, context.rng);
    if (!image.encoder) return;
    const Machine& machine = machines_.at(machine_at_[image.encoder->machine]);
    out.send(head->second.first,
             make_message<EncoderChosen>(head->second.second, machine.encoders[image.encoder->gpu],
                                         image.patches, image.encoder->gpu));
    deadlines_.erase({image.until, image.order});
    waiting_.erase(head);
  }
}

VisionBalancerCore::Images::iterator VisionBalancerCore::end_image(Images::iterator at) {
  const Image& image = at->second;
  if (image.encoder) {
    pool_.finish(*image.encoder, image.patches);
  } else {
    waiting_.erase(image.order);
    deadlines_.erase({image.until, image.order});
  }
  return images_.erase(at);
}

void VisionBalancerCore::on(const ImageEncoded& encoded, Context& context, Effects& out) {
  const auto at = images_.find({encoded.owner, encoded.image});
  if (at == images_.end()) return;
  end_image(at);
  const auto owner = owners_.find(encoded.owner);
  if (--owner->second == 0) {
    owners_.erase(owner);
    out.unwatch(encoded.owner);
  }
  settle(context, out);
}

void VisionBalancerCore::on(const Down& down, Context& context, Effects& out) {
  const auto encoder = machine_of_.find(down.ref);
  if (encoder != machine_of_.end()) {
    const ActorRef machine = encoder->second;
    return end_machine(machine, "an encoder of it is down", context, out);
  }
  if (owners_.erase(down.ref) == 0) return;
  auto at = images_.lower_bound({down.ref, 0});
  while (at != images_.end() && at->first.first == down.ref) at = end_image(at);
  settle(context, out);
}

void VisionBalancerCore::on(const TimerFired&, Context& context, Effects& out) {
  armed_.reset();
  while (!deadlines_.empty() && deadlines_.begin()->first <= context.now) {
    const ImageKey key = waiting_.at(deadlines_.begin()->second);
    out.send(key.first,
             make_message<EncodeRefused>(key.second, Code::kDeadline,
                                         "no encoder had room for the image in its time"));
    on(ImageEncoded{key.first, key.second}, context, out);
  }
  settle(context, out);
}

void VisionBalancerCore::settle(Context& context, Effects& out) {
  place_waiting(context, out);
  if (!deadlines_.empty() && (!armed_ || *armed_ > deadlines_.begin()->first)) {
    armed_ = deadlines_.begin()->first;
    out.timer(kWaitTimer, *armed_);
  }
  if (draining_ && images_.empty()) out.stop("drained");
}

void VisionBalancerCore::on(const Undeliverable&, Context&, Effects&) {
  // Owners are watched: their Down, not a lost answer, ends their images.
}

void VisionBalancerCore::on(const Drain&, Context& context, Effects& out) {
  draining_ = true;
  settle(context, out);
}

std::string VisionBalancerCore::describe() const {
  return "machines=" + std::to_string(machines_.size()) +
         " images=" + std::to_string(images_.size()) +
         " waiting=" + std::to_string(waiting_.size());
}

}  // namespace troupe
