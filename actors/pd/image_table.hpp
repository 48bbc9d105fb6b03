// The images of a route's flows that are not encoded yet: where each is, and who must be told.
//
// Why beside the flows: few requests have images, and the others shall not carry anything for them.
//
// The table is the owner of leases at the vision balancer, in the route's name: an image is asked
// for (EncodeImage), gets a machine (EncoderChosen) to which it goes (EncodePatches), and is given
// back (ImageEncoded) when it is there or not wanted any more. A machine that was lost is replaced
// by the balancer's next EncoderChosen.
//
// Invariants
// 1. Each image that is here has a lease at the balancer, or its question is on the way there.
// 2. A flow is here as long as one of its images is.
// Cost: a few look-ups an image. One owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "actors/pd/encoder_messages.hpp"
#include "actors/vision_balancer/vision_messages.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/id_map.hpp"
#include "runtime/device/group_step.hpp"

namespace troupe {

class ImageTable {
 public:
  /// Asks for encoders of those images whose tokens end behind `from`, if there are any.
  /// Requires: nothing of the request is here.
  void begin(RequestId request, std::span<const SimulatedImage> images, std::uint32_t from,
             Duration time_left, const ActorRef& balancer, Context& context, Effects& out);
  /// An encoder was chosen, perhaps in the place of a lost one; the request whose image it is.
  std::optional<RequestId> chosen(const EncoderChosen& chosen, Effects& out);
  /// All images of this request are there now. Nothing: some is not, or it is late word of a
  /// machine that was given up.
  std::optional<RequestId> encoded(std::uint32_t image, const ActorRef& balancer, Context& context,
                                   Effects& out);
  /// The balancer has forgotten this image; the request whose it was.
  std::optional<RequestId> refused(std::uint32_t image);
  /// Takes back what the request has. Nothing is here of most.
  void abandon(RequestId request, const ActorRef& balancer, Context& context, Effects& out);

  /// Sends again what machines may not have got. False: nothing of it is at a machine.
  bool ask_again(RequestId request, Effects& out);
  /// Nothing: the image is not here.
  std::optional<RequestId> request_of(std::uint32_t image) const;

  bool waits(RequestId request) const { return !flows_.empty() && flows_.contains(request); }
  bool has(std::uint32_t image) const { return images_.contains(image); }
  std::size_t size() const { return images_.size(); }

 private:
  struct Image {
    RequestId request;
    ActorRef machine;  ///< nobody: it waits for an encoder
    std::uint32_t gpu = 0;
    std::uint64_t patches = 0;
  };
  struct Flow {
    std::uint32_t first = 0;  ///< its images have numbers in sequence
    std::uint32_t end = 0;
    std::uint32_t left = 0;  ///< that are here
    Time begun;
  };
  void release(std::uint32_t number, const ActorRef& balancer, Context& context, Effects& out);

  IdMap<std::uint32_t, Image> images_;
  IdMap<RequestId, Flow> flows_;
  std::uint32_t next_ = 0;
};

}  // namespace troupe
