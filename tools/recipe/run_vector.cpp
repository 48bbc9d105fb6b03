#include "tools/recipe/run_vector.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <variant>

#include "runtime/base/digest.hpp"
#include "runtime/recipe/request/error_body.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/tokenizer/prompt_tokens.hpp"
#include "tools/recipe/converted_json.hpp"

namespace troupe {
namespace {

using recipe::ConversationRequest;
using recipe::RequestError;

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// A JSON list; `print` appends the element.
template <class List, class Print>
std::string list_of(const List& list, Print print) {
  std::string out = "[";
  for (const auto& element : list) {
    if (out.size() > 1) out += ", ";
    print(out, element);
  }
  return out + "]";
}

std::string ids_json(const std::vector<TokenId>& ids) {
  return list_of(ids, [](std::string& out, TokenId id) { out += std::to_string(id.value); });
}

/// Pins ids where they are not to be written down: 16 hex digits of runtime/base/digest.hpp.
std::string digest_of(const std::vector<TokenId>& ids) {
  Digest digest;
  for (const TokenId id : ids) digest.add(static_cast<std::uint64_t>(id.value));
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, digest.value());
  return digits;
}

std::string ranges_json(const std::vector<recipe::ByteRange>& ranges) {
  return list_of(ranges, [](std::string& out, const recipe::ByteRange& range) {
    out += "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + "]";
  });
}

std::uint64_t number_of(const Vector& vector, std::string_view name) {
  const auto index = vector.input(name);
  if (index == JsonTape::kNone || vector.tape().kind(index) != JsonKind::kNumber) return 0;
  return json_unsigned(vector.tape().text(index)).value_or(0);
}

Result<VectorResult> run_request(const Vector& vector, RecipeLab& lab, bool with_ids) {
  TROUPE_TRY_ASSIGN(const auto converted, convert_vector(vector, lab));
  if (const auto* refused = std::get_if<RequestError>(&converted)) {
    return refusal_of(*refused, vector.protocol(), lab);
  }
  const auto& request = std::get<ConversationRequest>(converted);
  TROUPE_TRY_ASSIGN(const auto encoding, lab.encoding(request.version));
  const auto rendered = encoding->render(request.conversation);
  if (!rendered.ok()) {
    return VectorResult{{"stage", "\"render\""}, {"message", json_text(rendered.error().message)}};
  }
  const recipe::RenderedPrompt& prompt = *rendered;
  VectorResult result;
  result.emplace_back("prompt", json_text(prompt.text));
  result.emplace_back("special_ranges_bytes", ranges_json(prompt.specials));
  if (with_ids) {
    TROUPE_TRY_ASSIGN(const auto tokenizer, lab.tokenizer(request.version));
    TROUPE_TRY_ASSIGN(const auto ids,
                      recipe::encode_prompt(*tokenizer, prompt, lab.options().threads));
    result.emplace_back("token_ids", ids_json(ids));
    result.emplace_back("token_ids_digest", json_text(digest_of(ids)));
  }
  result.emplace_back("image_sources", image_sources_json(prompt));
  result.emplace_back("converted", converted_json(request));
  return result;
}

Result<VectorResult> run_limits(const Vector& vector, RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(const auto converted, convert_vector(vector, lab));
  if (const auto* refused = std::get_if<RequestError>(&converted)) {
    return refusal_of(*refused, vector.protocol(), lab);
  }
  const auto tokens = recipe::resolve_max_tokens(std::get<ConversationRequest>(converted),
                                                 number_of(vector, "prompt_tokens"),
                                                 number_of(vector, "context_limit"));
  if (const auto* refused = std::get_if<RequestError>(&tokens)) {
    return refusal_of(*refused, vector.protocol(), lab);
  }
  return VectorResult{{"max_tokens", std::to_string(std::get<std::uint32_t>(tokens))}};
}

Result<VectorResult> run_tokenize(const Vector& vector, RecipeLab& lab) {
  const std::string_view text = vector.text_of(vector.input("text"));
  const bool v41 = vector.model().find("V4.1") != std::string_view::npos;
  TROUPE_TRY_ASSIGN(const auto tokenizer, lab.tokenizer(v41 ? recipe::ModelVersion::kDeepseekV41
                                                            : recipe::ModelVersion::kDeepseekV4));
  std::vector<TokenId> plain;
  tokenizer->encode_plain(text, plain);
  return VectorResult{{"plain_ids", ids_json(plain)},
                      {"full_vocab_ids", ids_json(tokenizer->encode(text, true))}};
}

}  // namespace

Result<std::variant<ConversationRequest, RequestError>> convert_vector(const Vector& vector,
                                                                       RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(const auto options, conversion_options_of(vector, lab));
  auto converted = recipe::convert_request(vector.protocol(), vector.body(), options);
  if (auto* refused = std::get_if<RequestError>(&converted)) lab.explain(*refused);
  return converted;
}

Result<std::string> prompt_text(const Vector& vector, RecipeLab& lab, bool highlight) {
  TROUPE_TRY_ASSIGN(const auto converted, convert_vector(vector, lab));
  if (const auto* refused = std::get_if<RequestError>(&converted)) {
    return Error{Code::kInvalid, refused->message};
  }
  const auto& request = std::get<ConversationRequest>(converted);
  TROUPE_TRY_ASSIGN(const auto encoding, lab.encoding(request.version));
  TROUPE_TRY_ASSIGN(const auto prompt, encoding->render(request.conversation));
  if (!highlight) return prompt.text;
  constexpr std::string_view kReverse = "\x1b[7m", kPlain = "\x1b[0m";
  std::string text;
  std::size_t at = 0;
  for (const recipe::ByteRange& special : prompt.specials) {
    text.append(prompt.text, at, special.begin - at).append(kReverse);
    text.append(prompt.text, special.begin, special.end - special.begin).append(kPlain);
    at = special.end;
  }
  return text.append(prompt.text, at);
}

const std::string* find_member(const VectorResult& result, std::string_view name) {
  const auto found = std::find_if(result.begin(), result.end(),
                                  [&](const auto& member) { return member.first == name; });
  return found == result.end() ? nullptr : &found->second;
}

VectorResult refusal_of(const RequestError& error, recipe::Protocol protocol,
                        const RecipeLab& lab) {
  const bool parse = error.stage == RequestError::Stage::kParse;
  return {{"stage", parse ? "\"parse\"" : "\"convert\""},
          {"status", std::to_string(error.status)},
          {"message", json_text(error.message)},
          {"body", recipe::error_body(protocol, lab.options().compat, error)}};
}

Result<recipe::ConversionOptions> conversion_options_of(const Vector& vector, RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(auto options, lab.conversion_options(vector.request_model()));
  const auto index = vector.input("options");
  const JsonTape& tape = vector.tape();
  if (index == JsonTape::kNone || tape.kind(index) != JsonKind::kObject) return options;
  std::string unknown;
  tape.each(index, [&](std::string_view name, JsonTape::Index value) {
    const std::string_view text = vector.text_of(value);
    if (name == "default_thinking_mode") {
      options.default_thinking = tape.kind(value) == JsonKind::kTrue;
    } else if (name == "reasoning_content_behavior") {
      options.reject_missing_reasoning = text == "Reject";
    } else if (name == "responses_web_search") {
      options.responses_web_search_rejected = text == "Reject";
    } else if (name == "messages_web_search") {
      options.messages_web_search_rejected = text == "Reject";
    } else {
      unknown = name;
    }
  });
  if (unknown.empty()) return options;
  return Error{Code::kInvalid, std::string(vector.id()) + ": unknown option '" + unknown + "'"};
}

Result<VectorResult> run_vector(const Vector& vector, RecipeLab& lab, bool with_ids) {
  switch (vector.kind()) {
    case VectorKind::kEncode:
    case VectorKind::kError:
      return run_request(vector, lab, with_ids);
    case VectorKind::kLimits:
      return run_limits(vector, lab);
    case VectorKind::kTokenize:
      return run_tokenize(vector, lab);
    case VectorKind::kStream:
      return run_stream(vector, lab);
  }
  return Error{Code::kInternal, "a vector has a kind"};
}

}  // namespace troupe
