// Rank: continuous batching on one device stream.
//
// What: takes rows, admits them while row ids and KV blocks last, computes prompts in chunks and
// decodes all running rows in one batch a step, and sends each gateway node one TokenBatch a step.
//
// The step (DESIGN section 4). With `async_steps` two steps are in flight: while the device runs
// step N, the rank absorbs N−1, schedules and launches forward(N+1), post-processes N−1, and
// launches sample(N+1). A row that ended at step N is in N+1 already: that result is dropped.
// Without it, one step is in flight and the device waits for the CPU in between.
//
// Protocol: rank_messages.hpp.
//
// Invariants
// 1. A row holds its blocks until no step in flight uses them (the steps pin them), and no longer.
// 2. held blocks == sum over rows; waiting rows hold none.
// 3. The owner's end, for any reason and in any state, ends the row.
// 4. At most `queue_max` rows wait; more are rejected with kUnavailable, never queued.
// 5. A prompt that can never fit is rejected at once: no row waits for blocks that cannot come.
// 6. Preempted are parked rows first (their clients do not read), then the row admitted last, so
//    that the oldest one that is read always finishes.
// 7. A device failure ends the rank: watchers hear of it, the parent restarts it.
//
// Pure: no clock, no thread, no randomness. Files: rank_core.cpp (messages), rank_schedule.cpp
// (which rows go into a step), rank_results.cpp (what a step brought).
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "actors/rank/rank_row.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/kv/block_pool.hpp"

namespace troupe {

/// Defaults as vLLM's where it has one (DEFAULTS.md section 2), scaled to one CPU socket.
struct RankLimits {
  std::uint32_t max_num_seqs = 64;             ///< rows that run at once
  std::uint32_t max_num_batched_tokens = 512;  ///< tokens of one step
  std::uint32_t queue_max = 256;               ///< rows that wait
  std::uint32_t unacked_batches_max = 32;      ///< TokenBatches on the way to one stream table
  bool async_steps = true;
  Duration watchdog = seconds(30);  ///< a launch that takes longer has hung
};

class RankCore {
 public:
  using Accepts = RankProtocol;
  struct Args {
    StreamRef stream;
    DeviceInfo device;
    RankLimits limits;
  };
  static constexpr const char* kKind = "rank";

  explicit RankCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const SubmitRow& submit, Context& context, Effects& out);
  void on(const CancelRow& cancel, Context& context, Effects& out);
  void on(const ParkRow& park, Context& context, Effects& out);
  void on(const BatchTaken& taken, Context& context, Effects& out);
  void on(const Done<StepResult>& done, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  const char* phase() const;
  std::string describe() const;

  // For expectations of tests.
  std::uint32_t blocks_held() const { return pool_.held(); }
  std::size_t rows() const { return rows_.size(); }
  std::size_t steps_in_flight() const { return steps_.size(); }
  std::uint64_t preemptions() const { return preemptions_; }

 private:
  enum TimerKind : std::uint32_t { kRowBackstop = 1, kOrphanCheck, kCreditCheck };

  struct Step {
    std::uint64_t number = 0;
    OpId forward;
    OpId sample;
    std::vector<RequestId> rows;
  };

  // Messages (rank_core.cpp).
  Status admissible(const SubmitRow& submit) const;
  void reject(const SubmitRow& submit, Code code, std::string message, Effects& out);
  void end_row(RankRow& row, Effects& out);
  void release_if_unused(RequestId id, Effects& out);
  void report_load(Effects& out);
  /// The share of time that the device idled since the pipeline last was empty.
  void report_bubbles(Context& context, Effects& out);
  void check_orphans(Context& context, Effects& out);
  /// True: the batch asks for credits back.
  bool spend_credit(const ActorRef& streams, std::uint64_t step, Context& context, Effects& out);
  void give_up_credits(std::uint64_t streams, Context& context, Effects& out);

  // Scheduling (rank_schedule.cpp).
  std::uint32_t context_limit() const;
  std::uint32_t blocks_for(std::uint32_t tokens) const;
  bool wants_step(const RankRow& row) const;
  bool reserve(RankRow& row, std::uint32_t tokens);
  void preempt_one();
  void finish_preemption(RankRow& row, Effects& out);
  /// Whether there was one.
  bool finish_preemptions(Effects& out);
  void admit_waiting(Context& context, Effects& out);
  bool plan_decode(RankRow& row, StepPlan& plan);
  bool plan_prefill(RankRow& row, std::uint32_t& budget, StepPlan& plan);
  /// The next step, or null: no row wants one or fits.
  std::shared_ptr<const StepPlan> schedule(Context& context, Effects& out);
  std::shared_ptr<StepPlan> plan_step(Context& context, Effects& out);
  StepRow step_row(RankRow& row, std::uint32_t count, bool sample);
  void launch_forward(const std::shared_ptr<const StepPlan>& plan, Context& context, Effects& out);
  void launch_sample(const std::shared_ptr<const StepPlan>& plan, Context& context, Effects& out);
  void launch(OpId op, LaunchKind kind, const std::shared_ptr<const StepPlan>& plan,
              Context& context, Effects& out);
  /// Launches what fits into the pipeline; `between` runs after the first forward launch and before
  /// its sample launch: the post-processing that overlaps with the device.
  template <class Between>
  void fill_pipeline(Context& context, Effects& out, Between between);
  void fill_pipeline(Context& context, Effects& out);

  // Results (rank_results.cpp).
  struct Fresh {
    ActorRef streams;
    RowTokens tokens;
  };
  std::vector<Fresh> absorb(const StepResult& result, Context& context);
  void absorb_row(RankRow& row, const RowResult& result, RowTokens& fresh);
  void post_process(std::uint64_t step, std::vector<Fresh> fresh, Context& context, Effects& out);
  void retire(const Step& step);
  void observe_end(const RankRow& row, Context& context, Effects& out);

  RankRow* find(RequestId id);

  Args args_;
  BlockPool pool_;
  std::map<RequestId, RankRow> rows_;
  std::deque<RequestId> waiting_;    ///< in order of arrival; preempted rows in front
  std::vector<RequestId> admitted_;  ///< in order of admission
  std::vector<RowId> free_row_ids_;
  /// Steps of the TokenBatches on the way, oldest first, by stream table.
  std::map<ActorRef, std::deque<std::uint64_t>> unacked_;
  std::deque<Step> steps_;  ///< in flight, oldest first
  Time pipeline_began_;     ///< when a step last was launched into an empty one
  Duration device_busy_;    ///< since then
  std::uint64_t next_step_ = 0;
  std::uint64_t next_op_ = 0;
  std::uint64_t preemptions_ = 0;
  std::uint32_t orphaned_ = 0;
  bool draining_ = false;
};

}  // namespace troupe
