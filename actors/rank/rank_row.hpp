// One request on a rank: what it asked for, how far it is, and what it holds.
#pragma once

#include <memory>
#include <vector>

#include "actors/rank/rank_messages.hpp"

namespace troupe {

enum class RowState : std::uint8_t {
  kWaiting = 0,  ///< in the queue; holds nothing on the device
  kPrefill,      ///< admitted: its prompt is being computed in chunks
  kDecode,       ///< its prompt is computed: one token (or several) a step
  kEnding,       ///< over; waits for the steps in flight that still use its blocks
};

struct RankRow {
  SubmitRow submitted;
  RowState state = RowState::kWaiting;
  bool parked = false;
  bool preempting = false;  ///< gives its blocks back as soon as no step in flight uses them
  bool fresh = true;        ///< its next step is the first since it got its row id

  RowId row;  ///< valid from admission on
  std::vector<BlockId> blocks;
  /// Prompt, and after a preemption also what was generated before; immutable, shared with plans.
  std::shared_ptr<const std::vector<TokenId>> prefill;
  std::uint32_t prefill_length = 0;   ///< its length, also for simulated prompts
  std::uint32_t resumed = 0;          ///< tokens generated before this admission
  std::uint32_t computed = 0;         ///< positions computed or planned, from 0
  std::uint32_t output_max = 0;       ///< tokens to generate at most
  std::uint32_t output = 0;           ///< tokens generated
  std::vector<TokenId> generated;     ///< and which, to resume after a preemption
  std::uint32_t samples_pending = 0;  ///< sample launches in flight
  std::uint32_t steps_pending = 0;    ///< steps in flight that use the row

  Time submitted_at;
  Time admitted_at;
  Time first_token_at;
  std::optional<Time> owner_ended_at;

  RequestId id() const { return submitted.request; }
  bool running() const { return state == RowState::kPrefill || state == RowState::kDecode; }
};

}  // namespace troupe
