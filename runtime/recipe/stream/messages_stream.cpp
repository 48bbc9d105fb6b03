#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/messages_answer.hpp"

namespace troupe::recipe {
namespace {

OpenBlock block_of(DeltaKind kind) {
  switch (kind) {
    case DeltaKind::kReasoning:
      return OpenBlock::kThinking;
    case DeltaKind::kContent:
      return OpenBlock::kText;
    default:
      return OpenBlock::kTool;
  }
}

}  // namespace

void MessagesStream::start(const Start& start) {
  const Identity& identity = context().identity;
  out_ = "{\"type\":\"message_start\",\"message\":{\"id\":";
  append_json_string(out_, identity.id);
  out_ += ",\"type\":\"message\",\"role\":\"assistant\",\"model\":";
  append_json_string(out_, identity.model);
  out_ += ",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":";
  append_messages_usage(
      out_, {.prompt_tokens = start.prompt_tokens, .cached_tokens = start.cached_tokens});
  out_ += "}}";
  send("message_start", out_);
  // kDefault: once it thinks; a call at once would follow an empty block.
  if (context().starts_reasoning && !strict()) begin_block(OpenBlock::kThinking, {});
}

void MessagesStream::begin_block(OpenBlock block, const Delta& delta) {
  end_block();
  block_ = block;
  out_ = "{\"type\":\"content_block_start\",\"index\":";
  append_number(out_, index_);
  out_ += ",\"content_block\":{\"type\":";
  if (block == OpenBlock::kThinking) {
    out_ += "\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}";
  } else if (block == OpenBlock::kText) {
    out_ += "\"text\",\"text\":\"\"}}";
  } else {
    out_ += "\"tool_use\",\"id\":";
    append_json_string(out_, delta.call_id);
    out_ += ",\"name\":";
    append_json_string(out_, delta.text);
    out_ += ",\"input\":{}}}";
  }
  send("content_block_start", out_);
  if (pinged_) return;
  pinged_ = true;
  keep_alive();
}

void MessagesStream::keep_alive() {
  send("ping", "{\"type\":\"ping\"}");
}

void MessagesStream::end_block() {
  if (block_ == OpenBlock::kNone) return;
  if (block_ == OpenBlock::kThinking) {
    const Identity& identity = context().identity;
    open_delta("signature_delta", "signature");
    append_json_string(out_, identity.signature.empty() ? identity.id : identity.signature);
    send_delta();
  }
  out_ = "{\"type\":\"content_block_stop\",\"index\":";
  append_number(out_, index_++);
  out_ += '}';
  send("content_block_stop", out_);
  block_ = OpenBlock::kNone;
}

void MessagesStream::delta(const Delta& delta) {
  if (delta.kind == DeltaKind::kCallDone) return;
  const OpenBlock block = block_of(delta.kind);
  if (block != block_ || delta.kind == DeltaKind::kCall) begin_block(block, delta);
  if (delta.kind == DeltaKind::kCall) return;
  if (block == OpenBlock::kThinking) {
    open_delta("thinking_delta", "thinking");
  } else if (block == OpenBlock::kText) {
    open_delta("text_delta", "text");
  } else {
    open_delta("input_json_delta", "partial_json");
  }
  append_json_string(out_, argument_json(delta, scratch_));
  send_delta();
}

void MessagesStream::open_delta(std::string_view type, std::string_view key) {
  out_ = "{\"type\":\"content_block_delta\",\"index\":";
  append_number(out_, index_);
  out_ += ",\"delta\":{\"type\":\"";
  out_ += type;
  out_ += "\",\"";
  out_ += key;
  out_ += "\":";
}

void MessagesStream::send_delta() {
  out_ += "}}";
  send("content_block_delta", out_);
}

void MessagesStream::finish(const Outcome& outcome) {
  end_block();
  out_ = "{\"type\":\"message_delta\",\"delta\":{";
  append_messages_stop(out_, outcome);
  out_ += "},\"usage\":";
  append_messages_usage(out_, outcome.usage);
  out_ += '}';
  send("message_delta", out_);
  send("message_stop", "{\"type\":\"message_stop\"}");
}

void MessagesStream::fail(const ApiError& error) {
  send("error", messages_error_body(error));
}

}  // namespace troupe::recipe
