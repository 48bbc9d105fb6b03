#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/messages_answer.hpp"
#include "runtime/recipe/text/json_reprint.hpp"

namespace troupe::recipe {

void MessagesCompletion::start(const Start& start) {
  usage_.prompt_tokens = start.prompt_tokens;
  usage_.cached_tokens = start.cached_tokens;
  if (context().starts_reasoning && !strict()) begin_block(OpenBlock::kThinking, {});
}

void MessagesCompletion::begin_block(OpenBlock block, const Delta& delta) {
  end_block(true);
  block_ = block;
  text_.clear();
  if (block != OpenBlock::kTool) return;
  call_ = "{\"type\":\"tool_use\",\"id\":";
  append_json_string(call_, delta.call_id);
  call_ += ",\"name\":";
  append_json_string(call_, delta.text);
  call_ += ",\"input\":";
}

void MessagesCompletion::end_block(bool complete) {
  const OpenBlock block = block_;
  block_ = OpenBlock::kNone;
  if (block == OpenBlock::kNone || (block == OpenBlock::kTool && strict() && !complete)) {
    return;
  }
  if (!blocks_.empty()) blocks_ += ',';
  if (block == OpenBlock::kThinking) {
    const Identity& identity = context().identity;
    blocks_ += "{\"type\":\"thinking\",\"thinking\":";
    append_json_string(blocks_, text_);
    blocks_ += ",\"signature\":";
    append_json_string(blocks_, identity.signature.empty() ? identity.id : identity.signature);
  } else if (block == OpenBlock::kText) {
    blocks_ += "{\"type\":\"text\",\"text\":";
    append_json_string(blocks_, text_);
  } else {
    blocks_ += call_;
    if (!reprint_json(text_, kCompactJson, blocks_)) blocks_ += "{}";
  }
  blocks_ += '}';
}

void MessagesCompletion::delta(const Delta& delta) {
  switch (delta.kind) {
    case DeltaKind::kReasoning:
      if (block_ != OpenBlock::kThinking) begin_block(OpenBlock::kThinking, delta);
      break;
    case DeltaKind::kContent:
      if (block_ != OpenBlock::kText) begin_block(OpenBlock::kText, delta);
      break;
    case DeltaKind::kCall:
      return begin_block(OpenBlock::kTool, delta);
    case DeltaKind::kArguments:
    case DeltaKind::kArgumentText:
      break;
    case DeltaKind::kCallDone:
      return;
  }
  text_ += argument_json(delta, scratch_);
}

void MessagesCompletion::finish(const Outcome& outcome) {
  end_block(!outcome.call_cut);
  stop_.clear();
  append_messages_stop(stop_, outcome);
  usage_ = outcome.usage;
}

std::string MessagesCompletion::body() const {
  const Identity& identity = context().identity;
  std::string out = "{\"id\":";
  append_json_string(out, identity.id);
  out += ",\"type\":\"message\",\"role\":\"assistant\",\"model\":";
  append_json_string(out, identity.model);
  out += ",\"content\":[" + blocks_ + "]," + stop_ + ",\"usage\":";
  append_messages_usage(out, usage_);
  out += '}';
  return out;
}

}  // namespace troupe::recipe
