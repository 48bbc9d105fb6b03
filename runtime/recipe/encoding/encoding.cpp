#include "runtime/recipe/encoding/encoding.hpp"

#include <array>
#include <string>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/encoding/builders.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

using Pack = std::shared_ptr<const PromptPack>;
using Built = std::shared_ptr<const Encoding>;

// From tokenizer.chat_template of SmolLM2-135M-Instruct.
constexpr const char* kSmollm2System =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

struct Row {
  std::string_view name;
  std::string_view mark;  // only this family's chat templates hold it; more special rows first
  bool needs_pack;
  Built (*build)(Pack pack);
};

constexpr std::array kRows = std::to_array<Row>({
    {"deepseek-v4.1", "<｜System｜>", true, +[](Pack pack) { return build_v41(std::move(pack)); }},
    {"deepseek-v4", "<｜User｜>", true, +[](Pack pack) { return build_v4(std::move(pack)); }},
    {"smollm2", "assistant named SmolLM", false,
     +[](Pack) { return build_chatml(kSmollm2System); }},
    {"chatml", "<|im_start|>", false, +[](Pack) { return build_chatml(""); }},
});

std::string known_names() {
  std::string names;
  for (const Row& row : kRows) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

}  // namespace

Result<Built> make_encoding(std::string_view name, Pack pack) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    if (row.needs_pack && pack == nullptr) {
      return Error{Code::kInvalid, "the prompt encoding " + std::string(name) +
                                       " needs its prompt pack; 'troupe model pull " +
                                       std::string(name) + "' derives it"};
    }
    return row.build(std::move(pack));
  }
  return Error{Code::kUnsupported, "the prompt encoding \"" + excerpt(name, 64) +
                                       "\" is not known; known are " + known_names()};
}

Result<Built> make_encoding(ModelVersion version, Pack pack) {
  switch (version) {
    case ModelVersion::kDeepseekV4:
      return make_encoding("deepseek-v4", std::move(pack));
    case ModelVersion::kDeepseekV41:
      return make_encoding("deepseek-v4.1", std::move(pack));
    case ModelVersion::kChatml:
      return make_encoding("chatml", std::move(pack));
  }
  TROUPE_ASSERT(false, "a model version has an encoding");
  return Error{Code::kInternal, "no encoding"};
}

Result<std::string_view> recognize_encoding(std::string_view chat_template) {
  for (const Row& row : kRows) {
    if (chat_template.find(row.mark) != std::string_view::npos) return row.name;
  }
  return Error{Code::kUnsupported,
               "the model's chat template belongs to no known prompt encoding (known are " +
                   known_names() + "); name one in the configuration"};
}

}  // namespace troupe::recipe
