// A simulated engine that prefills and decodes on the same GPUs: what its steps take and bring.
//
// A step with chunks of prompts takes the time of its chunks and of the rows that decode beside
// them. Decode alone is a run of many steps: until a row ends, or as many as the plan allows. A run
// is one launch, so that a simulation costs what changes and not each token; each of its steps is
// timed by itself all the same, with the context that it has. A run that is cut ends with the step
// that is under way (ModelledDevice::cancel), as if it had been told so in the beginning.
//
// A row decodes one token a step; where it ends only this model knows. All rows advance together,
// so that a row is one number: the position at which it ends.
//
// Units: tokens, seconds. Threads: those of ModelledDevice.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "runtime/base/id_map.hpp"
#include "runtime/simulation/group_models.hpp"

namespace troupe {

class EngineModel final : public GroupModel {
 public:
  explicit EngineModel(std::shared_ptr<GroupCost> cost) : GroupModel(std::move(cost), 1) {}

  Outcome forward(const StepPlan& plan, Time start) override;
  std::optional<Outcome> cut(Time start, Time now) override;

  std::size_t rows() const { return rows_.size(); }

 private:
  struct Row {
    std::uint64_t begin = 0;    ///< the engine's position when it entered
    std::uint64_t end = 0;      ///< and when it has generated all
    std::uint64_t context = 0;  ///< its KV when it entered
  };
  struct End {
    std::uint64_t at;
    RequestId request;
    friend bool operator>(const End& a, const End& b) {
      return a.at != b.at ? a.at > b.at : a.request > b.request;
    }
  };

  void enter(RequestId request, const Row& row);
  /// False: it is not there.
  bool leave(RequestId request);
  double context() const { return base_ + static_cast<double>(position_ * rows_.size()); }
  void mixed_step(const GroupPlan& plan);
  void run_of_steps(std::uint32_t most);
  void take_ended(GroupResult& result);
  Outcome told(std::size_t steps, Time start);

  std::uint64_t position_ = 0;  ///< steps so far in which rows decoded
  double base_ = 0;             ///< sum over rows of their context less their begin
  IdMap<RequestId, Row> rows_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  ///< some of rows that left

  // The latest launch.
  std::uint64_t step_ = 0;
  std::vector<Duration> offsets_;  ///< of its steps' ends from its start
  std::vector<GroupEnd> ended_;    ///< with its last step
  std::vector<Row> ended_rows_;    ///< and what they were
  double tokens_ = 0;              ///< of its prompts
  std::size_t stepping_ = 0;       ///< rows that decode in it
};

}  // namespace troupe
