// Decode instance: one communication domain of GPUs that decode together (EP64/DP64, EP8/DP8).
//
// Continuous batching: what came since the last step's begin enters the next one, what ended
// leaves. The group steps as one; a step lasts as long as its slowest member, and idle members step
// along. How many drafts a member's rows verify is decided here (runtime/cost/draft_budget.hpp);
// what is accepted, and when an answer ends, only the device knows.
//
// Protocol: pd_messages.hpp; to the balancer decode_messages.hpp: it joins at its start, and says
// when a reserved request starts.
//
// The client gets the tokens of the instance in one batch, at the end: rows are kept as sums
// (group_step.hpp), so that only ends are known by row. TTFT comes from the prefill engine's first
// token; TPOT from both; gaps between tokens are not told apart.
//
// Invariants
// 1. At most one step is in flight; the next starts as soon as it ends, while there are rows.
// 2. A member has at most `rows_most` rows. The balancer counts; what comes beyond that, since a
//    stop was lost, is refused.
// 3. The end of a route takes its rows out at the next step.
// 4. Messages may be lost: it joins again every kJoinAgain until it gets work, and a request that
//    starts here a second time replaces the first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/decode_balancer/decode_messages.hpp"
#include "actors/pd/group_use.hpp"
#include "actors/pd/pd_messages.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/flat_map.hpp"
#include "runtime/cost/draft_budget.hpp"

namespace troupe {

class DecodeInstanceCore {
 public:
  using Accepts = Protocol<Started, StartDecode, StopDecode, AskGroup, Done<StepResult>, TimerFired,
                           Down, Undeliverable>;
  struct Args {
    StreamRef stream;
    std::uint32_t members = 64;
    std::uint32_t blocks = 0;  ///< KV blocks of a member
    std::uint32_t rows_most = 96;
    DraftBudget::Options drafts;  ///< its rows_most is set from the one above
    ActorRef balancer;
  };
  static constexpr const char* kKind = "decode_instance";
  static constexpr Duration kStepMost = seconds(60);
  static constexpr Duration kJoinAgain = seconds(5);

  explicit DecodeInstanceCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const StartDecode& start, Context& context, Effects& out);
  void on(const StopDecode& stop, Context& context, Effects& out);
  void on(const AskGroup& ask, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Done<StepResult>& done, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // routes are watched

  void fetch_ahead(const StartDecode& start) const { jobs_.fetch(start.request.value); }
  void fetch_ahead(const Done<StepResult>& done) const;

  const char* phase() const { return running_ ? "decoding" : "idle"; }
  std::string describe() const;
  const GroupUse& use() const { return use_; }
  template <class Visit>
  void for_each_request(Visit&& visit) const {
    jobs_.for_each([&](std::uint64_t request, const Job&) { visit(RequestId(request)); });
  }
  std::size_t rows() const { return jobs_.size(); }
  std::uint32_t rows_of(std::uint32_t member) const { return rows_[member]; }
  std::uint32_t members() const { return args_.members; }
  std::uint32_t rows_most() const { return args_.rows_most; }

 private:
  /// Who hears of rows: one pair a gateway.
  struct Listeners {
    ActorRef route;  ///< is watched
    ActorRef streams;
    std::uint32_t rows = 0;
  };
  /// Small: a group has thousands.
  struct Job {
    std::uint32_t listeners = 0;  ///< an index of listeners_
    std::uint32_t member = 0;
    std::uint32_t generated = 0;
  };
  std::uint32_t listeners(const ActorRef& route, const ActorRef& streams, Effects& out);
  void join(Context& context, Effects& out);
  void drop(RequestId request);
  void leave(RequestId request);
  void launch(Context& context, Effects& out);

  Args args_;
  DraftBudget budget_;
  std::vector<std::uint32_t> rows_;   ///< of each member
  FlatMap<Job> jobs_;                 ///< by request
  std::vector<Listeners> listeners_;  ///< those without rows may become others
  std::shared_ptr<GroupPlan> next_;   ///< what changes with the next step
  DecodeStarted started_;             ///< that the balancer does not know yet
  std::vector<RequestId> replaced_;   ///< since the last launch: the device has older rows of them
  bool known_ = false;                ///< somebody sent it work: its joining was heard
  bool running_ = false;
  std::uint64_t steps_ = 0;
  std::size_t stepping_ = 0;  ///< rows of the step in flight
  GroupUse use_;
};

}  // namespace troupe
