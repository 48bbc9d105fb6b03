// Vision balancer: chooses the encoder GPU of each image. What decides is in vision_pool.hpp.
//
// Protocol: vision_messages.hpp. Images wait here, first come first served, while all encoders are
// full or none is there.
//
// Invariants
// 1. An image waits, or is in flight on one encoder, whose patches contain its own.
// 2. The end of its owner frees its images in any state; nothing is kept for owners that ended.
// 3. The loss of one encoder ends its machine here; its images are placed anew.
// 4. At most `waiting_most` images wait, and an owner has at most `images_most`; each waits at most
//    as long as its owner said.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actors/vision_balancer/vision_messages.hpp"
#include "actors/vision_balancer/vision_pool.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

class VisionBalancerCore {
 public:
  using Accepts = VisionBalancerProtocol;
  struct Args {
    std::uint32_t patch = 14;  ///< pixels a side of a patch: the model's
    std::uint64_t patches_most = 1u << 20;
    std::uint32_t waiting_most = 16'384;
    std::uint32_t images_most = 1'024;
  };
  static constexpr const char* kKind = "vision_balancer";

  explicit VisionBalancerCore(const Args& args) : args_(args), pool_(args.patches_most) {}

  void on(const Started&, Context&, Effects&) {}
  void on(const EncoderMachineJoined& joined, Context& context, Effects& out);
  void on(const EncoderMachineLeft& left, Context& context, Effects& out);
  void on(const EncodeImage& encode, Context& context, Effects& out);
  void on(const ImageEncoded& encoded, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  const char* phase() const { return draining_ ? "draining" : "serving"; }
  std::string describe() const;
  const VisionPool& pool() const { return pool_; }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t images() const { return images_.size(); }
  /// visit(owner, image, patches, in flight).
  template <class Visit>
  void for_each_image(Visit&& visit) const {
    for (const auto& [key, image] : images_) {
      visit(key.first, key.second, image.patches, image.encoder.has_value());
    }
  }

 private:
  using ImageKey = std::pair<ActorRef, std::uint32_t>;
  struct Image {
    std::uint64_t patches = 0;
    std::uint64_t order = 0;
    Time until;
    std::optional<EncoderId> encoder;  ///< nothing: it waits
  };
  struct Machine {
    std::uint32_t number = 0;
    std::vector<ActorRef> encoders;
  };
  using Images = std::map<ImageKey, Image>;

  void end_machine(const ActorRef& ref, const char* why, Context& context, Effects& out);
  void wait(const ImageKey& key, Image& image);
  void place_waiting(Context& context, Effects& out);
  Images::iterator end_image(Images::iterator at);
  void refuse(const EncodeImage& encode, Error error, Effects& out);
  void settle(Context& context, Effects& out);

  Args args_;
  VisionPool pool_;
  Images images_;
  std::map<ActorRef, std::uint32_t> owners_;            ///< owner → its images
  std::map<std::uint64_t, ImageKey> waiting_;           ///< by order
  std::set<std::pair<Time, std::uint64_t>> deadlines_;  ///< (until, order) of those that wait
  std::map<ActorRef, Machine> machines_;
  std::map<ActorRef, ActorRef> machine_of_;  ///< encoder → machine
  std::vector<ActorRef> machine_at_;         ///< by number
  std::optional<Time> armed_;
  std::uint64_t next_order_ = 0;
  bool draining_ = false;
};

}  // namespace troupe
