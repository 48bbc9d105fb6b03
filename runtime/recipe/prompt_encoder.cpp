#include "runtime/recipe/prompt_encoder.hpp"

#include <array>

#include "runtime/recipe/chatml.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

// From tokenizer.chat_template of SmolLM2-135M-Instruct.
constexpr const char* kSmollm2System =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

struct Row {
  std::string_view name;
  std::string_view mark;  // only this family's chat templates hold it; more special rows first
  std::shared_ptr<const PromptEncoder> (*build)();
};

constexpr std::array kRows = std::to_array<Row>({
    {"smollm2", "assistant named SmolLM",
     +[]() -> std::shared_ptr<const PromptEncoder> {
       return std::make_shared<ChatmlEncoder>(kSmollm2System);
     }},
    {"chatml", "<|im_start|>",
     +[]() -> std::shared_ptr<const PromptEncoder> { return std::make_shared<ChatmlEncoder>(""); }},
});

std::string known_names() {
  std::string names;
  for (const Row& row : kRows) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

}  // namespace

Result<std::shared_ptr<const PromptEncoder>> find_prompt_encoder(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.build();
  }
  return Error{Code::kUnsupported, "the prompt encoding \"" + excerpt(name, 64) +
                                       "\" is not known; known are " + known_names()};
}

Result<std::string_view> recognize_prompt_encoder(std::string_view chat_template) {
  for (const Row& row : kRows) {
    if (chat_template.find(row.mark) != std::string_view::npos) return row.name;
  }
  return Error{Code::kUnsupported,
               "the model's chat template belongs to no known prompt encoding (known are " +
                   known_names() + "); name one in the configuration"};
}

}  // namespace troupe
