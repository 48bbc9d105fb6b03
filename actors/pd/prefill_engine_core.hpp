// Prefill engine: one DP group of ranks that compute prompts together, step by step.
//
// Each rank has a FIFO (prefill_balancer/chunk_queue.hpp): a step takes the largest chunks that fit
// into its time. The group steps as one (group_step.hpp), so that a step lasts as long as its
// slowest rank; idle ranks step along. A prompt joins its rank's FIFO when its hit is on the
// machine: the fetch overlaps what stands before it.
//
// Protocol: pd_messages.hpp; to the balancer prefill_messages.hpp: it joins at its start, tells
// each step's progress, and what its fit of the step's curve has learned (runtime/cost). When the
// last chunk of a prompt is in a step, it asks the decode balancer for a place in the route's name.
//
// Invariants
// 1. At most one step is in flight; the next one starts as soon as it ends.
// 2. What is computed for a request that has ended meanwhile is dropped.
// 3. The end of a route takes its requests out of the FIFOs.
// 4. Messages may be lost: it joins again every kJoinAgain until it gets work, and a request that
//    starts here a second time replaces what was left of the first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/balance/rows_by_owner.hpp"
#include "actors/decode_balancer/decode_messages.hpp"
#include "actors/pd/group_use.hpp"
#include "actors/pd/pd_messages.hpp"
#include "actors/prefill_balancer/chunk_queue.hpp"
#include "actors/prefill_balancer/prefill_messages.hpp"
#include "actors/prefill_balancer/prefix_cache.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/flat_map.hpp"
#include "runtime/cost/cost_fit.hpp"

namespace troupe {

class PrefillEngineCore {
 public:
  using Accepts = Protocol<Started, StartPrefill, StopPrefill, AskGroup, Done<StepResult>,
                           TimerFired, Down, Undeliverable>;
  struct Args {
    StreamRef stream;
    std::uint32_t members = 4;
    PrefillCurve curve;  ///< where the fit begins
    Duration budget = milliseconds(220);
    ChunkLimits limits;
    bool fit = true;
    /// Of its own prefix cache, whose blocks are visible when they were computed; 0: prefixes are
    /// in the store, and a request brings what it hit there.
    std::uint32_t cache_blocks = 0;
    ActorRef balancer;
    ActorRef decode_balancer;
  };
  static constexpr const char* kKind = "prefill_engine";
  /// A step that takes longer is hung.
  static constexpr Duration kStepMost = seconds(60);
  static constexpr Duration kJoinAgain = seconds(5);

  explicit PrefillEngineCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const StartPrefill& start, Context& context, Effects& out);
  void on(const StopPrefill& stop, Context& context, Effects& out);
  void on(const AskGroup& ask, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Done<StepResult>& done, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // routes are watched

  void fetch_ahead(const StartPrefill& start) const { jobs_.fetch(start.request.value); }
  void fetch_ahead(const Done<StepResult>&) const {
    if (plan_ == nullptr) return;  // it is of an earlier life
    for (const GroupChunk& chunk : plan_->chunks) jobs_.fetch(chunk.request.value);
  }

  const char* phase() const { return plan_ == nullptr ? "idle" : "computing"; }
  std::string describe() const;
  const GroupUse& use() const { return use_; }
  template <class Visit>
  void for_each_request(Visit&& visit) const {
    jobs_.for_each([&](std::uint64_t request, const Job&) { visit(RequestId(request)); });
  }
  std::size_t jobs() const { return jobs_.size(); }
  /// Of all FIFOs; a request whose last chunk is in a step is in none.
  std::size_t queued() const;

 private:
  struct Job {
    ActorRef route;
    StartPrefill start;
    Time until;  ///< the request's deadline
  };
  void join(Context& context, Effects& out);
  std::uint32_t hit_of(const StartPrefill& start) const;
  void drop(RequestId request);
  using Wanted = RowsByOwner<ReserveDecode>;
  static void want_place(const Job& job, Time now, Wanted& wanted);
  void launch(Context& context, Effects& out);
  void learn(const GroupResult& result, Effects& out);
  void tell_progress(const GroupResult& result, Context& context, Effects& out);

  Args args_;
  std::vector<ChunkQueue> queues_;
  FlatMap<Job> jobs_;                      ///< by request
  std::vector<ActorRef> routes_;           ///< that are watched
  bool known_ = false;                     ///< somebody sent it work: its joining was heard
  std::shared_ptr<const GroupPlan> plan_;  ///< of the step in flight
  CostFit fit_;
  PrefixCache cache_;
  std::uint64_t steps_ = 0;
  GroupUse use_;
};

}  // namespace troupe
