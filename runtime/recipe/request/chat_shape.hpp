// The body of POST /v1/chat/completions as it is read, and what must be so for it to be one.
// What it means is decided in chat_convert.cpp. Source: recipe SPEC 3 and 7; what the reference
// ignores has no field here, except what the default mode knows or refuses by name.
#pragma once

#include <string_view>
#include <tuple>

#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"
#include "runtime/recipe/request/thinking.hpp"

namespace troupe::recipe {

using Text = Field<std::string_view>;

struct ChatImageUrl {
  Text url;
  Text detail;
  static constexpr auto kMembers =
      std::tuple{member("url", &ChatImageUrl::url), member("detail", &ChatImageUrl::detail)};
};

struct ChatPart {
  Text type;
  Text text;
  Text refusal;
  Field<ChatImageUrl> image_url;
  Text file_id;
  Text file_data;
  Text filename;
  static constexpr auto kMembers =
      std::tuple{member("type", &ChatPart::type),        member("text", &ChatPart::text),
                 member("refusal", &ChatPart::refusal),  member("image_url", &ChatPart::image_url),
                 member("file_id", &ChatPart::file_id),  member("file_data", &ChatPart::file_data),
                 member("filename", &ChatPart::filename)};
};

using ChatContent = Either<std::string_view, List<ChatPart>>;

struct ChatCallFunction {
  Text name;
  Text arguments;
  static constexpr auto kMembers = std::tuple{member("name", &ChatCallFunction::name),
                                              member("arguments", &ChatCallFunction::arguments)};
};

struct ChatCall {
  Text id;
  Text type;
  Field<ChatCallFunction> function;
  static constexpr auto kMembers =
      std::tuple{member("id", &ChatCall::id), member("type", &ChatCall::type),
                 member("function", &ChatCall::function)};
};

struct ChatMessageBody {
  Text role;
  Field<ChatContent> content;
  Text name;
  Text reasoning_content;
  Text reasoning;  ///< the same by another name, in the default mode
  Field<bool> prefix;
  Field<List<ChatCall>> tool_calls;
  Text tool_call_id;
  static constexpr auto kMembers =
      std::tuple{member("role", &ChatMessageBody::role),
                 member("content", &ChatMessageBody::content),
                 member("name", &ChatMessageBody::name),
                 member("reasoning_content", &ChatMessageBody::reasoning_content),
                 member("reasoning", &ChatMessageBody::reasoning),
                 member("prefix", &ChatMessageBody::prefix),
                 member("tool_calls", &ChatMessageBody::tool_calls),
                 member("tool_call_id", &ChatMessageBody::tool_call_id)};
};

struct ChatToolFunction {
  Text name;
  Text description;
  Field<JsonPart> parameters;
  Field<bool> strict;
  static constexpr auto kMembers = std::tuple{member("name", &ChatToolFunction::name),
                                              member("description", &ChatToolFunction::description),
                                              member("parameters", &ChatToolFunction::parameters),
                                              member("strict", &ChatToolFunction::strict)};
};

struct ChatTool {
  Text type;
  Field<ChatToolFunction> function;
  static constexpr auto kMembers =
      std::tuple{member("type", &ChatTool::type), member("function", &ChatTool::function)};
};

struct NamedChoice {
  Text name;
  static constexpr auto kMembers = std::tuple{member("name", &NamedChoice::name)};
};

struct ChatToolChoice {
  Text type;
  Field<NamedChoice> function;
  static constexpr auto kMembers = std::tuple{member("type", &ChatToolChoice::type),
                                              member("function", &ChatToolChoice::function)};
};

struct ChatJsonSchema {
  Text name;
  Field<JsonPart> schema;
  Field<bool> strict;
  static constexpr auto kMembers =
      std::tuple{member("name", &ChatJsonSchema::name), member("schema", &ChatJsonSchema::schema),
                 member("strict", &ChatJsonSchema::strict)};
};

struct ChatFormat {
  Text type;
  Field<ChatJsonSchema> json_schema;
  Text regex;
  static constexpr auto kMembers =
      std::tuple{member("type", &ChatFormat::type), member("json_schema", &ChatFormat::json_schema),
                 member("regex", &ChatFormat::regex)};
};

struct ChatStreamOptions {
  Field<bool> include_usage;
  static constexpr auto kMembers =
      std::tuple{member("include_usage", &ChatStreamOptions::include_usage)};
};

/// What the default mode knows beside the reference, or refuses by name.
struct ChatExtensions {
  Field<Number> max_completion_tokens;
  Field<Number> top_k;
  Field<Number> min_p;
  Field<JsonPart> logit_bias;
  Field<bool> ignore_eos;
  Field<Number> min_tokens;
  Field<JsonPart> best_of;
  Field<JsonPart> use_beam_search;
  Field<JsonPart> repetition_penalty;
  Field<JsonPart> stop_token_ids;
  Field<JsonPart> prompt_logprobs;
  Field<JsonPart> length_penalty;
  Field<JsonPart> include_stop_str_in_output;
  Field<JsonPart> bad_words;
  Field<JsonPart> allowed_token_ids;
  Field<JsonPart> return_token_ids;
  Field<JsonPart> skip_special_tokens;
  Field<JsonPart> echo;
  Field<JsonPart> add_generation_prompt;
  Field<JsonPart> continue_final_message;
  Field<JsonPart> chat_template;
  Field<JsonPart> chat_template_kwargs;
  Field<JsonPart> truncate_prompt_tokens;
  Field<JsonPart> guided_json;
  Field<JsonPart> guided_regex;
  Field<JsonPart> guided_choice;
  Field<JsonPart> guided_grammar;
  Field<JsonPart> structured_outputs;
  Field<JsonPart> json_schema;
  Field<JsonPart> regex;
  Field<JsonPart> ebnf;
  Field<JsonPart> lora_path;
  Field<JsonPart> functions;
  Field<JsonPart> function_call;
  Field<JsonPart> audio;
  Field<JsonPart> modalities;
  Field<JsonPart> web_search_options;
};

struct ChatBody : ChatExtensions {
  Text model;
  Field<List<ChatMessageBody>> messages;
  Field<bool> stream;
  Field<ChatStreamOptions> stream_options;
  Field<Number> max_tokens;
  Field<Number> temperature;
  Field<Number> top_p;
  Field<Number> n;
  Field<Number> seed;
  Field<Number> presence_penalty;
  Field<Number> frequency_penalty;
  Field<bool> logprobs;
  Field<Number> top_logprobs;
  Field<Either<std::string_view, List<std::string_view>>> stop;
  Field<List<ChatTool>> tools;
  Field<Either<std::string_view, ChatToolChoice>> tool_choice;
  Field<bool> parallel_tool_calls;
  Field<ChatFormat> response_format;
  Field<ThinkingBody> thinking;
  Text reasoning_effort;
  Field<JsonPart> user;

  static constexpr auto kMembers =
      std::tuple{member("model", &ChatBody::model),
                 member("messages", &ChatBody::messages),
                 member("stream", &ChatBody::stream),
                 member("stream_options", &ChatBody::stream_options),
                 member("max_tokens", &ChatBody::max_tokens),
                 member("temperature", &ChatBody::temperature),
                 member("top_p", &ChatBody::top_p),
                 member("n", &ChatBody::n),
                 member("seed", &ChatBody::seed),
                 member("presence_penalty", &ChatBody::presence_penalty),
                 member("frequency_penalty", &ChatBody::frequency_penalty),
                 member("logprobs", &ChatBody::logprobs),
                 member("top_logprobs", &ChatBody::top_logprobs),
                 member("stop", &ChatBody::stop),
                 member("tools", &ChatBody::tools),
                 member("tool_choice", &ChatBody::tool_choice),
                 member("parallel_tool_calls", &ChatBody::parallel_tool_calls),
                 member("response_format", &ChatBody::response_format),
                 member("thinking", &ChatBody::thinking),
                 member("reasoning_effort", &ChatBody::reasoning_effort),
                 member("user", &ChatBody::user),
                 member("max_completion_tokens", &ChatExtensions::max_completion_tokens),
                 member("top_k", &ChatExtensions::top_k),
                 member("min_p", &ChatExtensions::min_p),
                 member("logit_bias", &ChatExtensions::logit_bias),
                 member("ignore_eos", &ChatExtensions::ignore_eos),
                 member("min_tokens", &ChatExtensions::min_tokens),
                 member("best_of", &ChatExtensions::best_of),
                 member("use_beam_search", &ChatExtensions::use_beam_search),
                 member("repetition_penalty", &ChatExtensions::repetition_penalty),
                 member("stop_token_ids", &ChatExtensions::stop_token_ids),
                 member("prompt_logprobs", &ChatExtensions::prompt_logprobs),
                 member("length_penalty", &ChatExtensions::length_penalty),
                 member("include_stop_str_in_output", &ChatExtensions::include_stop_str_in_output),
                 member("bad_words", &ChatExtensions::bad_words),
                 member("allowed_token_ids", &ChatExtensions::allowed_token_ids),
                 member("return_token_ids", &ChatExtensions::return_token_ids),
                 member("skip_special_tokens", &ChatExtensions::skip_special_tokens),
                 member("echo", &ChatExtensions::echo),
                 member("add_generation_prompt", &ChatExtensions::add_generation_prompt),
                 member("continue_final_message", &ChatExtensions::continue_final_message),
                 member("chat_template", &ChatExtensions::chat_template),
                 member("chat_template_kwargs", &ChatExtensions::chat_template_kwargs),
                 member("truncate_prompt_tokens", &ChatExtensions::truncate_prompt_tokens),
                 member("guided_json", &ChatExtensions::guided_json),
                 member("guided_regex", &ChatExtensions::guided_regex),
                 member("guided_choice", &ChatExtensions::guided_choice),
                 member("guided_grammar", &ChatExtensions::guided_grammar),
                 member("structured_outputs", &ChatExtensions::structured_outputs),
                 member("json_schema", &ChatExtensions::json_schema),
                 member("regex", &ChatExtensions::regex),
                 member("ebnf", &ChatExtensions::ebnf),
                 member("lora_path", &ChatExtensions::lora_path),
                 member("functions", &ChatExtensions::functions),
                 member("function_call", &ChatExtensions::function_call),
                 member("audio", &ChatExtensions::audio),
                 member("modalities", &ChatExtensions::modalities),
                 member("web_search_options", &ChatExtensions::web_search_options)};
};

/// True if the body has the protocol's shape.
bool check_shape(const ChatBody& body, ShapeCheck& check);

}  // namespace troupe::recipe
