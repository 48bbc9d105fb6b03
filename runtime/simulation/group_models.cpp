#include "runtime/simulation/group_models.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "runtime/base/fetch.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {

struct Moments {
  double mean = 1;
  double deviation = 0;
};

/// Of 1 + the number of drafts accepted in a row, each with this chance.
Moments moments_of_chance(double chance, std::uint32_t drafts) {
  double mean = 1;
  double square = 0;
  double reach = 1;
  for (std::uint32_t i = 0; i <= drafts; ++i) {
    const double stop = i == drafts ? reach : reach * (1 - chance);
    square += stop * (1.0 + i) * (1.0 + i);
    if (i > 0) mean += reach;
    reach *= chance;
  }
  return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

/// The fitted curve says only means; its deviation is taken from the chance that has its mean.
Moments moments_of_curve(const Acceptance& acceptance) {
  const double mean = acceptance.tokens(acceptance.drafts);
  double low = 0;
  double high = 1;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (moments_of_chance(middle, acceptance.drafts).mean < mean ? low : high) = middle;
  }
  return {mean, moments_of_chance(low, acceptance.drafts).deviation};
}

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) *
         std::cos(2 * std::numbers::pi * rng.uniform());
}

}  // namespace

StepModel::Outcome GroupModel::sample(const StepPlan&, Time) {
  return {Duration(), Error{Code::kUnsupported, "a simulated group samples in its forward step"}};
}

Duration GroupModel::copy(std::size_t) {
  return Duration();  // bytes between machines are the links' (fluid_links.hpp)
}

void GroupModel::note_launch(Time start, Duration takes,
                             std::shared_ptr<const GroupResult> result) {
  began_ = start;
  latest_ = {0, takes, std::move(result)};
}

UnderWay GroupModel::under_way(Time now) const {
  UnderWay found = latest_;
  if (now <= began_ || now >= began_ + found.takes) return {};
  found.share = (now - began_).seconds() / found.takes.seconds();
  return found;
}

StepModel::Outcome GroupModel::outcome(const StepPlan& plan, Time start,
                                       std::shared_ptr<GroupResult> result) {
  StepResult step;
  step.step = plan.step;
  if (pace_ != 1) {
    for (Duration& own : result->own) own = from_seconds(own.seconds() * pace_);
  }
  const Duration slowest = *std::max_element(result->own.begin(), result->own.end());
  note_launch(start, slowest, result);
  step.group.result = std::move(result);
  return {slowest, std::move(step)};
}

StepModel::Outcome PrefillGroup::forward(const StepPlan& plan, Time start) {
  TROUPE_ASSERT(plan.group != nullptr, "a group runs plans of groups");
  cost_->saw_step();
  auto result = std::make_shared<GroupResult>();
  work_.assign(members_, PromptWork());
  for (const GroupChunk& chunk : plan.group->chunks) {
    work_.at(chunk.member).add(chunk.tokens, chunk.start, chunk.last);
    result->tokens += chunk.tokens;
    if (!chunk.last || chunk.work.output > 1) continue;
    result->ended.push_back({chunk.request, chunk.member, 1});
  }
  for (const PromptWork& work : work_) {
    const double own = work.tokens > 0 ? cost_->prompts_seconds(work) : 0;
    result->own.push_back(from_seconds(own));
  }
  return outcome(plan, start, std::move(result));
}

StepModel::Outcome EncoderGpu::forward(const StepPlan& plan, Time start) {
  TROUPE_ASSERT(plan.group != nullptr, "a group runs plans of groups");
  auto result = std::make_shared<GroupResult>();
  for (const GroupChunk& chunk : plan.group->chunks) result->tokens += chunk.tokens;
  const auto images = static_cast<double>(plan.group->chunks.size());
  result->own.push_back(from_seconds(image_ * images + patch_ * result->tokens));
  return outcome(plan, start, std::move(result));
}

DecodeGroup::DecodeGroup(std::shared_ptr<GroupCost> cost, std::uint32_t members,
                         const DecodeGroupOptions& options)
    : GroupModel(std::move(cost), members),
      options_(options),
      spread_(options.rule == DraftRule::kOff ? 0
              : options.draft_chance > 0
                  ? moments_of_chance(options.draft_chance, options.acceptance.drafts).deviation
                  : moments_of_curve(options.acceptance).deviation),
      all_(members),
      rows_(members) {}

double DecodeGroup::accepted(double v) const {
  if (options_.rule == DraftRule::kOff || v <= 0) return 1;
  if (options_.rule == DraftRule::kFixed && options_.draft_chance > 0) {
    return moments_of_chance(options_.draft_chance, options_.acceptance.drafts).mean;
  }
  return options_.acceptance.tokens(v);
}

std::size_t DecodeGroup::rows() const {
  double all = 0;
  for (const Member& member : all_) all += member.rows;
  return static_cast<std::size_t>(all);
}

double DecodeGroup::known_gain(double drafts) {
  Gain& known = gains_[std::bit_cast<std::uint64_t>(drafts) % kPrime];
  if (known.drafts != drafts) known = {drafts, accepted(drafts)};
  return known.tokens;
}

void DecodeGroup::forget_all() {
  all_.assign(members_, Member());
  rows_.assign(members_, MemberRows());
}

void DecodeGroup::enter(const GroupEntry& entry) {
  Member& member = all_.at(entry.member);
  const std::uint32_t output = std::max(1u, entry.work.output);
  Row row;
  row.request = entry.request;
  row.tokens = output > entry.generated ? output - entry.generated : 1;
  row.base = entry.context - member.position;
  Rng rng(mix64(options_.seed, entry.request.value));
  const double steps = row.tokens / accepted(options_.acceptance.drafts);
  const double chance = normal(rng) * spread_ * std::sqrt(steps);
  // Never below half of its mean: a normal of few steps would reach below nothing.
  const double end = member.position + std::max(row.tokens * 0.5, row.tokens + chance);
  member.base += row.base;
  member.rows += 1;
  member.next_end = std::min(member.next_end, end);
  rows_[entry.member].ends.push_back(end);
  rows_[entry.member].rows.push_back(row);
  cost_->saw_context(entry.context + row.tokens);
}

void DecodeGroup::leave(const GroupLeave& gone) {
  Member& member = all_.at(gone.member);
  MemberRows& all = rows_[gone.member];
  const auto row = std::find_if(all.rows.begin(), all.rows.end(),
                                [&](const Row& one) { return one.request == gone.request; });
  if (row == all.rows.end()) return;
  member.base -= row->base;
  member.rows -= 1;
  all.remove(static_cast<std::size_t>(row - all.rows.begin()));
  member.next_end = kNever;
  for (const double end : all.ends) member.next_end = std::min(member.next_end, end);
}

void DecodeGroup::MemberRows::remove(std::size_t index) {
  ends[index] = ends.back();
  ends.pop_back();
  rows[index] = rows.back();
  rows.pop_back();
}

double DecodeGroup::step_member(std::uint32_t index, double drafts, GroupResult& result) {
  Member& member = all_[index];
  if (member.rows == 0) return 0;
  const double rows = member.rows;
  const double context = member.base + rows * member.position;
  const double gained = known_gain(drafts);
  double time = cost_->rows_seconds({rows, rows * (1 + drafts), context}) + options_.extra;
  if (options_.rule == DraftRule::kConfidence) time /= 1 - options_.overhead;
  member.position += gained;
  result.tokens += rows * gained;
  if (member.next_end <= member.position) ending_.push_back(index);
  return time / options_.efficiency;
}

void DecodeGroup::fetch_ends(const GroupPlan& plan) {
  for (std::uint32_t i = 0; i < members_; ++i) {
    const Member& member = all_[i];
    if (member.next_end > member.position + known_gain(plan.drafts[i])) continue;
    const std::vector<double>& ends = rows_[i].ends;
    fetch_lines(ends.data(), ends.size() * sizeof(double));
  }
}

void DecodeGroup::find_ended(std::uint32_t index) {
  Member& member = all_[index];
  const MemberRows& all = rows_[index];
  member.next_end = kNever;
  for (std::uint32_t i = 0; i < all.ends.size(); ++i) {
    if (all.ends[i] > member.position) {
      member.next_end = std::min(member.next_end, all.ends[i]);
      continue;
    }
    ended_.push_back({all.ends[i], index, i});
    fetch_line(&all.rows[i]);
    fetch_line(&all.rows.back());
  }
}

void DecodeGroup::take_ended(GroupResult& result) {
  const auto row_of = [&](const EndedRow& one) -> const Row& {
    return rows_[one.member].rows[one.index];
  };
  std::sort(ended_.begin(), ended_.end(), [&](const EndedRow& a, const EndedRow& b) {
    if (a.member != b.member) return a.member < b.member;
    return a.end != b.end ? a.end < b.end : row_of(a).request < row_of(b).request;
  });
  for (const EndedRow& one : ended_) {
    const Row& row = row_of(one);
    result.ended.push_back({row.request, one.member, row.tokens});
    all_[one.member].base -= row.base;
    all_[one.member].rows -= 1;
  }
  // From behind, so that the last row never moves to a place that is still to be emptied.
  std::sort(ended_.begin(), ended_.end(),
            [](const EndedRow& a, const EndedRow& b) { return a.index > b.index; });
  for (const EndedRow& one : ended_) rows_[one.member].remove(one.index);
  ended_.clear();
}

StepModel::Outcome DecodeGroup::forward(const StepPlan& plan, Time start) {
  TROUPE_ASSERT(plan.group != nullptr, "a group runs plans of groups");
  TROUPE_ASSERT(plan.group->drafts.size() == members_, "each member has a number of drafts");
  cost_->saw_step();
  if (plan.group->reset) forget_all();
  for (const GroupLeave& gone : plan.group->leaves) leave(gone);
  for (const GroupEntry& entry : plan.group->enters) enter(entry);
  fetch_ends(*plan.group);
  auto result = std::make_shared<GroupResult>();
  result->own.reserve(members_);
  ending_.clear();
  seconds_.clear();
  for (std::uint32_t i = 0; i < members_; ++i) {
    seconds_.push_back(step_member(i, plan.group->drafts[i], *result));
  }
  for (const std::uint32_t index : ending_) find_ended(index);
  for (const double own : seconds_) result->own.push_back(from_seconds(own));
  take_ended(*result);
  return outcome(plan, start, std::move(result));
}

}  // namespace troupe
