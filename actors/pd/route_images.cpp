// What images ask of a route: they are encoded beside the fetch of the hit, and a prompt joins its
// rank's FIFO when both are on the machine.
#include "actors/pd/route_core.hpp"
#include "runtime/base/engine_limits.hpp"

namespace troupe {

Status RouteCore::check_images(std::size_t images) const {
  if (!args_.wiring->vision_balancer) {
    return Error{Code::kUnsupported, "this cluster has no encoders: it takes no images"};
  }
  if (images <= kImagesMost) return ok_status();
  return Error{Code::kTooLarge, "a request has at most " + std::to_string(kImagesMost) +
                                    " images, this one " + std::to_string(images)};
}

void RouteCore::encode_images(Flow& flow, Context& context, Effects& out) {
  // Those of an engine that was lost went with it, or were on their way there.
  abandon_images(flow, context, out);
  // What is in the store needs no embeddings. What an engine's own cache has it knows itself.
  const std::uint32_t from = args_.wiring->own_caches ? 0 : flow.hit;
  images_.begin(flow.request, flow.sealed.work.images(), from, flow.deadline - context.now,
                args_.wiring->vision_balancer, context, out);
}

void RouteCore::abandon_images(const Flow& flow, Context& context, Effects& out) {
  images_.abandon(flow.request, args_.wiring->vision_balancer, context, out);
}

void RouteCore::on(const EncoderChosen& chosen, Context& context, Effects& out) {
  if (const auto request = images_.chosen(chosen, out)) heard(*find(*request), context);
}

void RouteCore::on(const PatchesEncoded& encoded, Context& context, Effects& out) {
  const auto request = images_.encoded(encoded.image, args_.wiring->vision_balancer, context, out);
  if (!request) return;
  Flow& flow = *find(*request);
  if (flow.state == State::kEncoding) start_prefill(flow, context, out);
}

void RouteCore::on(const EncodePending& pending, Context& context, Effects&) {
  if (const auto request = images_.request_of(pending.image)) heard(*find(*request), context);
}

void RouteCore::on(const EncodeRefused& refused, Context& context, Effects& out) {
  const auto request = images_.refused(refused.image);
  if (request) fail(*find(*request), refused.code, refused.message, context, out);
}

void RouteCore::heard(Flow& flow, Context& context) {
  flow.asked = 0;
  flow.since = context.now;
}

void RouteCore::look_after_images(Flow& flow, Context& context, Effects& out) {
  if (flow.asked >= kAsksMost) return begin_anew(flow, "its encoders are silent", context, out);
  // Those that wait for an encoder are the balancer's, and end with their time.
  if (images_.ask_again(flow.request, out)) ++flow.asked;
}

}  // namespace troupe
