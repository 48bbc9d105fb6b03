// Encoder machine: GPUs of which each runs a vision encoder, and turns images into embeddings.
//
// A GPU encodes one image after the other, in the order in which they came; it waits for no other
// GPU. Which GPU an image goes to was decided by the vision balancer.
//
// Protocol: encoder_messages.hpp; to the balancer vision_messages.hpp: the machine joins at its
// start, with an entry for each GPU, and again every kJoinAgain until it gets work.
//
// Invariants
// 1. At most one image is being encoded on a GPU; the next one starts as soon as it ends.
// 2. What is computed for an image that was stopped meanwhile is dropped.
// 3. The end of a route ends its images.
// 4. What waits was given out by the balancer, within its bounds, or was stopped since: that goes
// when
//    its turn comes.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/pd/encoder_messages.hpp"
#include "actors/pd/group_use.hpp"
#include "actors/vision_balancer/vision_messages.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

class EncoderMachineCore {
 public:
  using Accepts = Protocol<Started, EncodePatches, StopEncode, Done<StepResult>, TimerFired, Down,
                           Undeliverable>;
  struct Args {
    std::vector<StreamRef> streams;  ///< one a GPU
    ActorRef balancer;
  };
  static constexpr const char* kKind = "encoder_machine";
  /// An image that takes longer is hung.
  static constexpr Duration kStepMost = seconds(60);
  static constexpr Duration kJoinAgain = seconds(5);

  explicit EncoderMachineCore(const Args& args) : args_(args), gpus_(args.streams.size()) {
    use_.members = static_cast<std::uint32_t>(gpus_.size());
  }

  void on(const Started&, Context& context, Effects& out);
  void on(const EncodePatches& encode, Context& context, Effects& out);
  void on(const StopEncode& stop, Context& context, Effects& out);
  void on(const Done<StepResult>& done, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // routes are watched

  const char* phase() const { return images_.empty() ? "idle" : "encoding"; }
  std::string describe() const { return "images=" + std::to_string(images_.size()); }
  /// That somebody wants, waiting ones included.
  std::size_t images() const { return images_.size(); }
  /// visit(route, image).
  template <class Visit>
  void for_each_image(Visit&& visit) const {
    for (const auto& [key, patches] : images_) visit(key.first, key.second);
  }
  /// GPUs that encode now.
  std::size_t busy() const;
  const GroupUse& use() const { return use_; }

 private:
  using Key = std::pair<ActorRef, std::uint32_t>;  ///< route, its number of the image
  struct Gpu {
    std::deque<Key> waiting;  ///< some may have been stopped
    Key running;              ///< of nobody: it idles
  };
  void join(Context& context, Effects& out);
  void launch(std::uint32_t index, Context& context, Effects& out);

  Args args_;
  std::vector<Gpu> gpus_;
  std::map<Key, std::uint64_t> images_;  ///< patches of those that are wanted
  std::vector<ActorRef> routes_;         ///< that are watched
  bool known_ = false;                   ///< somebody sent it work: its joining was heard
  std::uint64_t steps_ = 0;
  GroupUse use_;
};

}  // namespace troupe
