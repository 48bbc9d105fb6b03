// Any bytes as a tokenizer.json: a tokenizer or an error, and a tokenizer that keeps its promises
// on the same bytes as text.
#include <string_view>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "runtime/recipe/tokenizer/prompt_tokens.hpp"

namespace {

/// Of the file as text: enough to hold some words, and fast whatever the file says.
constexpr std::size_t kTextBytes = 512;

void use(const troupe::Tokenizer& tokenizer, std::string_view text) {
  using troupe::TokenId;
  std::vector<TokenId> plain;
  tokenizer.encode_plain(text, plain);
  for (const TokenId id : plain) {
    TROUPE_ASSERT(!tokenizer.is_added(id), "plain text has no added tokens");
    TROUPE_ASSERT(id.value >= 0 && static_cast<std::size_t>(id.value) < tokenizer.size(),
                  "ids are of the vocabulary");
  }
  const troupe::recipe::RenderedPrompt prompt{.text = std::string(text)};
  const auto run = [](std::size_t count, const std::function<void(std::size_t)>& job) {
    for (std::size_t i = 0; i < count; ++i) job(i);
  };
  const auto cut = troupe::recipe::encode_prompt(tokenizer, prompt, {run, 8}, 16);
  TROUPE_ASSERT(cut.ok() && *cut == plain, "cutting a text does not change its ids");
  for (const TokenId id : tokenizer.encode(text, true)) {
    TROUPE_ASSERT(static_cast<std::size_t>(id.value) < tokenizer.size(), "the same, in full");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto vocabulary = troupe::read_hf_tokenizer(text);
  if (!vocabulary.ok()) {
    TROUPE_ASSERT(!vocabulary.error().message.empty(), "an error says something");
    return 0;
  }
  const auto tokenizer = troupe::BpeTokenizer::build(*vocabulary);
  if (tokenizer.ok()) use(**tokenizer, text.substr(0, kTextBytes));
  return 0;
}
