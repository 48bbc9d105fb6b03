// Entrypoint: how much of a prompt is in the store, before anybody computes it.
//
// It matches hash chains against what the store holds (metadata only) and looks for the window in
// its directory; hit_policy.hpp makes a length of both. A request without a chain says itself how
// much of it is cached (a load that is given as a share).
//
// Protocol: pd_messages.hpp. CheckPrefix is answered after `check_time`, which is on the way to the
// first token: matching can not be hidden.
//
// The window: a session's last window lives `window_life` (seed 000: 180 s), then or by chance of
// `window_miss` (seed 000: hits above 98 %) it is gone. Requests without a session have the chance
// only.
//
// Invariants: at most `store_blocks` hashes, the least recently used go first; blocks become
// visible when they were computed. Units: blocks of `chain_tokens` tokens.
#pragma once

#include <string>

#include "actors/pd/pd_messages.hpp"
#include "actors/prefill_balancer/prefix_cache.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/flat_map.hpp"

namespace troupe {

class EntrypointCore {
 public:
  using Accepts = Protocol<Started, CheckPrefix, PrefixComputed, Undeliverable>;
  struct Args {
    std::uint32_t store_blocks = 1u << 20;
    std::uint32_t chain_tokens = 128;  ///< of a hash of a chain
    Duration window_life = seconds(180);
    double window_miss = 0.02;
    std::uint32_t sessions_most = 1u << 20;
  };
  static constexpr const char* kKind = "entrypoint";

  explicit EntrypointCore(const Args& args) : args_(args), store_(args.store_blocks) {}

  void on(const Started&, Context&, Effects&) {}
  void on(const CheckPrefix& check, Context& context, Effects& out);
  void on(const PrefixComputed& computed, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // its flow has ended

  std::string describe() const { return "blocks=" + std::to_string(store_.size()); }
  std::uint64_t tokens_asked() const { return asked_; }
  std::uint64_t tokens_hit() const { return hit_; }

 private:
  bool has_window(const SimulatedWork& work, Context& context);

  Args args_;
  PrefixCache store_;
  FlatMap<Time> windows_;  ///< by session: when its window is gone
  std::uint64_t asked_ = 0;
  std::uint64_t hit_ = 0;
};

}  // namespace troupe
