// What a group's steps add up to: utilisation, bubbles, imbalance.
//
// Units: seconds of all members together. busy: from the first launch of a step to its end, times
// members. own: what the members' own parts took. busy - own is spent waiting for the slowest.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/device/group_step.hpp"

namespace troupe {

struct GroupUse {
  std::uint64_t steps = 0;
  std::uint32_t members = 0;
  double busy = 0;
  double own = 0;
  double tokens = 0;        ///< computed or generated
  double ratio = 0;         ///< sum over steps of slowest over mean
  double rows = 0;          ///< sum over steps of rows in it (decode)
  double row_time = 0;      ///< sum over steps of rows times seconds
  std::uint64_t asked = 0;  ///< tokens of prompts that came
  std::uint64_t hit = 0;    ///< of them, those that were there already

  void add(const GroupResult& result, double step_seconds, double step_rows) {
    double sum = 0;
    for (const Duration one : result.own) sum += one.seconds();
    const auto count = static_cast<double>(result.own.size());
    steps += result.steps;
    busy += step_seconds * count;
    own += sum;
    tokens += result.tokens;
    ratio += (sum > 0 ? step_seconds * count / sum : 1) * result.steps;
    rows += step_rows * result.steps;
    row_time += step_rows * step_seconds;
  }
  /// Of a step that is under way: the part of its time, work and tokens that has passed.
  void add_part(const GroupResult& result, double step_seconds, double share) {
    for (const Duration one : result.own) own += share * one.seconds();
    busy += share * step_seconds * static_cast<double>(result.own.size());
    tokens += share * result.tokens;
  }
  void add(const GroupUse& other) {
    steps += other.steps;
    members += other.members;
    busy += other.busy;
    own += other.own;
    tokens += other.tokens;
    ratio += other.ratio;
    rows += other.rows;
    row_time += other.row_time;
    asked += other.asked;
    hit += other.hit;
  }
  /// Slowest over mean, of an average step.
  double imbalance() const { return steps == 0 ? 1 : ratio / static_cast<double>(steps); }
  /// Share of the busy time that members wait for the slowest.
  double bubbles() const { return busy > 0 ? 1 - own / busy : 0; }
};

}  // namespace troupe
