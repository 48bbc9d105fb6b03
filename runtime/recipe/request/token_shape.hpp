// The bodies of POST /tokenize and /detokenize as they are read (token_requests.hpp).
#pragma once

#include <string_view>
#include <tuple>

#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {

/// With `messages` it is a chat's body too.
struct TokenizeBody {
  Field<std::string_view> model;
  Field<std::string_view> prompt;
  Field<JsonPart> messages;
  Field<bool> add_special_tokens;
  Field<bool> return_token_strs;
  Field<bool> add_generation_prompt;
  Field<bool> continue_final_message;
  Field<JsonPart> chat_template;
  static constexpr auto kMembers =
      std::tuple{member("model", &TokenizeBody::model),
                 member("prompt", &TokenizeBody::prompt),
                 member("messages", &TokenizeBody::messages),
                 member("add_special_tokens", &TokenizeBody::add_special_tokens),
                 member("return_token_strs", &TokenizeBody::return_token_strs),
                 member("add_generation_prompt", &TokenizeBody::add_generation_prompt),
                 member("continue_final_message", &TokenizeBody::continue_final_message),
                 member("chat_template", &TokenizeBody::chat_template)};
};

struct DetokenizeBody {
  Field<std::string_view> model;
  Field<List<Number>> tokens;
  static constexpr auto kMembers = std::tuple{member("model", &DetokenizeBody::model),
                                              member("tokens", &DetokenizeBody::tokens)};
};

/// True if the body has the form.
bool check_shape(const TokenizeBody& body, ShapeCheck& check);
bool check_shape(const DetokenizeBody& body, ShapeCheck& check);

}  // namespace troupe::recipe
