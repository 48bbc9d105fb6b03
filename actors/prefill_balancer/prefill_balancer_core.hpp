// Prefill balancer: decides which rank of which engine computes a prompt, and when.
//
// Protocol: prefill_messages.hpp. What decides is in bucket_policy.hpp (the seed's four layers) or
// push_policy.hpp (others), behind prefill_policy.hpp; loads are in prefill_pool.hpp. This core
// speaks for them: owners, engines, deadlines, rounds.
//
// Invariants
// 1. A SubmitPrefill is refused once, or assigned; a second PrefillAssigned follows only after the
//    engine of the first was lost.
// 2. The end of its owner ends a request's work here in any state; nothing is kept for owners that
//    ended.
// 3. The loss of one rank ends its engine here; its unfinished requests wait again, at their old
//    places, and begin anew.
// 4. At most `waiting_most` requests wait; each has a deadline.
// 5. An engine that announced reports of its cache and sends none is told of once (warning and
//    gauge); until it sends some, its cache is guessed from what it was given (case routing-06).
// 6. A Drain refuses new requests, and ends this actor when it has none left.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "actors/balance/deadline_heap.hpp"
#include "actors/balance/owner_table.hpp"
#include "actors/prefill_balancer/bucket_policy.hpp"
#include "actors/prefill_balancer/prefill_messages.hpp"
#include "actors/prefill_balancer/push_policy.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

class PrefillBalancerCore {
 public:
  using Accepts = PrefillBalancerProtocol;
  struct Args {
    PrefillRule rule = PrefillRule::kBuckets;
    PrefillCurve curve;
    BucketOptions buckets;
    PushOptions push;
    Duration round = seconds(1);
    std::uint32_t waiting_most = 65'536;
    std::uint32_t length_most = 1u << 26;  ///< tokens of a prompt; a bound of what is believed
    Duration silence = seconds(10);        ///< of an engine that announced reports
  };
  static constexpr const char* kKind = "prefill_balancer";

  explicit PrefillBalancerCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const PrefillEngineJoined& joined, Context& context, Effects& out);
  void on(const PrefillEngineLeft& left, Context& context, Effects& out);
  void on(const SubmitPrefill& submit, Context& context, Effects& out);
  void on(const ReleasePrefill& release, Context& context, Effects& out);
  void on(const PrefillAdvanced& advanced, Context& context, Effects& out);
  void on(const PrefillCurveLearned& learned, Context& context, Effects& out);
  void on(const PrefixBlocksChanged& changed, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  void fetch_ahead(const PrefillAdvanced& advanced) const {
    for (const PrefillRow& row : advanced.rows) {
      pool_->fetch(row.request);
      owners_.fetch(row.request);
    }
  }

  const char* phase() const { return draining_ ? "draining" : "serving"; }
  std::string describe() const;
  const PrefillPool& pool() const { return *pool_; }
  const OwnerTable<Time>& owners() const { return owners_; }
  const PrefillPolicy& policy() const { return *policy_; }

 private:
  struct Engine {
    EngineId id;
    std::vector<ActorRef> ranks;
    bool announces = false;
    bool reported = false;
  };

  void refuse(const ActorRef& owner, RequestId request, Error error, Effects& out);
  void end_engine(const ActorRef& ref, const char* why, Context& context, Effects& out);
  void end_job(RequestId request, Context& context, Effects& out);
  void forget(RequestId request, Effects& out);
  void wait(RequestId request, Time until);
  /// Whether a deadline's request still waits.
  bool holds(const DeadlineHeap::Entry& deadline) const;
  void assign(const Handouts& handouts, Effects& out);
  void run_deadlines(Context& context, Effects& out);
  void watch_deadlines(Effects& out);
  void set_silent(const ActorRef& engine, bool silent, Effects& out);

  Args args_;
  std::unique_ptr<PrefillPool> pool_;  ///< at one address, which the policy keeps
  std::unique_ptr<PrefillPolicy> policy_;
  PushPolicy* push_ = nullptr;  ///< the policy, if it pushes
  OwnerTable<Time> owners_;     ///< of each request: when it is given up if it still waits
  std::map<ActorRef, Engine> engines_;
  std::map<ActorRef, ActorRef> ranks_;  ///< rank → engine
  /// By EngineId: the engine's item in engines_; nullptr: it ended.
  std::vector<const std::pair<const ActorRef, Engine>*> engine_of_;
  std::set<ActorRef> silent_;    ///< engines that announced reports and sent none
  DeadlineHeap deadlines_;       ///< of those that wait
  std::optional<Time> armed_;    ///< the deadline timer
  bool round_is_early_ = false;  ///< the round timer is set for a first look at demand
  bool draining_ = false;
};

}  // namespace troupe
