#include <charconv>
#include <limits>

#include "runtime/recipe/request/responses_convert.hpp"
#include "runtime/recipe/request/responses_tools.hpp"
#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {
namespace {

class Echo {
 public:
  Echo(const ResponsesBody& body, const Conversion& conversion)
      : body_(body), tape_(conversion.tape), compat_(conversion.compat()) {}

  std::string take() {
    name("instructions");
    append_text_or_null(body_.instructions, out_);
    name("max_output_tokens");
    whole(body_.max_output_tokens, "null");
    name("reasoning");
    out_ += "{\"effort\":";
    append_text_or_null(body_.reasoning.value.effort, out_);
    out_ += ",\"summary\":";
    append_text_or_null(body_.reasoning.value.summary, out_);
    out_ += '}';
    name("temperature");
    real(body_.temperature);
    name("text");
    text();
    name("tool_choice");
    choice();
    name("tools");
    tools();
    name("top_logprobs");
    whole(body_.top_logprobs, "0");
    name("top_p");
    real(body_.top_p);
    name("user");
    append_text_or_null(body_.user, out_);
    if (!compat_) default_mode();
    return std::move(out_) + "}";
  }

 private:
  void name(std::string_view member) {
    out_.append(out_.empty() ? "{\"" : ",\"").append(member).append("\":");
  }

  void default_mode() {
    name("prompt_cache_key");
    append_text_or_null(body_.prompt_cache_key, out_);
    name("safety_identifier");
    append_text_or_null(body_.safety_identifier, out_);
    const std::pair<const char*, const Field<JsonPart>*> parts[] = {
        {"parallel_tool_calls", &body_.parallel_tool_calls}, {"metadata", &body_.metadata}};
    for (const auto& [member, part] : parts) {
      if (!part->given()) continue;
      name(member);
      append_part_or_null(*part, tape_, out_);
    }
  }

  /// 16.0 and 1.6e1 are 16. Requires: checked.
  void whole(const Field<Number>& field, std::string_view otherwise) {
    constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
    const auto value =
        field.given() ? whole_number(field.value, kMax, Compat::kDefault) : std::nullopt;
    out_ += value ? std::to_string(*value) : std::string(otherwise);
  }

  /// In the fewest digits of a 32-bit number: 0.3, whatever the request's 0.3 became.
  void real(const Field<Number>& field) {
    const float asked = field.given() ? json_float_value(field.value.token) : 1;
    char digits[32];  // the shortest form of a float needs at most 16 characters
    const char* end = std::to_chars(digits, digits + sizeof digits, asked).ptr;
    append_json_number(out_, json_double({digits, static_cast<std::size_t>(end - digits)}),
                       JsonNumbers::kShort);
  }

  /// A token that is a double even if it has no fraction.
  static std::string json_double(std::string token) {
    return token.find_first_of(".e") == std::string::npos ? token + ".0" : token;
  }

  void text() {
    const ResponsesText& text = body_.text.value;
    const ResponsesFormat& format = text.format.value;
    out_ += "{\"format\":{\"type\":";
    append_json_string(out_, text.format.given() ? format.type.value : "text");
    if (text.format.given() && format.type.value == "json_schema") {
      out_ += ",\"name\":";
      append_json_string(out_, format.name.value);
      out_ += ",\"schema\":";
      tape_.print(format.schema.value.index, kCompactJson, out_);
      out_ += ",\"description\":";
      append_text_or_null(format.description, out_);
      out_ += ",\"strict\":";
      out_ += !format.strict.given() ? "null" : format.strict.value ? "true" : "false";
    }
    out_ += "},\"verbosity\":";
    append_text_or_null(text.verbosity, out_);
    out_ += '}';
  }

  void choice() {
    const auto& choice = body_.tool_choice.value;
    if (!choice.is_container) {
      append_json_string(out_, body_.tool_choice.given() ? choice.scalar : "auto");
      return;
    }
    out_ += "{\"type\":";
    append_json_string(out_, choice.container.type.value);
    if (!choice.container.type.value.starts_with("web_search")) {
      out_ += ",\"name\":";
      append_json_string(out_, choice.container.name.value);
    }
    out_ += '}';
  }

  void tools() {
    out_ += '[';
    for (const auto& tool : body_.tools.value) {
      if (!is_known_tool(tool.value.type.value)) continue;
      if (out_.back() != '[') out_ += ',';
      append_tool_json(tool.value, tape_, out_);
    }
    out_ += ']';
  }

  const ResponsesBody& body_;
  const JsonTape& tape_;
  const bool compat_;
  std::string out_;
};

}  // namespace

std::string responses_echo(const ResponsesBody& body, const Conversion& conversion) {
  return Echo(body, conversion).take();
}

}  // namespace troupe::recipe
