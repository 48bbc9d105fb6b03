// One case of `troupe recipe`, as a JSON object: what goes in and, for check, what must come out.
//
//   {"id": ..., "kind": "encode", "protocol": "chat", "model": ..., "input": {...}, "expect":
//   {...}}
//
// Kinds and their members (recipe SPEC section 8):
//   encode, error  input: request (object) or request_text (string), options
//   limits         the same, prompt_tokens, context_limit
//   tokenize       input: text
//   stream         input: request, id, response_model, chunks, generator
//
// An object without "input" is taken for a plain request body, so that one can be looked at as it
// was caught on the wire.
//
// Ownership: a Vector owns the JSON that it was read from. Threads: plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe {

enum class VectorKind : unsigned char { kEncode, kError, kLimits, kTokenize, kStream };

std::string_view to_string(VectorKind kind);

class Vector {
 public:
  using Index = JsonTape::Index;

  /// kInvalid says which member is missing or wrong. `protocol`: that of a plain request body.
  static Result<Vector> parse(std::string_view json, recipe::Protocol protocol,
                              std::string place = "-");

  VectorKind kind() const { return kind_; }
  /// The whole document is a request body.
  bool is_plain() const { return plain_; }
  recipe::Protocol protocol() const { return protocol_; }
  std::string_view id() const { return text_of(root_member("id")); }
  /// Where it stands: "FILE:LINE", or "FILE[3]" for the fourth of a list.
  const std::string& place() const { return place_; }
  /// For people: its id and its place.
  std::string name() const;
  std::string_view model() const { return text_of(root_member("model")); }

  const JsonTape& tape() const { return document_.tape(); }
  /// A member of "input"; kNone if there is none.
  Index input(std::string_view name) const;
  /// "expect"; kNone if there is none.
  Index expect() const { return root_member("expect"); }
  /// Whether there is a member to compare in it.
  bool expects_something() const;
  /// "" unless it is a string.
  std::string_view text_of(Index index) const;

  /// The request body, as a server would get it.
  std::string body() const;
  /// The "model" of the request; "" if it has none.
  std::string_view request_model() const;

 private:
  explicit Vector(JsonDocument document) : document_(std::move(document)) {}

  Index root_member(std::string_view name) const;

  JsonDocument document_;
  std::string place_;
  VectorKind kind_ = VectorKind::kEncode;
  recipe::Protocol protocol_ = recipe::Protocol::kChat;
  bool plain_ = false;
};

/// The vectors of a text, at least one: JSON Lines, one value of any layout, or an array of them.
/// `file` is what errors and places call it.
Result<std::vector<Vector>> read_vectors(std::string_view text, recipe::Protocol protocol,
                                         const std::string& file = "stdin");

std::string_view to_string(recipe::Protocol protocol);

/// By the names "chat", "responses" and "messages".
std::optional<recipe::Protocol> find_protocol(std::string_view name);

}  // namespace troupe
