#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/chat_answer.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe::recipe {
namespace {

void add_logs(std::string& logs, const Delta& delta, const AnswerContext& context) {
  if (delta.logprobs.empty()) return;
  if (!logs.empty()) logs += ',';
  append_logprobs(logs, delta.logprobs, context);
}

std::string& text_of(std::optional<std::string>& text) {
  return text ? *text : text.emplace();
}

}  // namespace

void ChatCompletion::start(const Start& start) {
  fingerprint_ = start.fingerprint;
  if (context().starts_reasoning) {
    reasoning_.emplace();
  } else {
    content_.emplace();
  }
}

void ChatCompletion::delta(const Delta& delta) {
  switch (delta.kind) {
    case DeltaKind::kReasoning:
      text_of(reasoning_) += delta.text;
      return add_logs(reasoning_logs_, delta, context());
    case DeltaKind::kContent:
      text_of(content_) += delta.text;
      return add_logs(content_logs_, delta, context());
    case DeltaKind::kCall:
      calls_.push_back({std::string(delta.call_id), std::string(delta.text), {}});
      return;
    case DeltaKind::kArguments:
    case DeltaKind::kArgumentText:
      calls_.back().arguments += argument_json(delta, scratch_);
      return;
    case DeltaKind::kCallDone:
      return;
  }
}

void ChatCompletion::finish(const Outcome& outcome) {
  text_of(content_);
  end_ = outcome.end;
  usage_ = outcome.usage;
}

std::string chat_body_head(const Identity& identity, std::string_view fingerprint) {
  JsonWriter json;
  json.open_object();
  json.key("id").text(identity.id).key("object").text("chat.completion");
  json.key("created").number(identity.created).key("model").text(identity.model);
  if (!fingerprint.empty()) json.key("system_fingerprint").text(fingerprint);
  return json.take() + ",\"choices\":[";
}

void ChatCompletion::append_choice(std::string& out) const {
  out += "{\"index\":";
  append_number(out, std::uint64_t{context().options.choice.value_or(0)});
  out += ",\"message\":";
  append_message(out);
  append_choice_logprobs(out);
  out += ",\"finish_reason\":";
  if (end_) {
    append_json_string(out, chat_finish_reason(*end_));
  } else {
    out += "null";
  }
  out += '}';
}

std::string ChatCompletion::body() const {
  std::string out;
  if (context().options.choice) {
    append_choice(out);
    return out;
  }
  JsonWriter json;
  out = chat_body_head(context().identity, strict() ? fingerprint_ : std::string_view());
  append_choice(out);
  out += ']';
  if (end_) {
    out += ",\"usage\":";
    append_chat_usage(out, usage_, strict());
  }
  if (!strict()) {
    json.text_or_null(fingerprint_);
    out += ",\"system_fingerprint\":" + json.take();
  }
  out += '}';
  return out;
}

void ChatCompletion::append_message(std::string& out) const {
  out += "{\"role\":\"assistant\",\"content\":";
  const bool only_calls = strict() && !calls_.empty() && content_ && content_->empty();
  if (content_ && !only_calls) {
    append_json_string(out, *content_);
  } else {
    out += "null";
  }
  if (reasoning_) {
    out += ",\"reasoning_content\":";
    append_json_string(out, *reasoning_);
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    out += i == 0 ? ",\"tool_calls\":[{" : ",{";
    if (!strict()) {
      out += "\"index\":";
      append_number(out, std::uint64_t{i});
      out += ',';
    }
    out += "\"id\":";
    append_json_string(out, calls_[i].id);
    out += ",\"type\":\"function\",\"function\":{\"name\":";
    append_json_string(out, calls_[i].name);
    out += ",\"arguments\":";
    append_json_string(out, calls_[i].arguments);
    out += "}}";
  }
  out += calls_.empty() ? "}" : "]}";
}

void ChatCompletion::append_choice_logprobs(std::string& out) const {
  if (content_logs_.empty() && reasoning_logs_.empty()) {
    if (!strict()) out += ",\"logprobs\":null";
    return;
  }
  out += ",\"logprobs\":{";
  if (!content_logs_.empty()) out += "\"content\":[" + content_logs_ + ']';
  if (!reasoning_logs_.empty()) {
    if (!content_logs_.empty()) out += ',';
    out += "\"reasoning_content\":[" + reasoning_logs_ + ']';
  }
  out += strict() ? ",\"refusal\":null}" : "}";
}

}  // namespace troupe::recipe
