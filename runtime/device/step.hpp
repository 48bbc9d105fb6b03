// What a rank asks of its device in one step, and what comes back.
//
// A step is two launches on one stream: `forward` computes the logits of each row that wants them,
// `sample` turns them into tokens. A row is a sequence that the device knows by its RowId; rows
// keep device-side state between steps (last sampled token, script position), which `fresh` resets.
// Plans and results live in a ring of pinned slots; launches and results name the slot.
//
// Units: positions and counts are tokens. A plan is immutable once launched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/message_info.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"
#include "runtime/device/group_step.hpp"

namespace troupe {

/// How to choose a token from logits. `seed` and the token's position decide; nothing else.
struct RowSampling {
  float temperature = 1.0F;  ///< 0: the most likely token, lowest id on ties
  float top_p = 1.0F;        ///< (0, 1]
  float min_p = 0.0F;        ///< [0, 1]
  std::int32_t top_k = 0;    ///< 0: all
  std::uint64_t seed = 0;
  std::int32_t logprobs = -1;  ///< -1: none; n: the chosen token's and the n likeliest
  std::vector<std::pair<TokenId, float>> bias;  ///< added to these tokens' logits
  static void fields(auto& self, auto&& visit) {
    visit("temperature", self.temperature);
    visit("top_p", self.top_p);
    visit("min_p", self.min_p);
    visit("top_k", self.top_k);
    visit("seed", self.seed);
    visit("logprobs", self.logprobs);
    visit("bias", self.bias);
  }
};

struct StepRow {
  RowId row;
  RequestId request;             ///< for logs and scripts
  bool fresh = false;            ///< the row's first step since it was given to this request
  std::uint32_t start = 0;       ///< position of the first token computed in this step
  std::uint32_t count = 0;       ///< tokens computed in this step; 0: an empty row
  bool sample = false;           ///< the last of them yields the next token
  bool input_on_device = false;  ///< the one input token is the row's last sampled one
  std::uint32_t generated = 0;   ///< tokens generated before a fresh row (resumed after preemption)
  std::uint32_t prompt_length = 0;
  std::shared_ptr<const std::vector<TokenId>> tokens;  ///< prompt and generated so far, or null
  std::vector<BlockId> blocks;  ///< KV blocks from position 0 on, enough for start + count
  RowSampling sampling;
  std::string script;  ///< scripted devices: which script the row plays
  SimulatedWork work;  ///< simulated requests
};

struct StepPlan {
  std::uint64_t step = 0;
  std::vector<StepRow> rows;
  std::shared_ptr<const GroupPlan> group;  ///< instead of rows: the step of a whole group
};

/// Why a device itself ended a row.
enum class RowEnd : std::uint8_t { kNone = 0, kStop, kLength, kFailed };

struct SampledLogprob {
  TokenId token;
  float logprob = 0;
  std::vector<std::pair<TokenId, float>> top;
  static void fields(auto& self, auto&& visit) {
    visit("token", self.token);
    visit("logprob", self.logprob);
    visit("top", self.top);
  }
};

struct RowResult {
  RowId row;
  RequestId request;
  std::vector<TokenId> tokens;  ///< 0 or more: drafts and scripts give several
  RowEnd end = RowEnd::kNone;
  std::vector<SampledLogprob> logprobs;  ///< one a token, or empty
  Code code = Code::kInternal;           ///< if it failed
  std::string error;                     ///< if it failed
  static void fields(auto& self, auto&& visit) {
    visit("row", self.row);
    visit("request", self.request);
    visit("tokens", self.tokens);
    visit("end", self.end);
    visit("logprobs", self.logprobs);
    visit("code", self.code);
    visit("error", self.error);
  }
};

struct StepResult {
  static constexpr MessageInfo info{0x0310, "step"};
  std::uint64_t step = 0;
  std::uint32_t slot = 0;
  std::vector<RowResult> rows;  ///< of a sample launch; empty of a forward launch
  Duration device_time;         ///< how long the device was busy with it
  GroupOutcome group;           ///< of a group's step
  static void fields(auto& self, auto&& visit) {
    visit("step", self.step);
    visit("slot", self.slot);
    visit("rows", self.rows);
    visit("device_time", self.device_time);
  }
};

}  // namespace troupe
