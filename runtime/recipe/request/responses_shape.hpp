// The body of POST /v1/responses as it is read, and what must be so for it to be one. What it means
// is decided in responses_*.cpp. Source: recipe SPEC 3 and 7; what the reference ignores has no
// field here, except what the default mode refuses by name.
#pragma once

#include <string_view>
#include <tuple>

#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {

struct ResponsesPart {
  Field<std::string_view> type;
  Field<std::string_view> text;
  Field<std::string_view> refusal;
  Field<std::string_view> image_url;
  Field<std::string_view> file_id;
  Field<std::string_view> detail;
  static constexpr auto kMembers = std::tuple{
      member("type", &ResponsesPart::type),       member("text", &ResponsesPart::text),
      member("refusal", &ResponsesPart::refusal), member("image_url", &ResponsesPart::image_url),
      member("file_id", &ResponsesPart::file_id), member("detail", &ResponsesPart::detail)};
};

using ResponsesContent = Either<std::string_view, List<ResponsesPart>>;

/// A tool of any type, those within namespaces included.
struct ResponsesInnerTool {
  Field<std::string_view> type;
  Field<std::string_view> name;
  Field<std::string_view> description;
  Field<JsonPart> parameters;
  Field<bool> strict;
  static constexpr auto kMembers = std::tuple{
      member("type", &ResponsesInnerTool::type), member("name", &ResponsesInnerTool::name),
      member("description", &ResponsesInnerTool::description),
      member("parameters", &ResponsesInnerTool::parameters),
      member("strict", &ResponsesInnerTool::strict)};
};

struct ResponsesLocation {
  Field<std::string_view> city;
  Field<std::string_view> country;
  Field<std::string_view> region;
  Field<std::string_view> timezone;
  static constexpr auto kMembers = std::tuple{member("city", &ResponsesLocation::city),
                                              member("country", &ResponsesLocation::country),
                                              member("region", &ResponsesLocation::region),
                                              member("timezone", &ResponsesLocation::timezone)};
};

struct ResponsesTool : ResponsesInnerTool {
  Field<List<ResponsesInnerTool>> tools;        ///< namespace
  Field<std::string_view> execution;            ///< tool_search
  Field<std::string_view> search_context_size;  ///< web_search
  Field<ResponsesLocation> user_location;       ///< web_search
  static constexpr auto kMembers =
      std::tuple_cat(ResponsesInnerTool::kMembers,
                     std::tuple{member("tools", &ResponsesTool::tools),
                                member("execution", &ResponsesTool::execution),
                                member("search_context_size", &ResponsesTool::search_context_size),
                                member("user_location", &ResponsesTool::user_location)});
};

struct ReasoningText {
  Field<std::string_view> text;
  static constexpr auto kMembers = std::tuple{member("text", &ReasoningText::text)};
};

/// An item of any type. `content` of a message is a text or parts, of reasoning a list of texts.
struct ResponsesItem {
  Field<std::string_view> type;
  Field<std::string_view> role;
  Field<ResponsesContent> content;
  Field<std::string_view> call_id;
  Field<std::string_view> name;
  Field<std::string_view> space;  ///< "namespace"
  Field<JsonPart> arguments;      ///< function_call: a text; tool_search_call: an object
  Field<std::string_view> input;
  Field<ResponsesContent> output;
  Field<List<ResponsesTool>> tools;
  Field<std::string_view> execution;
  Field<std::string_view> encrypted_content;
  static constexpr auto kMembers =
      std::tuple{member("type", &ResponsesItem::type),
                 member("role", &ResponsesItem::role),
                 member("content", &ResponsesItem::content),
                 member("call_id", &ResponsesItem::call_id),
                 member("name", &ResponsesItem::name),
                 member("namespace", &ResponsesItem::space),
                 member("arguments", &ResponsesItem::arguments),
                 member("input", &ResponsesItem::input),
                 member("output", &ResponsesItem::output),
                 member("tools", &ResponsesItem::tools),
                 member("execution", &ResponsesItem::execution),
                 member("encrypted_content", &ResponsesItem::encrypted_content)};
};

struct ResponsesToolChoice {
  Field<std::string_view> type;
  Field<std::string_view> name;
  static constexpr auto kMembers = std::tuple{member("type", &ResponsesToolChoice::type),
                                              member("name", &ResponsesToolChoice::name)};
};

struct ResponsesFormat {
  Field<std::string_view> type;
  Field<std::string_view> name;
  Field<std::string_view> description;
  Field<JsonPart> schema;
  Field<bool> strict;
  static constexpr auto kMembers = std::tuple{
      member("type", &ResponsesFormat::type), member("name", &ResponsesFormat::name),
      member("description", &ResponsesFormat::description),
      member("schema", &ResponsesFormat::schema), member("strict", &ResponsesFormat::strict)};
};

struct ResponsesText {
  Field<ResponsesFormat> format;
  Field<std::string_view> verbosity;
  static constexpr auto kMembers = std::tuple{member("format", &ResponsesText::format),
                                              member("verbosity", &ResponsesText::verbosity)};
};

struct ResponsesReasoning {
  Field<std::string_view> effort;
  Field<std::string_view> summary;
  static constexpr auto kMembers =
      std::tuple{member("effort", &ResponsesReasoning::effort),
                 member("summary", &ResponsesReasoning::summary),
                 member("generate_summary", &ResponsesReasoning::summary)};
};

struct ResponsesBody {
  Field<std::string_view> model;
  Field<Either<std::string_view, List<ResponsesItem>>> input;
  Field<std::string_view> instructions;
  Field<bool> stream;
  Field<List<ResponsesTool>> tools;
  Field<Either<std::string_view, ResponsesToolChoice>> tool_choice;
  Field<ResponsesText> text;
  Field<ResponsesReasoning> reasoning;
  Field<Number> temperature;
  Field<Number> top_p;
  Field<Number> top_logprobs;
  Field<Number> max_output_tokens;
  Field<std::string_view> user;
  // Default mode.
  Field<bool> store;
  Field<JsonPart> metadata;
  Field<std::string_view> prompt_cache_key;
  Field<std::string_view> safety_identifier;
  // Refused by name in default mode.
  Field<JsonPart> previous_response_id;
  Field<JsonPart> conversation;
  Field<JsonPart> prompt;
  Field<JsonPart> background;
  Field<JsonPart> truncation;
  Field<JsonPart> parallel_tool_calls;

  static constexpr auto kMembers =
      std::tuple{member("model", &ResponsesBody::model),
                 member("input", &ResponsesBody::input),
                 member("instructions", &ResponsesBody::instructions),
                 member("stream", &ResponsesBody::stream),
                 member("tools", &ResponsesBody::tools),
                 member("tool_choice", &ResponsesBody::tool_choice),
                 member("text", &ResponsesBody::text),
                 member("reasoning", &ResponsesBody::reasoning),
                 member("temperature", &ResponsesBody::temperature),
                 member("top_p", &ResponsesBody::top_p),
                 member("top_logprobs", &ResponsesBody::top_logprobs),
                 member("max_output_tokens", &ResponsesBody::max_output_tokens),
                 member("user", &ResponsesBody::user),
                 member("store", &ResponsesBody::store),
                 member("metadata", &ResponsesBody::metadata),
                 member("prompt_cache_key", &ResponsesBody::prompt_cache_key),
                 member("safety_identifier", &ResponsesBody::safety_identifier),
                 member("previous_response_id", &ResponsesBody::previous_response_id),
                 member("conversation", &ResponsesBody::conversation),
                 member("prompt", &ResponsesBody::prompt),
                 member("background", &ResponsesBody::background),
                 member("truncation", &ResponsesBody::truncation),
                 member("parallel_tool_calls", &ResponsesBody::parallel_tool_calls)};
};

/// True if the body has the protocol's shape.
bool check_shape(const ResponsesBody& body, ShapeCheck& check);

}  // namespace troupe::recipe
