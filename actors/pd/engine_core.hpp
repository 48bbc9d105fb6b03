// Engine: GPUs that prefill and decode together, simulated as sums.
//
// To gateway, requests and stream table it is a rank (rank_messages.hpp). Its scheduler is that of
// the engines in the field: rows that decode come first, then prompts in the order of arrival cut
// to the tokens that a step has left, as many as rows and KV allow. When decoding rows outgrow the
// KV the one that was admitted last gives its place back, and is computed again later.
//
// Beside RankCore, which lists each row in each step: a step here costs what changes, and steps of
// decode alone are one launch (runtime/simulation/engine_model.hpp). What comes while such a run is
// under way and could use it cuts it behind the step that runs. For simulations only: a client gets
// its tokens in two batches, the first one and the rest, and where an answer ends the device knows.
//
// Protocol: rank_messages.hpp, and RankJoined to the node. Parking is not passed on.
//
// Prefix cache: the engine's own, in blocks of `block_tokens`; blocks are visible when they were
// computed. It may hold as many blocks as the KV has: what rows take of them is not taken off.
//
// Invariants
// 1. At most one launch is in flight. 2. Admitted rows: at most rows_most, their KV at most
// kv_tokens when a step begins. 3. A submitted row gets one end, unless it is cancelled or its
// owner ends. 4. A prompt that can never fit is refused at once, and nobody waits behind it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "actors/pd/group_use.hpp"
#include "actors/pd/token_batches.hpp"
#include "actors/prefill_balancer/prefix_cache.hpp"
#include "actors/rank/rank_messages.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/id_map.hpp"
#include "runtime/simulation/engine_plan.hpp"

namespace troupe {

class EngineCore {
 public:
  using Accepts = Protocol<Started, SubmitRow, CancelRow, ParkRow, BatchTaken, Done<StepResult>,
                           Down, Undeliverable>;
  struct Args {
    ActorRef node;  ///< hears of it as of any rank
    std::string model;
    StreamRef stream;
    EngineLimits limits;
  };
  static constexpr const char* kKind = "engine";

  explicit EngineCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const SubmitRow& submit, Context& context, Effects& out);
  void on(const CancelRow& cancel, Context& context, Effects& out);
  void on(const ParkRow&, Context&, Effects&) {}
  void on(const BatchTaken&, Context&, Effects&) {}
  void on(const Done<StepResult>& done, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // requests are watched

  std::string describe() const;
  const GroupUse& use() const { return use_; }
  std::size_t jobs() const { return jobs_.size(); }
  std::uint64_t kv_used() const { return kv_used_; }
  std::uint64_t tokens_asked() const { return asked_; }
  std::uint64_t tokens_hit() const { return hit_; }

 private:
  static constexpr OpId kStep{1};
  struct Job {
    ActorRef owner;
    ActorRef streams;
    SealedWork sealed;
    RequestId request;
    std::uint32_t length = 0;  ///< of its prompt
    std::uint32_t output_most = 0;
    std::uint32_t generated = 0;  ///< tokens of its answer
    std::uint32_t shown = 0;      ///< of those its client has
    std::uint32_t computed = 0;   ///< tokens of its KV, the hit included; decoding: all
    bool decoding = false;
    Time since;  ///< it waits
    Duration queued;

    /// What must be computed before it decodes: after a preemption its answer so far, too.
    std::uint32_t target() const { return length + generated; }
  };

  Status admissible(const SubmitRow& submit) const;
  bool fits(const Job& job) const;
  void admit(Job& job, Time now);
  void add_chunk(Job& job, std::uint32_t& budget);
  void make_room(Context& context, Effects& out);
  void launch(Context& context, Effects& out);
  std::uint32_t steps_most() const;
  void drop_ended();
  void cut_run(Effects& out);
  void take_chunks(const GroupResult& result, Effects& out);
  void take_rows(const GroupResult& result, Effects& out);
  void show(Job& job, Finish finish, Effects& out);
  void forget(Job& job, Effects& out);
  /// Frees what it holds: it is neither admitted nor known to the device any more.
  void release(Job& job);

  Args args_;
  ActorRef self_;
  IdMap<RequestId, Job> jobs_;
  IdMap<ActorRef, RequestId> by_owner_;  ///< by request actor
  std::deque<RequestId> waiting_;        ///< some of jobs that ended
  std::vector<Job*> admitted_;           ///< in the order of admission
  std::uint32_t decoding_ = 0;           ///< of those
  std::uint64_t kv_used_ = 0;
  PrefixCache cache_;
  TokenBatches batches_;
  std::shared_ptr<GroupPlan> next_;        ///< what changes with the next launch
  std::shared_ptr<const GroupPlan> plan_;  ///< in flight
  bool cut_ = false;
  std::uint32_t stepping_ = 0;  ///< rows that decode in it
  std::uint64_t steps_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t hit_ = 0;
  GroupUse use_;
};

}  // namespace troupe
