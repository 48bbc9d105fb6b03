#include "runtime/recipe/tokenizer/hf_pre_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

struct Known {
  std::string_view name;
  std::string_view structure;  ///< as outline() writes it
};

// In the order of pre_tokenizer.hpp. "words" is the byte-level step that also splits as GPT-2 does,
// "bytes" the same step without.
constexpr std::array kKnown = std::to_array<Known>({
    {"gpt-2", "words"},
    {"smollm", "digits words"},
    {"llama-bpe", R"(split/(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                  R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/ bytes)"},
    {"qwen2", R"(split/(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
              R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/ bytes)"},
    {"deepseek-v3",
     "split/\\p{N}{1,3}/ split/[一-龥぀-ゟ゠-ヿ]+/ "
     "split/[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
     "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
     "\\s*[\r\n]+|\\s+(?!\\S)|\\s+/ bytes"},
});

std::string_view text_of(const rapidjson::Value& object, const char* name) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

/// A flag, `otherwise` if the object does not have it.
bool flag_of(const rapidjson::Value& object, const char* name, bool otherwise) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsBool()) return otherwise;
  return found->value.GetBool();
}

/// The outline of one step, "unknown" if it is none that we do.
std::string outline_of_step(const rapidjson::Value& step) {
  if (!step.IsObject()) return "unknown";
  const std::string_view type = text_of(step, "type");
  if (type == "ByteLevel" && !flag_of(step, "add_prefix_space", true)) {
    return flag_of(step, "use_regex", true) ? "words" : "bytes";
  }
  if (type == "Digits" && flag_of(step, "individual_digits", false)) return "digits";
  if (type == "Split" && text_of(step, "behavior") == "Isolated" &&
      !flag_of(step, "invert", false)) {
    const auto pattern = step.FindMember("pattern");
    if (pattern != step.MemberEnd() && pattern->value.IsObject()) {
      return "split/" + std::string(text_of(pattern->value, "Regex")) + "/";
    }
  }
  return "unknown step " + excerpt(type, 64);
}

std::string outline(const rapidjson::Value& section) {
  if (!section.IsObject()) return "none";
  if (text_of(section, "type") != "Sequence") return outline_of_step(section);
  const auto steps = section.FindMember("pretokenizers");
  if (steps == section.MemberEnd() || !steps->value.IsArray()) return "unknown";
  std::string all;
  for (const auto& step : steps->value.GetArray()) {
    all.append(all.empty() ? "" : " ").append(outline_of_step(step));
  }
  return all;
}

}  // namespace

Result<std::string_view> recognize_pre_tokenizer(const rapidjson::Value& section) {
  const std::string structure = outline(section);
  const auto found = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const Known& known) { return known.structure == structure; });
  if (found != kKnown.end()) return found->name;
  std::string message = "its pre_tokenizer (" + excerpt(structure, 300) + ") is not known; it is";
  for (const Known& known : kKnown) message.append(" not ").append(known.name).append(",");
  message.back() = '.';
  return Error{Code::kUnsupported, message};
}

}  // namespace troupe
