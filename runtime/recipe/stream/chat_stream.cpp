#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/chat_answer.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe::recipe {

std::string chat_chunk_head(const Identity& identity, std::string_view fingerprint, bool strict) {
  JsonWriter json;
  json.open_object();
  json.key("id").text(identity.id).key("object").text("chat.completion.chunk");
  json.key("created").number(identity.created).key("model").text(identity.model);
  if (!strict || !fingerprint.empty()) json.key("system_fingerprint").text_or_null(fingerprint);
  return json.take() + ",\"choices\":[";
}

void ChatStream::start(const Start& start) {
  head_ = chat_chunk_head(context().identity, start.fingerprint, strict());
  open();
  out_ += "\"role\":\"assistant\",";
  if (strict()) {
    out_ += "\"content\":\"\"";
  } else if (context().starts_reasoning) {
    out_ += "\"content\":null,\"reasoning_content\":\"\"";
  } else {
    out_ += context().options.thinking ? "\"content\":\"\",\"reasoning_content\":null"
                                       : "\"content\":\"\"";
  }
  close();
}

void ChatStream::open() {
  out_ = head_;
  out_ += "{\"index\":";
  append_number(out_, std::uint64_t{context().options.choice.value_or(0)});
  out_ += ",\"delta\":{";
}

/// Ends a chunk behind its delta and sends it.
void ChatStream::close() {
  out_ += strict() ? "},\"finish_reason\":null}]" : "},\"logprobs\":null,\"finish_reason\":null}]";
  send_chunk();
}

/// Requires: the choices are complete and the answer goes on.
void ChatStream::send_chunk() {
  if (!strict() && context().options.include_usage) out_ += ",\"usage\":null";
  out_ += '}';
  send({}, out_);
}

void ChatStream::delta(const Delta& delta) {
  switch (delta.kind) {
    case DeltaKind::kReasoning:
    case DeltaKind::kContent:
      return text_chunk(delta);
    case DeltaKind::kCall:
      return call_chunk(delta);
    case DeltaKind::kArguments:
    case DeltaKind::kArgumentText:
      return arguments_chunk(delta);
    case DeltaKind::kCallDone:
      return;
  }
}

void ChatStream::text_chunk(const Delta& delta) {
  const bool reasoning = delta.kind == DeltaKind::kReasoning;
  const bool both = !strict() && context().options.thinking;
  open();
  if (reasoning) {
    out_ += both ? "\"content\":null,\"reasoning_content\":" : "\"reasoning_content\":";
    append_json_string(out_, delta.text);
  } else {
    out_ += "\"content\":";
    append_json_string(out_, delta.text);
    if (both) out_ += ",\"reasoning_content\":null";
  }
  if (delta.logprobs.empty()) return close();
  out_ += reasoning ? "},\"logprobs\":{\"reasoning_content\":[" : "},\"logprobs\":{\"content\":[";
  append_logprobs(out_, delta.logprobs, context());
  out_ += strict() ? "],\"refusal\":null},\"finish_reason\":null}]" : "]},\"finish_reason\":null}]";
  send_chunk();
}

void ChatStream::call_chunk(const Delta& delta) {
  open();
  out_ += "\"tool_calls\":[{\"index\":";
  append_number(out_, calls_++);
  out_ += ",\"id\":";
  append_json_string(out_, delta.call_id);
  out_ += ",\"type\":\"function\",\"function\":{\"name\":";
  append_json_string(out_, delta.text);
  out_ += ",\"arguments\":\"\"}}]";
  close();
}

void ChatStream::arguments_chunk(const Delta& delta) {
  open();
  out_ += "\"tool_calls\":[{\"index\":";
  append_number(out_, calls_ - 1);
  out_ += ",\"function\":{\"arguments\":";
  append_json_string(out_, argument_json(delta, scratch_));
  out_ += "}}]";
  close();
}

void ChatStream::finish(const Outcome& outcome) {
  open();
  if (!strict()) {
    out_ += context().options.thinking ? "\"content\":\"\",\"reasoning_content\":null"
                                       : "\"content\":\"\"";
  }
  out_ += strict() ? "},\"finish_reason\":" : "},\"logprobs\":null,\"finish_reason\":";
  append_json_string(out_, chat_finish_reason(outcome.end));
  out_ += "}]";
  if (!strict()) {
    out_ += ",\"usage\":";
    append_chat_usage(out_, outcome.usage, false);
  }
  out_ += '}';
  send({}, out_);
  const AnswerOptions& options = context().options;
  if (!strict() || !options.include_usage || options.choice) return;
  out_ = head_;
  out_ += "],\"usage\":";
  append_chat_usage(out_, outcome.usage, true);
  out_ += '}';
  send({}, out_);
}

void ChatStream::fail(const ApiError& error) {
  send({}, error_body(error));
}

}  // namespace troupe::recipe
