// The objects of Responses: items, their parts, and the response itself.
#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/responses_answer.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {
namespace {

/// Members that a response repeats of its request, in order, and their values if it does not say.
struct EchoMember {
  std::string_view name;
  std::string_view value;
};
constexpr EchoMember kEcho[] = {
    {"instructions", "null"},
    {"max_output_tokens", "null"},
    {"parallel_tool_calls", "true"},
    {"prompt_cache_key", "null"},
    {"reasoning", R"({"effort":null,"summary":null})"},
    {"safety_identifier", "null"},
    {"temperature", "1.0"},
    {"text", R"({"format":{"type":"text"},"verbosity":null})"},
    {"tool_choice", R"("auto")"},
    {"tools", "[]"},
    {"top_logprobs", "0"},
    {"top_p", "1.0"},
    {"user", "null"},
    {"metadata", "{}"},
};

}  // namespace

void ResponsesAnswer::append_item_id(std::string& out) const {
  switch (item_) {
    case Item::kReasoning:
      out += "\"rs_";
      break;
    case Item::kMessage:
      out += "\"msg_";
      break;
    case Item::kCustom:
      out += "\"ctc_";
      break;
    default:
      out += "\"fc_";
      break;
  }
  out += id_;
  out += '_';
  append_number(out, index_);
  out += '"';
}

void ResponsesAnswer::append_part(std::string& out, bool whole) const {
  if (item_ == Item::kReasoning) {
    out += "{\"type\":\"reasoning_text\",\"text\":";
  } else {
    out += "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[";
    if (whole) out += logs_;
    out += "],\"text\":";
  }
  append_json_string(out, whole ? std::string_view(text_) : std::string_view());
  out += '}';
}

void ResponsesAnswer::append_item(std::string& out, std::string_view status, bool whole,
                                  std::string_view phase) const {
  static constexpr std::string_view kTypes[] = {"", "reasoning", "message", "function_call",
                                                "custom_tool_call"};
  out += "{\"type\":\"";
  out += kTypes[static_cast<unsigned>(item_)];
  out += "\",\"id\":";
  append_item_id(out);
  out += ",\"status\":\"";
  out += status;
  out += '"';
  if (item_ == Item::kCall || item_ == Item::kCustom) {
    out += ',';
    out += call_;
    out += item_ == Item::kCustom ? ",\"input\":" : ",\"arguments\":";
    append_json_string(out, whole ? std::string_view(text_) : std::string_view());
    out += '}';
    return;
  }
  if (item_ == Item::kMessage) {
    out += ",\"role\":\"assistant\",\"phase\":\"";
    out += phase;
    out += '"';
  }
  out += ",\"content\":[";
  if (whole) append_part(out, true);
  out += ']';
  if (item_ == Item::kReasoning) {
    out += ",\"summary\":[],\"encrypted_content\":\"";
    out += id_;
    out += '-';
    append_number(out, index_);
    out += '"';
  }
  out += '}';
}

/// Keeps the members of a response that do not change, in the order of the reference.
void ResponsesAnswer::prepare_members() {
  const std::string& echo = context().options.echo;
  const auto document = JsonDocument::parse(echo.empty() ? "{}" : echo);
  const auto add = [&](std::string& out, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last; ++i) {
      out += ",\"";
      out += kEcho[i].name;
      out += "\":";
      const auto at =
          document ? document->tape().find(JsonDocument::kRoot, kEcho[i].name) : JsonTape::kNone;
      if (at == JsonTape::kNone) {
        out += kEcho[i].value;
      } else {
        document->tape().print(at, kCompactJson, out);
      }
    }
  };
  add(before_model_, 0, 1);
  before_model_ += ",\"max_tool_calls\":null,\"model\":";
  append_json_string(before_model_, context().identity.model);
  before_model_ += ",\"moderation\":null,\"output\":[";
  after_output_ = "]";
  add(after_output_, 2, 2);
  after_output_ += R"(,"presence_penalty":0.0,"previous_response_id":)";
  const std::string& previous = context().options.previous_response;
  if (previous.empty()) {
    after_output_ += "null";
  } else {
    append_json_string(after_output_, previous);
  }
  add(after_output_, 3, 3);
  after_output_ += R"(,"prompt_cache_retention":null)";
  add(after_output_, 4, 5);
  after_output_ += R"(,"service_tier":"default","store":)";
  after_output_ += context().options.stored ? "true" : "false";
  add(after_output_, 6, 11);
  after_output_ += R"(,"truncation":"disabled","usage":)";
  add(after_usage_, 12, 13);
  after_usage_ += '}';
}

void ResponsesAnswer::append_response(std::string& out, State state) const {
  static constexpr std::string_view kStates[] = {"in_progress", "completed", "incomplete",
                                                 "failed"};
  out += "{\"id\":\"";
  out += id_;
  out += "\",\"object\":\"response\",\"created_at\":";
  append_number(out, context().identity.created);
  out += ",\"status\":\"";
  out += kStates[static_cast<unsigned>(state)];
  out += "\",\"background\":false,\"completed_at\":";
  const bool incomplete = state == State::kIncomplete;
  // The reference says when it was created, also of what is incomplete.
  if (!strict() && (state == State::kCompleted || incomplete)) {
    append_number(out, context().identity.created);
  } else if (state == State::kCompleted && passed() >= 0) {
    append_number(out, context().identity.created + passed());
  } else {
    out += "null";
  }
  out += ",\"content_filters\":null,\"error\":" + failure_;
  out += ",\"frequency_penalty\":0.0,\"incomplete_details\":";
  if (state != State::kIncomplete) {
    out += "null";
  } else if (outcome_.end == AnswerEnd::kLength) {
    out += "{\"reason\":\"max_output_tokens\"}";
  } else {
    out += "{\"reason\":\"content_filter\"}";
  }
  out += before_model_;
  out += items_;
  out += after_output_;
  append_usage(out);
  out += after_usage_;
}

void ResponsesAnswer::append_usage(std::string& out) const {
  if (state_ == State::kInProgress || state_ == State::kFailed) {
    out += "null";
    return;
  }
  const Usage& usage = outcome_.usage;
  out += "{\"input_tokens\":";
  append_number(out, usage.prompt_tokens);
  out += ",\"input_tokens_details\":{\"cached_tokens\":";
  append_number(out, usage.cached_tokens);
  out += "},\"output_tokens\":";
  append_number(out, usage.completion_tokens);
  out += ",\"output_tokens_details\":{\"reasoning_tokens\":";
  append_number(out, usage.reasoning_tokens.value_or(0));
  out += "},\"total_tokens\":";
  append_number(out, usage.prompt_tokens + usage.completion_tokens);
  out += '}';
}

}  // namespace troupe::recipe
