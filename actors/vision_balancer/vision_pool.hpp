// Which GPU of which encoder machine turns an image into embeddings.
//
// The seed's rule: a prefill machine picks an encoder machine at random, and on it the GPU with the
// fewest image patches in flight; an image has (width / patch) x (height / patch) of them. Why two
// steps: between machines nobody needs to know all loads, within one they are exact.
//
// A machine all of whose GPUs are full (`patches_most` in flight) is passed over for another one.
// On equal loads the choice goes by chance too.
//
// Invariant: a GPU's patches are the sum of its images in flight, counted at the decision. Cost:
// one random number and a look at the GPUs of one machine (8), about 30 ns. Pure but for `rng`,
// which the caller seeds; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

struct ImageSize {
  std::uint32_t width = 0;  ///< pixels
  std::uint32_t height = 0;
};

/// A patch that is cut off at the edge is one: the encoder fills it up. kInvalid: a side is 0, or
/// over 65,536.
Result<std::uint64_t> patches_of(const ImageSize& image, std::uint32_t patch);

/// A GPU of a VisionPool.
struct EncoderId {
  std::uint32_t machine = 0;
  std::uint32_t gpu = 0;
  friend bool operator==(const EncoderId&, const EncoderId&) = default;
};

class VisionPool {
 public:
  explicit VisionPool(std::uint64_t patches_most = 1u << 20) : patches_most_(patches_most) {}

  /// The number of a machine; used again after remove(). Requires: gpus > 0.
  std::uint32_t add_machine(std::uint32_t gpus);
  /// Whatever was in flight there is forgotten.
  void remove_machine(std::uint32_t machine);

  /// Counts the image at once. Nothing: no machine is there, or all are full.
  std::optional<EncoderId> place(std::uint64_t patches, Rng& rng);
  /// Requires: these patches are in flight there.
  void finish(const EncoderId& encoder, std::uint64_t patches);

  std::size_t machines() const { return there_.size(); }
  /// Of all GPUs, in flight.
  std::uint64_t patches() const;
  std::uint64_t patches(const EncoderId& encoder) const {
    return machines_[encoder.machine].patches[encoder.gpu];
  }

 private:
  struct Machine {
    std::vector<std::uint64_t> patches;  ///< in flight, by GPU; empty: not there
  };
  std::optional<EncoderId> least_of(std::uint32_t machine, std::uint64_t patches, Rng& rng) const;

  std::uint64_t patches_most_;
  std::vector<Machine> machines_;
  std::vector<std::uint32_t> there_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace troupe
