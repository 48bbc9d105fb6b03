// How long one member's part of a group's step takes: the seam between simulated groups of GPUs
// and what is known about real ones.
//
// A group's step is told as sums (runtime/device/group_step.hpp), and so is its cost. The same two
// sources as for single ranks implement it (step_cost.hpp): the formula, and tables of real GPUs; a
// run has one of them, never a blend.
//
// Units: seconds, tokens; each of one member and one step. Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// The chunks of prompts: q tokens each, behind c that are there.
struct PromptWork {
  double tokens = 0;       ///< Σ q
  double squares = 0;      ///< Σ q²
  double prefix = 0;       ///< Σ q c
  double ends = 0;         ///< chunks that end their prompt, and so yield a first token
  double end_context = 0;  ///< Σ c + q of those

  void add(double q, double c, bool last) {
    tokens += q;
    squares += q * q;
    prefix += q * c;
    if (!last) return;
    ++ends;
    end_context += c + q;
  }
  /// Pairs of tokens that attend: Σ q (c + q / 2).
  double pairs() const { return prefix + squares / 2; }
};

/// Rows that decode.
struct RowWork {
  double rows = 0;
  double tokens = 0;   ///< verified ones: of each row one, and its drafts
  double context = 0;  ///< of all rows together
};

class GroupCost {
 public:
  virtual ~GroupCost() = default;
  /// Requires: tokens > 0.
  virtual double prompts_seconds(const PromptWork& work) = 0;
  /// Requires: rows > 0.
  virtual double rows_seconds(const RowWork& work) = 0;
  /// Of a step that holds both.
  virtual double mixed_seconds(const PromptWork& prompts, const RowWork& rows) {
    return prompts_seconds(prompts) + rows_seconds(rows);
  }
  /// A step of the group begins; a row will get so long. For the books of extrapolation.
  virtual void saw_step() {}
  virtual void saw_context(std::uint64_t) {}

  /// What the figures are and where they come from, one a line.
  virtual std::vector<std::string> describe() const = 0;
  /// What lay outside of what the source knows; empty: nothing.
  virtual std::string extrapolation() const = 0;
};

}  // namespace troupe
