// How fast tokens become events: the stream part of the reference's own measurement, in this
// process, CPU time of the thread.
//
//   bench_recipe_stream [--quick] FILE    FILE: {"tokenizer": PATH, "text": [ids], "tool": [ids]}
//
// Prints one line of JSON: tokens and tokens a second of CPU time for "text" and "tool", one token
// a push and eight, every event written as JSON; and how many events there were. The ids come from
// the caller, so that reference and library parse the very same ones.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/stream/stream_processor.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "tests/bench/figure.hpp"

namespace troupe::recipe {
namespace {

class Counter final : public EventSink {
 public:
  void event(std::string_view, std::string_view json) override {
    ++events;
    bytes += json.size();
  }
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

std::vector<Chunk> chunks_of(const JsonTape& tape, JsonTape::Index list, std::size_t size) {
  std::vector<Chunk> chunks;
  TokensChunk chunk;
  tape.each(list, [&](auto, JsonTape::Index at) {
    const auto id = json_unsigned(tape.text(at)).value_or(0);
    chunk.ids.push_back(TokenId(static_cast<std::int32_t>(id)));
    if (chunk.ids.size() < size) return;
    chunks.push_back(std::exchange(chunk, {}));
  });
  if (!chunk.ids.empty()) chunks.push_back(chunk);
  return chunks;
}

/// The same options as the reference's measurement: Chat, thinking, with tools.
Counter parse(const std::vector<Chunk>& chunks, std::shared_ptr<const Tokenizer> tokenizer) {
  ParsingOptions parsing;
  parsing.compat = Compat::kDeepseek;
  parsing.tools = true;
  Counter counter;
  StreamProcessor processor(parsing, {}, {.id = "i", .model = "m"}, std::move(tokenizer));
  bool ok = processor.push(ReadyChunk{}, counter).ok();
  for (const Chunk& chunk : chunks) ok = ok && processor.push(chunk, counter).ok();
  ok = ok && processor.push(FinishChunk{}, counter).ok();
  TROUPE_ASSERT(ok, "the measured answer is well-formed");
  return counter;
}

void measure(const char* name, const JsonTape& tape, JsonTape::Index list, std::size_t size,
             const std::shared_ptr<const Tokenizer>& tokenizer, double seconds) {
  const std::vector<Chunk> chunks = chunks_of(tape, list, size);
  double best = 1e9;
  Counter counter;
  const double begin = bench::cpu_seconds();
  for (int run = 0; run < 3 || bench::cpu_seconds() - begin < seconds; ++run) {
    const double start = bench::cpu_seconds();
    counter = parse(chunks, tokenizer);
    best = std::min(best, bench::cpu_seconds() - start);
  }
  const double tokens = static_cast<double>(tape.count(list));
  std::printf(",\"%s_split%zu_cpu_tok_per_s\":%.0f,\"%s_split%zu_events\":%llu", name, size,
              tokens / best, name, size, static_cast<unsigned long long>(counter.events));
}

int run(const std::string& path, bool quick) {
  std::ifstream in(path, std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(in)), {});
  const auto document = JsonDocument::parse(json);
  if (!document) return std::fprintf(stderr, "%s is no JSON\n", path.c_str()), 2;
  const JsonTape& tape = document->tape();
  const auto file = tape.find(JsonDocument::kRoot, "tokenizer");
  const auto text = tape.find(JsonDocument::kRoot, "text");
  const auto tool = tape.find(JsonDocument::kRoot, "tool");
  if (file == JsonTape::kNone || text == JsonTape::kNone || tool == JsonTape::kNone) {
    return std::fprintf(stderr, "%s lacks tokenizer, text or tool\n", path.c_str()), 2;
  }
  const auto tokenizer = load_tokenizer_file(std::string(tape.text(file)));
  if (!tokenizer.ok()) {
    return std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str()), 2;
  }
  std::printf("{\"tokens\":[%zu,%zu]", tape.count(text), tape.count(tool));
  for (const std::size_t size : {std::size_t{1}, std::size_t{8}}) {
    measure("text", tape, text, size, *tokenizer, quick ? 0.3 : 1.5);
    measure("tool", tape, tool, size, *tokenizer, quick ? 0.3 : 1.5);
  }
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace troupe::recipe

int main(int argc, char** argv) {
  std::string path;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') path = argv[i];
  }
  return troupe::recipe::run(path, troupe::bench::parse(argc, argv).quick);
}
