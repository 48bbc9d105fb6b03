// The same with a model's own files: the tokenizer and the prompt pack that `troupe model pull
// deepseek-v4` left in the folder that is the first argument (`troupe model list` names it).
#include <cstdio>
#include <filesystem>

#include "runtime/recipe/recipe.hpp"

using namespace troupe::recipe;

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  const std::string folder = argc > 1 ? argv[1] : ".";
  if (!std::filesystem::exists(folder + "/prompt_pack.json")) {
    std::printf("no pulled files in %s: 'troupe model pull deepseek-v4'\n", folder.c_str());
    return kSkipped;
  }
  const auto tokenizer = troupe::load_tokenizer_file(folder + "/tokenizer.json").value();
  const auto pack = std::make_shared<const PromptPack>(
      load_prompt_pack(folder + "/prompt_pack.json", ModelVersion::kDeepseekV4).value());
  const auto encoding = make_encoding("deepseek-v4", pack).value();
  ConversionOptions options;
  options.models["my-model"] = ModelVersion::kDeepseekV4;  // besides DeepSeek-V4-Pro
  options.pack_v4 = pack;  // conversion itself places a few of its texts
  const auto converted = convert_request(
      Protocol::kChat, R"({"model": "my-model", "messages": [{"role": "user", "content": "Hi"}]})",
      options);
  const auto& request = std::get<ConversationRequest>(converted);
  const auto prompt = encoding->render(request.conversation).value();
  for (const auto id : encode_prompt(*tokenizer, prompt).value()) std::printf("%d ", id.value);
  std::printf("\n%s\n", prompt.text.c_str());
}
