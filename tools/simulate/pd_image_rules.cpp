// Rules about images: what of PdInvariants is about the vision balancer and its machines.
#include "actors/pd/route_core.hpp"
#include "actors/vision_balancer/vision_balancer_core.hpp"
#include "runtime/base/engine_limits.hpp"
#include "tools/simulate/pd_invariants.hpp"

namespace troupe {

void PdInvariants::check_images() {
  const auto* balancer = actors_.find<VisionBalancerCore>(actors_.vision_balancer);
  if (balancer == nullptr) return;
  at_most("images that wait for an encoder", balancer->waiting(),
          std::uint64_t{plan_.requests_max} * kImagesMost);
  at_most("images that wait for an encoder", balancer->waiting(), balancer->images());
}

void PdInvariants::check_encoders() {
  const auto* balancer = actors_.find<VisionBalancerCore>(actors_.vision_balancer);
  if (balancer == nullptr) return;
  std::uint64_t patches = 0;
  std::uint64_t waiting = 0;
  balancer->for_each_image([&](const ActorRef&, std::uint32_t, std::uint64_t one, bool in_flight) {
    (in_flight ? patches : waiting) += in_flight ? one : 1;
  });
  equal("patches in flight of all encoder GPUs", balancer->pool().patches(), patches);
  equal("images without an encoder", waiting, balancer->waiting());
  for (const ActorRef& host : actors_.encoders) {
    const auto* machine = actors_.group<EncoderMachineCore>(host);
    if (machine == nullptr) continue;
    at_most("encoder GPUs that work", machine->busy(), plan_.encoders.gpus);
  }
}

void PdInvariants::check_image_orphans(const RouteCore& route) {
  const auto look = [&](const char* where) {
    return [this, &route, where](const ActorRef&, std::uint32_t image, auto&&...) {
      if (!route.images().has(image)) note_orphan("image", where, image);
    };
  };
  if (const auto* balancer = actors_.find<VisionBalancerCore>(actors_.vision_balancer)) {
    balancer->for_each_image(look("the vision balancer"));
  }
  std::size_t index = actors_.engines.size() + actors_.instances.size();
  for (const ActorRef& host : actors_.encoders) {
    const auto* machine = actors_.group<EncoderMachineCore>(host);
    if (machine != nullptr && !faults_.silent(index)) {
      machine->for_each_image(look("an encoder machine"));
    }
    ++index;
  }
}

void PdInvariants::check_no_images_left() {
  if (const auto* route = actors_.find<RouteCore>(actors_.route)) {
    equal("images of flows", route->images().size(), 0);
  }
  if (const auto* balancer = actors_.find<VisionBalancerCore>(actors_.vision_balancer)) {
    equal("images at the vision balancer", balancer->images(), 0);
    equal("patches in flight at the vision balancer", balancer->pool().patches(), 0);
  }
  for (const ActorRef& host : actors_.encoders) {
    const auto* machine = actors_.group<EncoderMachineCore>(host);
    if (machine != nullptr) equal("images at an encoder machine", machine->images(), 0);
  }
}

}  // namespace troupe
