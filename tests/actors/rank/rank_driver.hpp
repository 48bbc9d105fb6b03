// A rank core and the device that a test plays for it: steps end when the test says so, and bring
// the tokens that it names.
#pragma once

#include <deque>
#include <functional>

#include "actors/rank/rank_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {

class RankDriver {
 public:
  static constexpr std::uint32_t kBackstop = 1;  ///< the rank's timers
  static constexpr std::uint32_t kOrphans = 2;
  static constexpr std::uint32_t kCredits = 3;

  static RankCore::Args args_with(RankLimits limits, std::uint32_t blocks = 64) {
    RankCore::Args args;
    args.device.slot_count = 4;
    args.device.block_count = blocks;
    args.device.context_max = 4096;
    args.limits = limits;
    return args;
  }
  explicit RankDriver(const RankCore::Args& args) : driver(args, actor(1)) {}
  explicit RankDriver(RankLimits limits = {}) : RankDriver(args_with(limits)) {}

  /// Owner 100 + id; its tokens go to `streams`.
  SubmitRow row(std::uint64_t id, std::uint32_t prompt, std::uint32_t output) const {
    SubmitRow submit;
    submit.request = RequestId(id);
    submit.owner = owner(id);
    submit.streams = streams;
    std::vector<TokenId> ids;
    for (std::uint32_t i = 0; i < prompt; ++i) ids.emplace_back(static_cast<std::int32_t>(i));
    submit.prompt = std::move(ids);
    submit.prompt_length = prompt;
    submit.max_tokens = output;
    submit.time_left = seconds(60);
    return submit;
  }
  static ActorRef owner(std::uint64_t id) { return actor(100 + id); }

  template <class M>
  Turn hears(const M& message, Speaker speaker = {}) {
    return remember(driver.hears(message, speaker));
  }
  Turn submits(std::uint64_t id, std::uint32_t prompt, std::uint32_t output) {
    return hears(row(id, prompt, output), from(owner(id)));
  }
  Turn cancels(std::uint64_t id) { return hears(CancelRow{RequestId(id)}); }
  Turn parks(std::uint64_t id, bool parked) { return hears(ParkRow{RequestId(id), parked}); }
  Turn acknowledges(std::uint64_t step) { return hears(BatchTaken{step}, from(streams)); }

  /// The oldest step ends: each row that samples brings token 1000 + step, or what `change` makes
  /// of it. Requires: a step in flight.
  Turn step_ends(const std::function<void(RowResult&)>& change = {}) {
    const Flight flight = flying.front();
    flying.pop_front();
    StepResult result;
    result.step = flight.plan->step;
    for (const StepRow& planned : flight.plan->rows) {
      if (!planned.sample) continue;
      RowResult one;
      one.row = planned.row;
      one.request = planned.request;
      one.tokens.emplace_back(static_cast<std::int32_t>(1000 + result.step));
      if (change) change(one);
      result.rows.push_back(std::move(one));
    }
    hears(Done<StepResult>{flight.forward, false, {}, {}});
    return hears(Done<StepResult>{flight.sample, false, {}, std::move(result)});
  }
  /// The device carried out a cancel of the oldest step.
  Turn step_ends_cancelled() {
    const Flight flight = flying.front();
    flying.pop_front();
    const Error cancelled{Code::kCancelled, "cancelled"};
    hears(Done<StepResult>{flight.forward, true, cancelled, {}});
    return hears(Done<StepResult>{flight.sample, true, cancelled, {}});
  }

  /// The row of request `id` in the newest step in flight, or nullptr.
  const StepRow* planned(std::uint64_t id) const {
    if (flying.empty()) return nullptr;
    for (const StepRow& one : flying.back().plan->rows) {
      if (one.request == RequestId(id)) return &one;
    }
    return nullptr;
  }

  struct Flight {
    std::shared_ptr<const StepPlan> plan;
    OpId forward;
    OpId sample;
  };
  CoreDriver<RankCore> driver;
  const ActorRef streams = actor(50);
  std::deque<Flight> flying;  ///< launched and not ended, oldest first

 private:
  Turn remember(Turn turn) {
    for (const auto& launch : turn.all<effect::LaunchStep>()) {
      if (launch.kind == LaunchKind::kForward) {
        flying.push_back({launch.plan, launch.op, OpId()});
      } else {
        flying.back().sample = launch.op;
      }
    }
    return turn;
  }
};

}  // namespace troupe
