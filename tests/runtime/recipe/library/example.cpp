// From a request to token ids and from an answer to events, with the one header of the library.
#include <cstdio>

#include "runtime/recipe/recipe.hpp"

using namespace troupe::recipe;

struct Printer : EventSink {
  void event(std::string_view, std::string_view json) override {
    std::printf("data: %.*s\n\n", static_cast<int>(json.size()), json.data());
  }
};

int main() {
  ConversionOptions options;
  options.models["my-model"] = ModelVersion::kChatml;
  const auto converted = convert_request(
      Protocol::kChat,
      R"({"model": "my-model", "stream": true, "messages": [{"role": "user", "content": "Hi"}]})",
      options);
  if (const auto* error = std::get_if<RequestError>(&converted)) {
    std::puts(error_body(Protocol::kChat, options.compat, *error).c_str());
    return 1;
  }
  const auto& request = std::get<ConversationRequest>(converted);
  const auto tokenizer = troupe::ByteTokenizer::build();  // a model's: load_tokenizer_file(path)
  const auto encoding = make_encoding("chatml", nullptr).value();  // DeepSeek's need a prompt pack
  const auto prompt = encoding->render(request.conversation).value();
  const auto ids = encode_prompt(*tokenizer, prompt).value();
  std::printf("%zu tokens:\n%s\n", ids.size(), prompt.text.c_str());

  Printer printer;
  StreamProcessor answer(request.parsing, request.answer, {.id = "chatcmpl-1", .model = "my-model"},
                         tokenizer);
  for (const Chunk& chunk : {Chunk(ReadyChunk{.prompt_tokens = ids.size()}),
                             Chunk(TokensChunk{.ids = tokenizer->encode("Hello!")}),
                             Chunk(FinishChunk{EngineFinish::kStop})}) {
    if (!answer.push(chunk, printer).ok()) return 1;
  }
  std::printf("data: %s\n", std::string(done_data(Protocol::kChat)).c_str());
}
