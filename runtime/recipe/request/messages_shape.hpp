// The body of POST /v1/messages as it is read, and what must be so for it to be one. What it means
// is decided in messages_*.cpp. Source: recipe SPEC 3 and 7; what the reference ignores has no
// field here, except what the default mode knows or refuses by name.
#pragma once

#include <string_view>
#include <tuple>

#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"
#include "runtime/recipe/request/thinking.hpp"

namespace troupe::recipe {

/// Of an image or a document.
struct MessagesSource {
  Field<std::string_view> type;
  Field<std::string_view> media_type;
  Field<std::string_view> data;
  Field<std::string_view> url;
  Field<std::string_view> file_id;
  static constexpr auto kMembers = std::tuple{
      member("type", &MessagesSource::type), member("media_type", &MessagesSource::media_type),
      member("data", &MessagesSource::data), member("url", &MessagesSource::url),
      member("file_id", &MessagesSource::file_id)};
};

/// A block of any type within a tool's result.
struct MessagesInnerBlock {
  Field<std::string_view> type;
  Field<std::string_view> text;
  Field<MessagesSource> source;
  Field<std::string_view> tool_name;  ///< tool_reference
  static constexpr auto kMembers = std::tuple{member("type", &MessagesInnerBlock::type),
                                              member("text", &MessagesInnerBlock::text),
                                              member("source", &MessagesInnerBlock::source),
                                              member("tool_name", &MessagesInnerBlock::tool_name)};
};

struct MessagesToolReference {
  Field<std::string_view> type;
  Field<std::string_view> name;
  static constexpr auto kMembers = std::tuple{member("type", &MessagesToolReference::type),
                                              member("name", &MessagesToolReference::name)};
};

/// A block of any type within a message.
struct MessagesBlock : MessagesInnerBlock {
  Field<std::string_view> thinking;
  Field<std::string_view> signature;
  Field<std::string_view> id;
  Field<std::string_view> name;
  Field<JsonPart> input;
  Field<std::string_view> tool_use_id;
  Field<Either<std::string_view, List<MessagesInnerBlock>>> content;
  Field<bool> is_error;
  Field<MessagesToolReference> tool;  ///< tool_addition
  static constexpr auto kMembers = std::tuple_cat(
      MessagesInnerBlock::kMembers,
      std::tuple{member("thinking", &MessagesBlock::thinking),
                 member("signature", &MessagesBlock::signature), member("id", &MessagesBlock::id),
                 member("name", &MessagesBlock::name), member("input", &MessagesBlock::input),
                 member("tool_use_id", &MessagesBlock::tool_use_id),
                 member("content", &MessagesBlock::content),
                 member("is_error", &MessagesBlock::is_error),
                 member("tool", &MessagesBlock::tool)});
};

struct MessagesMessage {
  Field<std::string_view> role;
  Field<Either<std::string_view, List<MessagesBlock>>> content;
  static constexpr auto kMembers = std::tuple{member("role", &MessagesMessage::role),
                                              member("content", &MessagesMessage::content)};
};

struct MessagesTool {
  Field<std::string_view> type;
  Field<std::string_view> name;
  Field<std::string_view> description;
  Field<JsonPart> input_schema;
  Field<bool> defer_loading;
  static constexpr auto kMembers =
      std::tuple{member("type", &MessagesTool::type), member("name", &MessagesTool::name),
                 member("description", &MessagesTool::description),
                 member("input_schema", &MessagesTool::input_schema),
                 member("defer_loading", &MessagesTool::defer_loading)};
};

struct MessagesToolChoice {
  Field<std::string_view> type;
  Field<std::string_view> name;
  Field<bool> disable_parallel_tool_use;
  static constexpr auto kMembers = std::tuple{
      member("type", &MessagesToolChoice::type), member("name", &MessagesToolChoice::name),
      member("disable_parallel_tool_use", &MessagesToolChoice::disable_parallel_tool_use)};
};

struct MessagesFormat {
  Field<std::string_view> type;
  Field<JsonPart> schema;
  static constexpr auto kMembers =
      std::tuple{member("type", &MessagesFormat::type), member("schema", &MessagesFormat::schema)};
};

struct MessagesOutputConfig {
  Field<std::string_view> effort;
  Field<MessagesFormat> format;  ///< default mode
  static constexpr auto kMembers = std::tuple{member("effort", &MessagesOutputConfig::effort),
                                              member("format", &MessagesOutputConfig::format)};
};

struct MessagesMetadata {
  Field<std::string_view> user_id;
  static constexpr auto kMembers = std::tuple{member("user_id", &MessagesMetadata::user_id)};
};

struct MessagesBody {
  Field<std::string_view> model;
  Field<List<MessagesMessage>> messages;
  Field<Either<std::string_view, List<MessagesInnerBlock>>> system;
  Field<bool> stream;
  Field<Number> max_tokens;
  Field<Number> temperature;
  Field<Number> top_p;
  Field<List<std::string_view>> stop_sequences;
  Field<List<MessagesTool>> tools;
  Field<MessagesToolChoice> tool_choice;
  Field<ThinkingBody> thinking;
  Field<MessagesOutputConfig> output_config;
  Field<MessagesMetadata> metadata;
  // Known to the default mode, or refused by name there.
  Field<JsonPart> top_k;
  Field<MessagesFormat> output_format;
  Field<JsonPart> container;
  Field<JsonPart> mcp_servers;
  Field<JsonPart> thread;
  Field<JsonPart> compaction;

  static constexpr auto kMembers =
      std::tuple{member("model", &MessagesBody::model),
                 member("messages", &MessagesBody::messages),
                 member("system", &MessagesBody::system),
                 member("stream", &MessagesBody::stream),
                 member("max_tokens", &MessagesBody::max_tokens),
                 member("temperature", &MessagesBody::temperature),
                 member("top_p", &MessagesBody::top_p),
                 member("stop_sequences", &MessagesBody::stop_sequences),
                 member("tools", &MessagesBody::tools),
                 member("tool_choice", &MessagesBody::tool_choice),
                 member("thinking", &MessagesBody::thinking),
                 member("output_config", &MessagesBody::output_config),
                 member("metadata", &MessagesBody::metadata),
                 member("top_k", &MessagesBody::top_k),
                 member("output_format", &MessagesBody::output_format),
                 member("container", &MessagesBody::container),
                 member("mcp_servers", &MessagesBody::mcp_servers),
                 member("thread", &MessagesBody::thread),
                 member("compaction", &MessagesBody::compaction)};
};

/// True if the body has the protocol's shape.
bool check_shape(const MessagesBody& body, ShapeCheck& check);

}  // namespace troupe::recipe
