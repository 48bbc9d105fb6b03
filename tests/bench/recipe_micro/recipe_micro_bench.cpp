// The parts of the recipe one by one, for whoever makes one of them faster (Google Benchmark).
//
//   bench_recipe_micro TOKENIZER.json PROMPT_PACK.json [--benchmark_filter=... and the like]
//
// Against the reference, in the same run: tools/bench recipe.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/rng.hpp"
#include "runtime/recipe/recipe.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe::recipe {
namespace {

std::shared_ptr<const Tokenizer> tokenizer;
std::shared_ptr<const Encoding> encoding;

/// About `size` bytes of words, digits, marks and Chinese, the same each time.
std::string prose(std::size_t size) {
  static constexpr const char* kWords[] = {"harbour", "tide", "the",       "before",
                                           "why",     "17",   "f(x)",      "港口今天刮大风",
                                           "\n\n",    "--",   "scheduler", "Bergen."};
  Rng rng(7);
  std::string text;
  while (text.size() < size) text.append(kWords[rng.below(std::size(kWords))]).append(" ");
  return text;
}

std::string chat_of(const std::string& content, const std::string& more) {
  std::string body = R"({"model":"DeepSeek-V4-Pro","messages":[{"role":"user","content":)";
  JsonWriter text;
  text.text(content);
  return body + text.take() + "}]" + more + "}";
}

ConversationRequest convert(const std::string& body) {
  auto converted = convert_request(Protocol::kChat, body, {});
  return std::move(std::get<ConversationRequest>(converted));
}

const std::string& long_body() {
  static const std::string body = chat_of(prose(430'000), "");
  return body;
}

void convert_long(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(convert(long_body()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(long_body().size()));
}
BENCHMARK(convert_long);

void render_long(benchmark::State& state) {
  const auto request = convert(long_body());
  for (auto _ : state) benchmark::DoNotOptimize(encoding->render(request.conversation).value());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(long_body().size()));
}
BENCHMARK(render_long);

void encode_long(benchmark::State& state) {
  const auto prompt = encoding->render(convert(long_body()).conversation).value();
  const auto threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(encode_prompt(*tokenizer, prompt, threads).value());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(prompt.text.size()));
}
BENCHMARK(encode_long)->Arg(1)->Arg(2)->UseRealTime();

void small_request_with_a_tool(benchmark::State& state) {
  const std::string body = chat_of(
      "Tide?", R"(,"tools":[{"type":"function","function":{"name":"tide","description":"d",)"
               R"("parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}])");
  for (auto _ : state) {
    const auto prompt = encoding->render(convert(body).conversation).value();
    benchmark::DoNotOptimize(encode_prompt(*tokenizer, prompt).value());
  }
}
BENCHMARK(small_request_with_a_tool);

class Discard final : public EventSink {
 public:
  void event(std::string_view, std::string_view json) override { bytes += json.size(); }
  std::size_t bytes = 0;
};

/// One token a push, in the default mode, as a node does it.
void stream(benchmark::State& state, const std::string& answer) {
  ParsingOptions parsing;
  parsing.tools = true;
  const auto ids = tokenizer->encode(answer, true);
  Discard sink;
  for (auto _ : state) {
    StreamProcessor processor(parsing, {}, {.id = "i", .model = "m"}, tokenizer);
    TokensChunk chunk;
    chunk.ids.resize(1);
    for (const TokenId id : ids) {
      chunk.ids[0] = id;
      if (!processor.push(chunk, sink).ok()) return state.SkipWithError("refused");
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ids.size()));
}

void stream_text(benchmark::State& state) {
  stream(state, prose(40'000) + "</think>" + prose(40'000));
}
BENCHMARK(stream_text);

void stream_arguments(benchmark::State& state) {
  stream(state,
         "r</think>\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"tide\">\n"
         "<｜DSML｜parameter name=\"s\" string=\"true\">" +
             prose(80'000));
}
BENCHMARK(stream_arguments);

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_recipe_micro TOKENIZER.json PROMPT_PACK.json\n");
    return 2;
  }
  const auto file = load_tokenizer_file(argv[1]);
  const auto pack = load_prompt_pack(argv[2], ModelVersion::kDeepseekV4);
  if (!file.ok() || !pack.ok()) {
    const Error& error = file.ok() ? pack.error() : file.error();
    return std::fprintf(stderr, "%s\n", error.message.c_str()), 2;
  }
  tokenizer = *file;
  encoding = make_encoding(ModelVersion::kDeepseekV4, std::make_shared<PromptPack>(*pack)).value();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace troupe::recipe

int main(int argc, char** argv) {
  return troupe::recipe::run(argc, argv);
}
