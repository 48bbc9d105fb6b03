#include "actors/vision_balancer/vision_pool.hpp"

#include <string>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {
/// Pixels a side: far above what encoders take, and products stay small.
constexpr std::uint32_t kSideMost = 1u << 16;
/// Machines that are tried after a full one before the rest are asked in turn.
constexpr std::uint32_t kTries = 3;
}  // namespace

Result<std::uint64_t> patches_of(const ImageSize& image, std::uint32_t patch) {
  TROUPE_ASSERT(patch > 0, "a patch has pixels");
  for (const std::uint32_t side : {image.width, image.height}) {
    if (side > 0 && side <= kSideMost) continue;
    return Error{Code::kInvalid, "an image of " + std::to_string(image.width) + " x " +
                                     std::to_string(image.height) + " pixels: each side is 1 to " +
                                     std::to_string(kSideMost)};
  }
  const auto count = [&](std::uint32_t side) { return std::uint64_t{(side + patch - 1) / patch}; };
  return count(image.width) * count(image.height);
}

std::uint32_t VisionPool::add_machine(std::uint32_t gpus) {
  TROUPE_ASSERT(gpus > 0, "a machine of the pool has encoders");
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(machines_.size()));
    machines_.emplace_back();
  }
  const std::uint32_t machine = unused_.back();
  unused_.pop_back();
  machines_[machine].patches.assign(gpus, 0);
  there_.push_back(machine);
  return machine;
}

void VisionPool::remove_machine(std::uint32_t machine) {
  TROUPE_ASSERT(!machines_[machine].patches.empty(), "only a machine that is there leaves");
  machines_[machine].patches.clear();
  std::erase(there_, machine);
  unused_.push_back(machine);
}

std::optional<EncoderId> VisionPool::place(std::uint64_t patches, Rng& rng) {
  std::optional<EncoderId> encoder;
  for (std::uint32_t i = 0; i < kTries && !encoder && !there_.empty(); ++i) {
    encoder = least_of(there_[rng.below(there_.size())], patches, rng);
  }
  for (std::size_t i = 0; i < there_.size() && !encoder; ++i) {
    encoder = least_of(there_[i], patches, rng);
  }
  if (encoder) machines_[encoder->machine].patches[encoder->gpu] += patches;
  return encoder;
}

std::optional<EncoderId> VisionPool::least_of(std::uint32_t machine, std::uint64_t patches,
                                              Rng& rng) const {
  const auto& loads = machines_[machine].patches;
  const auto gpus = static_cast<std::uint32_t>(loads.size());
  const auto start = static_cast<std::uint32_t>(rng.below(gpus));
  std::uint32_t least = start;
  for (std::uint32_t i = 1; i < gpus; ++i) {
    const std::uint32_t gpu = (start + i) % gpus;
    if (loads[gpu] < loads[least]) least = gpu;
  }
  // An idle GPU takes any image, else a very large one would find no place ever.
  if (loads[least] > 0 && loads[least] + patches > patches_most_) return std::nullopt;
  return EncoderId{machine, least};
}

std::uint64_t VisionPool::patches() const {
  std::uint64_t sum = 0;
  for (const Machine& machine : machines_) {
    for (const std::uint64_t one : machine.patches) sum += one;
  }
  return sum;
}

void VisionPool::finish(const EncoderId& encoder, std::uint64_t patches) {
  auto& load = machines_[encoder.machine].patches[encoder.gpu];
  TROUPE_ASSERT(load >= patches, "what ends was in flight");
  load -= patches;
}

}  // namespace troupe
