// Simulated groups of GPUs: what a step of a prefill engine or of a decode instance takes and
// brings.
//
// A group's step ends for all members with its slowest one (layers of experts are spread over the
// group, so that everybody waits for everybody). Members without work step along.
//
// PrefillGroup: a member's time is that of its chunks (group_cost.hpp).
//
// DecodeGroup: rows are kept as sums. All rows of a member advance together, by the mean of
// accepted tokens a step, so that a row is one number: the member's position at which it ends. What
// chance does to a row is drawn once, when it enters: the sum of many accepted lengths is normal,
// so its end moves by z sigma sqrt(steps). A step costs O(members + rows that enter), for each row
// that leaves before its end a look at all rows of its member, and for each
// member where a row ends a look at the ends of its rows: numbers in a row, which the CPU reads
// ahead, while the path through a heap of them waits for each line.
//
// EncoderGpu: one GPU of a machine of image encoders, alone: a fixed time an image, and one a
// patch.
//
// Acceptance is a script, seeded by the request: no core can read it. Output lengths likewise.
//
// Source: CALIB.md. Units: seconds, tokens. Threads: those of ModelledDevice.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "runtime/cost/draft_budget.hpp"
#include "runtime/device/modelled_device.hpp"
#include "runtime/simulation/group_cost.hpp"

namespace troupe {

/// The launch that is under way, for whoever looks at a group between two ends of steps.
struct UnderWay {
  double share = 0;  ///< of its time, that has passed; 0: none is under way
  Duration takes;
  std::shared_ptr<const GroupResult> result;  ///< what its end brings
};

/// What all kinds of groups share: the sink of costs, and what nobody asks of them.
class GroupModel : public StepModel {
 public:
  GroupModel(std::shared_ptr<GroupCost> cost, std::uint32_t members)
      : cost_(std::move(cost)), members_(members) {}

  Outcome sample(const StepPlan& plan, Time start) override;
  Duration copy(std::size_t bytes) override;
  /// From now on each step takes so many times what the cost model says: a fault.
  void set_pace(double pace) { pace_ = pace; }
  UnderWay under_way(Time now) const;

 protected:
  Outcome outcome(const StepPlan& plan, Time start, std::shared_ptr<GroupResult> result);
  /// The latest launch, or what is left of it after a cut.
  void note_launch(Time start, Duration takes, std::shared_ptr<const GroupResult> result);

  std::shared_ptr<GroupCost> cost_;
  std::uint32_t members_;

 private:
  double pace_ = 1;
  Time began_;
  UnderWay latest_;
};

class PrefillGroup final : public GroupModel {
 public:
  using GroupModel::GroupModel;
  Outcome forward(const StepPlan& plan, Time start) override;

 private:
  std::vector<PromptWork> work_;  ///< kept for its memory
};

/// A chunk is an image; its tokens are patches.
class EncoderGpu final : public GroupModel {
 public:
  /// Seconds an image, and a patch.
  EncoderGpu(std::shared_ptr<GroupCost> cost, double image, double patch)
      : GroupModel(std::move(cost), 1), image_(image), patch_(patch) {}
  Outcome forward(const StepPlan& plan, Time start) override;

 private:
  double image_;
  double patch_;
};

struct DecodeGroupOptions {
  std::uint64_t seed = 1;
  DraftRule rule = DraftRule::kConfidence;
  Acceptance acceptance;
  /// Each draft is accepted with this chance if all before it were: replaces `acceptance` where
  /// drafts are fixed (the plots of seed 004 assume 0.75). 0: the fitted curve.
  double draft_chance = 0;
  double overhead = 0.0151;  ///< of choosing lengths by row: throughput lost (CALIB.md)
  double extra = 0;       ///< seconds a step: EP8 reads 48 experts a GPU, not 7 (CALIB.md: 3.18 ms)
  double efficiency = 1;  ///< of the perfectly balanced step; seed 004: about 0.8 in production
};

class DecodeGroup final : public GroupModel {
 public:
  DecodeGroup(std::shared_ptr<GroupCost> cost, std::uint32_t members,
              const DecodeGroupOptions& options);
  Outcome forward(const StepPlan& plan, Time start) override;

  /// Tokens a row and step with v drafts.
  double accepted(double v) const;
  std::size_t rows() const;

 private:
  struct Row {
    RequestId request;
    double base = 0;           ///< its KV's length less the member's position
    std::uint32_t tokens = 0;  ///< still to generate when it entered
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// What each step looks at.
  struct Member {
    double position = 0;       ///< tokens that a row has generated since the beginning
    double base = 0;           ///< sum over rows
    double next_end = kNever;  ///< where its first row ends
    double rows = 0;           ///< how many
  };
  /// The rest of a member, in no order.
  struct MemberRows {
    std::vector<double> ends;  ///< of each row: the position at which it has generated all
    std::vector<Row> rows;
    void remove(std::size_t index);
  };
  struct EndedRow {
    double end;
    std::uint32_t member;
    std::uint32_t index;  ///< in its MemberRows
  };

  /// accepted(), which members of alike many rows ask for in each step.
  double known_gain(double drafts);
  void forget_all();
  void enter(const GroupEntry& entry);
  void leave(const GroupLeave& gone);
  /// Seconds, without the ends of rows.
  double step_member(std::uint32_t index, double drafts, GroupResult& result);
  // Rows that end, in three rounds: what one reads, the round before has fetched.
  void fetch_ends(const GroupPlan& plan);
  void find_ended(std::uint32_t index);
  void take_ended(GroupResult& result);

  DecodeGroupOptions options_;
  double spread_;  ///< deviation of the tokens of one row and step
  std::vector<Member> all_;
  std::vector<MemberRows> rows_;  ///< of each member
  // Of the step at hand; kept for their memory.
  std::vector<EndedRow> ended_;
  std::vector<std::uint32_t> ending_;  ///< members where a row ends
  std::vector<double> seconds_;        ///< of each member
  struct Gain {
    double drafts = -1;
    double tokens = 0;
  };
  static constexpr std::size_t kPrime = 61;
  std::array<Gain, kPrime> gains_;
};

}  // namespace troupe
