#include "runtime/simulation/engine_model.hpp"

#include <algorithm>

namespace troupe {

void EngineModel::enter(RequestId request, const Row& row) {
  rows_.insert(request, row);
  ends_.push({row.end, request});
  base_ += static_cast<double>(row.context) - static_cast<double>(row.begin);
}

bool EngineModel::leave(RequestId request) {
  const Row* row = rows_.find(request);
  if (row == nullptr) return false;
  base_ -= static_cast<double>(row->context) - static_cast<double>(row->begin);
  rows_.erase(request);
  return true;
}

StepModel::Outcome EngineModel::forward(const StepPlan& plan, Time start) {
  TROUPE_ASSERT(plan.group != nullptr, "a group runs plans of groups");
  const GroupPlan& group = *plan.group;
  if (group.reset) {
    rows_ = {};
    ends_ = {};
    base_ = 0;
  }
  for (const GroupLeave& gone : group.leaves) leave(gone.request);
  for (const GroupEntry& entry : group.enters) {
    const std::uint32_t output = std::max(1u, entry.work.output);
    const std::uint32_t left = output > entry.generated ? output - entry.generated : 1;
    enter(entry.request, {position_, position_ + left, entry.context});
    cost_->saw_context(std::uint64_t{entry.context} + left);
  }
  step_ = plan.step;
  offsets_.clear();
  ended_.clear();
  ended_rows_.clear();
  tokens_ = 0;
  stepping_ = rows_.size();
  if (group.chunks.empty()) {
    run_of_steps(group.steps_most);
  } else {
    mixed_step(group);
  }
  return told(offsets_.size(), start);
}

void EngineModel::mixed_step(const GroupPlan& plan) {
  PromptWork prompts;
  for (const GroupChunk& chunk : plan.chunks) {
    prompts.add(chunk.tokens, chunk.start, chunk.last);
    const std::uint32_t output = std::max(1u, chunk.work.output);
    if (!chunk.last || output > 1) continue;
    ended_.push_back({chunk.request, 0, 1});
    ended_rows_.emplace_back();
  }
  tokens_ = prompts.tokens;
  cost_->saw_step();
  const auto rows = static_cast<double>(rows_.size());
  offsets_.push_back(from_seconds(rows_.size() == 0
                                      ? cost_->prompts_seconds(prompts)
                                      : cost_->mixed_seconds(prompts, {rows, rows, context()})));
  if (rows_.size() > 0) ++position_;
}

void EngineModel::run_of_steps(std::uint32_t most) {
  while (!ends_.empty()) {
    const End& next = ends_.top();
    const Row* row = rows_.find(next.request);
    if (row != nullptr && row->end == next.at) break;
    ends_.pop();  // it left
  }
  TROUPE_ASSERT(!ends_.empty() && most > 0, "somebody decodes");
  const std::uint64_t steps = std::min<std::uint64_t>(most, ends_.top().at - position_);
  const auto rows = static_cast<double>(rows_.size());
  double passed = 0;
  double context = this->context();
  for (std::uint64_t i = 0; i < steps; ++i, context += rows) {
    cost_->saw_step();
    passed += cost_->rows_seconds({rows, rows, context});
    offsets_.push_back(from_seconds(passed));
  }
  position_ += steps;
}

void EngineModel::take_ended(GroupResult& result) {
  while (!ends_.empty() && ends_.top().at <= position_) {
    const End end = ends_.top();
    ends_.pop();
    const Row* row = rows_.find(end.request);
    // A row that left, and perhaps came again, has another end.
    if (row == nullptr || row->end != end.at) continue;
    ended_rows_.push_back(*row);
    ended_.push_back({end.request, 0, static_cast<std::uint32_t>(row->end - row->begin)});
    leave(end.request);
  }
  result.ended = ended_;
}

StepModel::Outcome EngineModel::told(std::size_t steps, Time start) {
  auto result = std::make_shared<GroupResult>();
  result->steps = static_cast<std::uint32_t>(steps);
  result->own = {offsets_[steps - 1]};
  result->tokens = tokens_ + static_cast<double>(stepping_ * steps);
  take_ended(*result);
  StepResult step;
  step.step = step_;
  note_launch(start, offsets_[steps - 1], result);
  step.group.result = std::move(result);
  return {offsets_[steps - 1], std::move(step)};
}

std::optional<StepModel::Outcome> EngineModel::cut(Time start, Time now) {
  const auto first = std::lower_bound(offsets_.begin(), offsets_.end(), now - start);
  const auto steps =
      std::min(offsets_.size(), static_cast<std::size_t>(first - offsets_.begin()) + 1);
  if (steps == offsets_.size()) return told(steps, start);  // its last one is under way
  // Those that its end would have brought go on.
  for (std::size_t i = 0; i < ended_.size(); ++i) enter(ended_[i].request, ended_rows_[i]);
  ended_.clear();
  ended_rows_.clear();
  position_ -= offsets_.size() - steps;
  offsets_.resize(steps);
  return told(steps, start);
}

}  // namespace troupe
