#include "runtime/recipe/stream/completion_answer.hpp"

#include <algorithm>

#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe::recipe {
namespace {

void append_choice(std::string& out, std::string_view text, std::uint32_t index,
                   std::string_view logprobs, std::string_view finish_reason) {
  out += "{\"index\":";
  append_number(out, std::uint64_t{index});
  out += ",\"text\":";
  append_json_string(out, text);
  out += ",\"logprobs\":";
  out += logprobs;
  out += ",\"finish_reason\":";
  if (finish_reason.empty()) {
    out += "null}";
  } else {
    append_json_string(out, finish_reason);
    out += '}';
  }
}

bool continues(char c) {
  return (c & 0xC0) == 0x80;  // a later byte of a character
}

std::uint64_t characters_of(std::string_view text) {
  return static_cast<std::uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

void add_top(std::string& out, TokenId id, double logprob, const AnswerContext& context) {
  if (out.back() != '{') out += ',';
  append_json_string(out, context.tokenizer->bytes_of(id));
  out += ':';
  append_json_real(out, logprob);
}

}  // namespace

std::string completion_head(const Identity& identity, std::string_view fingerprint) {
  JsonWriter json;
  json.open_object();
  json.key("id").text(identity.id).key("object").text("text_completion");
  json.key("created").number(identity.created).key("model").text(identity.model);
  if (!fingerprint.empty()) json.key("system_fingerprint").text(fingerprint);
  return json.take() + ",\"choices\":[";
}

void OldLogprobs::add(const Delta& delta, const AnswerContext& context) {
  // A character of several tokens makes them one delta: each has the place that it begins at.
  const std::uint64_t after = characters_ + characters_of(delta.text);
  std::uint64_t begun = characters_;
  for (const LoggedToken& token : delta.logprobs) {
    const std::string_view bytes = context.tokenizer->bytes_of(token.id);
    const bool within = !bytes.empty() && continues(bytes.front()) && begun > characters_;
    const char* comma = tokens_.empty() ? "" : ",";
    offsets_ += comma;
    append_number(offsets_, std::min(begun, after) - (within ? 1 : 0));
    begun += characters_of(bytes);
    logprobs_ += comma;
    append_json_real(logprobs_, token.logprob.logprob);
    tokens_ += comma;
    append_json_string(tokens_, bytes);
    tops_ += comma;
    tops_ += '{';
    add_top(tops_, token.id, token.logprob.logprob, context);
    for (const CandidateLogprob& top : token.logprob.top) {
      if (top.id != token.id) add_top(tops_, top.id, top.logprob, context);
    }
    tops_ += '}';
  }
  characters_ = after;
}

void OldLogprobs::take(std::string& out) {
  if (tokens_.empty()) {
    out += "null";
    return;
  }
  out += "{\"text_offset\":[" + offsets_ + "],\"token_logprobs\":[" + logprobs_ + "],\"tokens\":[" +
         tokens_ + "],\"top_logprobs\":[" + tops_ + "]}";
  for (auto* list : {&offsets_, &logprobs_, &tokens_, &tops_}) list->clear();
}

void CompletionStream::start(const Start& start) {
  head_ = completion_head(context().identity, start.fingerprint);
}

void CompletionStream::send_choice(std::string_view text, std::string_view finish_reason) {
  std::string logprobs;
  logprobs_.take(logprobs);
  out_ = head_;
  append_choice(out_, text, context().options.choice.value_or(0), logprobs, finish_reason);
  out_ += "]}";
  send({}, out_);
}

void CompletionStream::delta(const Delta& delta) {
  // A model may reason or call where nobody asked it to; without a conversation all of it is text.
  if (delta.text.empty()) return;
  logprobs_.add(delta, context());
  send_choice(delta.text, {});
}

void CompletionStream::finish(const Outcome& outcome) {
  send_choice({}, chat_finish_reason(outcome.end));
  if (!context().options.include_usage || context().options.choice) return;
  out_ = head_ + "],\"usage\":";
  append_chat_usage(out_, outcome.usage, true);
  out_ += '}';
  send({}, out_);
}

void CompletionStream::fail(const ApiError& error) {
  send({}, error_body(error));
}

void CompletionBody::start(const Start& start) {
  fingerprint_ = start.fingerprint;
}

void CompletionBody::delta(const Delta& delta) {
  text_ += delta.text;
  logprobs_.add(delta, context());
}

void CompletionBody::finish(const Outcome& outcome) {
  finish_reason_ = chat_finish_reason(outcome.end);
  usage_ = outcome.usage;
  old_logprobs_.clear();
  logprobs_.take(old_logprobs_);
}

std::string CompletionBody::body() const {
  const auto& choice = context().options.choice;
  std::string out = choice ? std::string() : completion_head(context().identity, fingerprint_);
  append_choice(out, text_, choice.value_or(0), old_logprobs_, finish_reason_);
  if (choice) return out;
  out += "],\"usage\":";
  append_chat_usage(out, usage_, true);
  return out + '}';
}

}  // namespace troupe::recipe
