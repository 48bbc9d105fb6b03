// The protocol of a vision balancer.
//
//   node → balancer          EncoderMachineJoined, EncoderMachineLeft
//   prefill rank → balancer  EncodeImage;  balancer → owner  EncoderChosen or EncodeRefused
//   encoder, or owner → balancer  ImageEncoded
//
// In a simulated cluster the route asks in the prefill machine's name (actors/pd/route_core.hpp).
//
// Invariants: (1) each EncodeImage gets an EncodeRefused, or an EncoderChosen, unless its owner
// gives it back or ends before; (2) an EncoderChosen for the same image comes again if its machine
// was lost: the older one is void; (3) the balancer watches the owner: its end frees what its
// images hold, in any state.
#pragma once

#include <string>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct EncoderMachineJoined {
  static constexpr MessageInfo info{0x0820, "encoder_machine_joined"};
  ActorRef machine;
  /// One a GPU. An actor that speaks for several (encoder_machine_core.hpp) stands here for each.
  std::vector<ActorRef> encoders;
  static void fields(auto& self, auto&& visit) {
    visit("machine", self.machine);
    visit("encoders", self.encoders);
  }
};

struct EncoderMachineLeft {
  static constexpr MessageInfo info{0x0821, "encoder_machine_left"};
  ActorRef machine;
  static void fields(auto& self, auto&& visit) { visit("machine", self.machine); }
};

struct EncodeImage {
  static constexpr MessageInfo info{0x0822, "encode_image"};
  ActorRef owner;           ///< holds the lease; gets the answers
  std::uint32_t image = 0;  ///< the owner's own numbering
  std::uint32_t width = 0;  ///< pixels
  std::uint32_t height = 0;
  Duration time_left;  ///< how long it may wait for an encoder
  RequestId request;   ///< whose image it is: for those who look on
  static void fields(auto& self, auto&& visit) {
    visit("owner", self.owner);
    visit("image", self.image);
    visit("width", self.width);
    visit("height", self.height);
    visit("time_left", self.time_left);
    visit("request", self.request);
  }
};

struct EncoderChosen {
  static constexpr MessageInfo info{0x0823, "encoder_chosen"};
  std::uint32_t image = 0;
  ActorRef encoder;
  std::uint64_t patches = 0;
  std::uint32_t gpu = 0;  ///< the encoder's place among those that its machine joined with
  static void fields(auto& self, auto&& visit) {
    visit("image", self.image);
    visit("encoder", self.encoder);
    visit("patches", self.patches);
    visit("gpu", self.gpu);
  }
};

struct EncodeRefused {
  static constexpr MessageInfo info{0x0824, "encode_refused"};
  std::uint32_t image = 0;
  Code code = Code::kUnavailable;
  std::string message;
  static void fields(auto& self, auto&& visit) {
    visit("image", self.image);
    visit("code", self.code);
    visit("message", self.message);
  }
};

/// The embeddings are there, or the owner does not want them any more.
struct ImageEncoded {
  static constexpr MessageInfo info{0x0825, "image_encoded"};
  ActorRef owner;
  std::uint32_t image = 0;
  static void fields(auto& self, auto&& visit) {
    visit("owner", self.owner);
    visit("image", self.image);
  }
};

using VisionBalancerProtocol =
    Protocol<Started, EncoderMachineJoined, EncoderMachineLeft, EncodeImage, ImageEncoded,
             TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
