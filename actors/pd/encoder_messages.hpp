// The protocol between a route and a machine of image encoders.
//
//   route → encoder machine  EncodePatches, StopEncode
//   machine → route          PatchesEncoded, EncodePending
//
// The vision balancer chose machine and GPU (vision_messages.hpp), and hears of the end from the
// route. An image is known by the route and the route's own number of it.
//
// Invariants: (1) an EncodePatches leads to one PatchesEncoded, unless it is stopped or the machine
// ends; (2) messages between nodes may be lost: one that comes again while its image is there is
// answered by EncodePending and counts once, else it is computed (again); (3) the machine watches
// the route: its end ends its images.
#pragma once

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"

namespace troupe {

struct EncodePatches {
  static constexpr MessageInfo info{0x0840, "encode_patches"};
  std::uint32_t image = 0;
  std::uint32_t gpu = 0;  ///< of the machine's
  std::uint64_t patches = 0;
  static void fields(auto& self, auto&& visit) {
    visit("image", self.image);
    visit("gpu", self.gpu);
    visit("patches", self.patches);
  }
};

struct StopEncode {
  static constexpr MessageInfo info{0x0841, "stop_encode"};
  std::uint32_t image = 0;
  static void fields(auto& self, auto&& visit) { visit("image", self.image); }
};

struct PatchesEncoded {
  static constexpr MessageInfo info{0x0842, "patches_encoded"};
  std::uint32_t image = 0;
  static void fields(auto& self, auto&& visit) { visit("image", self.image); }
};

struct EncodePending {
  static constexpr MessageInfo info{0x0843, "encode_pending"};
  std::uint32_t image = 0;
  static void fields(auto& self, auto&& visit) { visit("image", self.image); }
};

}  // namespace troupe
