// What the converters of the three protocols share beside tools.hpp, sampling.hpp and images.hpp:
// names of models, response formats, the word "json", and how a converted request is completed.
//
// Source: recipe SPEC 1, 3.3, 3.4. Threads: one owner.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/encoding/prompt_pack.hpp"
#include "runtime/recipe/request/issues.hpp"
#include "runtime/recipe/request/thinking.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {

/// What every step of a conversion reads, and the request that it fills.
struct Conversion {
  const ConversionOptions& options;
  const JsonTape& tape;
  Issues& issues;
  ConversationRequest request;

  bool compat() const { return options.compat == Compat::kDeepseek; }
  ModelVersion version() const { return request.version; }
  bool is_v4() const { return version() == ModelVersion::kDeepseekV4; }
  /// The texts of the model's boiler-plate; null if there are none.
  const PromptPack* pack() const;
  /// Null if there is none.
  const Message* last_message() const;
  /// V4 sees a text of its pack instead.
  Part image_part(ImageSource image) const;
};

/// Sets model and version. False after failing. `name` not given: the default model.
bool read_model(const Field<std::string_view>& name, Conversion& conversion);

/// Sets thinking and effort, of the conversation and of the answer. `must_call`: a tool must be
/// called, which a model that thinks cannot be made to do; in default mode it then thinks only if
/// it was asked to (and the request fails later).
void set_thinking(const Thinking& thinking, bool must_call, Conversion& conversion);

/// Checks and sets a JSON schema as the response format, with its constraint. False after failing.
bool set_json_schema(JsonTape::Index schema, bool strict, Conversion& conversion);

/// Compat mode: a format, even plain text, is not taken beside strict tools. False after failing.
bool check_format_and_tools(bool format_given, Conversion& conversion);

/// True if a message's text (not reasoning, not calls) says "json" in any case.
bool says_json(const Conversation& conversation);

/// True if a message says nothing at all.
bool is_empty_text(const Message& message);

/// True if an assistant's message behind the last user's should say what it thought and does not:
/// one with calls, or any if there are tools to call. A call's id may show that it thought nothing
/// (the mark "ET" that stream/ puts into ids, SPEC 5.5). Never without thinking.
bool lacks_reasoning(const Conversation& conversation, bool has_tools);

/// Default mode: false after failing if an ordinary model (kChatml) is asked for what only
/// DeepSeek's formats can say: tools, their results, response formats.
bool check_ordinary_model(Conversion& conversion);

/// Where the answer begins and what is parsed in it, from the finished conversation; and the
/// constraint of tools, which takes precedence over that of a format.
void finish_parsing(Conversion& conversion);

}  // namespace troupe::recipe
