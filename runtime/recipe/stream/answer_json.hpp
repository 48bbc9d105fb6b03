// JSON that several answers share. Everything is appended; no allocation but that of `out`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/recipe/stream/answer.hpp"
#include "runtime/recipe/text/json_number.hpp"
#include "runtime/recipe/text/json_string.hpp"

namespace troupe::recipe {

/// The text of a delta of arguments: JSON as it is, text escaped. `scratch` may hold it.
std::string_view argument_json(const Delta& delta, std::string& scratch);

/// [{"token","logprob","bytes","top_logprobs"}] without the brackets. Bytes that are no UTF-8 are
/// spelled \xNN in kDeepseek, as U+FFFD otherwise.
void append_logprobs(std::string& out, std::span<const LoggedToken> tokens,
                     const AnswerContext& context);

/// {"prompt_tokens",...} of Chat.
void append_chat_usage(std::string& out, const Usage& usage, bool strict);
/// "stop", "length", "tool_calls", "content_filter" of Chat.
std::string_view chat_finish_reason(AnswerEnd end);

/// {"input_tokens",...} of Messages.
void append_messages_usage(std::string& out, const Usage& usage);
/// "stop_reason":...,"stop_sequence":... of Messages.
void append_messages_stop(std::string& out, const Outcome& outcome);

}  // namespace troupe::recipe
