#include "runtime/device/script_model.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// What a script says is certain: its tokens have a log-probability of 0, and no rivals.
void add_logprobs(bool top, RowResult& row) {
  for (const TokenId token : row.tokens) {
    SampledLogprob& logprob = row.logprobs.emplace_back();
    logprob.token = token;
    if (top) logprob.top.emplace_back(token, 0.0F);
  }
}

}  // namespace

ScriptModel::Player& ScriptModel::player(const StepRow& row) {
  if (row.row.value >= players_.size()) players_.resize(row.row.value + 1);
  return players_[row.row.value];
}

void ScriptModel::begin(Player& player, const StepRow& row) {
  player = Player{};
  player.script = load_script(directory_, row.script, encode_);
  if (!player.script.ok()) return;
  // A row that was preempted goes on behind what it has given. Empty chunks before that have been
  // waited for, those that follow (or that begin a script) have not.
  std::uint32_t skip = row.generated;
  const auto& chunks = player.script->chunks;
  while (skip > 0 && player.chunk < chunks.size() && skip >= chunks[player.chunk].tokens.size()) {
    skip -= static_cast<std::uint32_t>(chunks[player.chunk++].tokens.size());
  }
  player.token = skip;
}

StepModel::Outcome ScriptModel::forward(const StepPlan& plan, Time) {
  for (const auto& row : plan.rows) {
    if (row.fresh) begin(player(row), row);
  }
  StepResult result;
  result.step = plan.step;
  return {Duration(), std::move(result)};
}

std::optional<Time> ScriptModel::next_due(Player& player, Time start) const {
  if (player.over) return std::nullopt;
  if (!player.script.ok()) return start;
  const Script& script = *player.script;
  if (player.chunk >= script.chunks.size()) {
    if (script.finish == ScriptFinish::kStall) return std::nullopt;
    return start;
  }
  if (!player.due) player.due = start + script.chunks[player.chunk].delay;
  return player.due;
}

bool ScriptModel::give(Player& player, Time now, RowResult& out) const {
  if (!player.script.ok()) {
    out.end = RowEnd::kFailed;
    out.code = player.script.error().code;
    out.error = player.script.error().message;
    player.over = true;
    return true;
  }
  const auto& script = *player.script;
  while (player.chunk < script.chunks.size()) {
    const ScriptChunk& chunk = script.chunks[player.chunk];
    if (!player.due) player.due = now + chunk.delay;
    if (*player.due > now) return true;
    while (player.token < chunk.tokens.size()) {
      if (out.tokens.size() >= kTokensPerStep) return true;
      out.tokens.push_back(chunk.tokens[player.token++]);
    }
    ++player.chunk;
    player.token = 0;
    player.due.reset();
  }
  if (script.finish == ScriptFinish::kStall) return true;
  player.over = true;
  out.end = script.finish == ScriptFinish::kLength ? RowEnd::kLength : RowEnd::kStop;
  return script.finish != ScriptFinish::kDie;
}

StepModel::Outcome ScriptModel::sample(const StepPlan& plan, Time start) {
  Time end = start + kStepMax;
  bool waits = false;  // rows that ended in the step before need no time
  for (const auto& row : plan.rows) {
    if (!row.sample) continue;
    waits = waits || !player(row).over;
    const std::optional<Time> due = next_due(player(row), start);
    if (due) end = std::min(end, std::max(*due, start));
  }
  if (!waits) end = start;
  StepResult result;
  result.step = plan.step;
  for (const auto& row : plan.rows) {
    if (!row.sample) continue;
    RowResult out;
    out.row = row.row;
    out.request = row.request;
    Player& playing = player(row);
    const std::optional<Time> due = next_due(playing, start);
    if (due && *due <= end && !give(playing, end, out)) {
      return {end - start,
              Error{Code::kLost, "script " + row.script + " says that the device dies"}};
    }
    if (row.sampling.logprobs >= 0) add_logprobs(row.sampling.logprobs > 0, out);
    result.rows.push_back(std::move(out));
  }
  return {end - start, std::move(result)};
}

}  // namespace troupe
