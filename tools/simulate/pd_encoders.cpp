// The encoder pool of a cluster: its GPUs, its balancer, its machines, and what they did.
#include <algorithm>

#include "runtime/base/engine_limits.hpp"
#include "runtime/simulation/group_models.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {

Error no_encoders() {
  return Error{Code::kInvalid,
               "--image-share (a plan's workload.image_share): there is nobody to encode images; "
               "give a plan with prefill: and decode: (--config) encoders: {machines: 1}, or leave "
               "them out; engines that do both take none"};
}

std::uint32_t PdCluster::images_most() const {
  const std::uint64_t all = std::uint64_t{plan_.requests_max} * kImagesMost;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(all, 1u << 31));
}

void PdCluster::make_encoders() {
  const double image = plan_.constant("encoder_image_ms") * 1e-3;
  const double patch = plan_.constant("encoder_patch_us") * 1e-6;
  for (std::uint32_t i = 0; i < plan_.encoders.machines; ++i) {
    begin_group();
    for (std::uint32_t gpu = 0; gpu < plan_.encoders.gpus; ++gpu) {
      add_device(std::make_unique<EncoderGpu>(cost_, image, patch));
    }
  }
}

void PdCluster::start_vision_balancer() {
  if (plan_.encoders.machines == 0) return;
  VisionBalancerCore::Args balancer;
  balancer.patch = plan_.encoders.patch;
  balancer.waiting_most = balancer.images_most = images_most();  // the route speaks for all
  wiring_->vision_balancer = actors_.vision_balancer =
      world_->spawn_root<VisionBalancerCore>(kFront, kVisionBalancerRoot, balancer);
}

void PdCluster::start_encoders() {
  const std::uint32_t others = plan_.prefill.engines + plan_.decode.instances;
  GroupHostCore::Args host = host_args();
  for (std::uint32_t i = 0; i < plan_.encoders.machines; ++i) {
    EncoderMachineCore::Args args;
    args.streams = streams_[others + i];
    args.balancer = wiring_->vision_balancer;
    host.group = args;
    actors_.encoders.push_back(
        world_->spawn_root<GroupHostCore>(NodeId(others + i + 1), kGroupRoot, host));
  }
}

std::uint64_t PdCluster::images_encoded() const {
  return static_cast<std::uint64_t>(notes_.counted("troupe_images_encoded_total"));
}

}  // namespace troupe
