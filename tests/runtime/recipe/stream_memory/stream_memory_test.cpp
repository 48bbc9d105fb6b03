// What a parser takes while it waits, and that a token takes nothing more. A program of its own,
// because it counts every allocation (figures recipe.parser_bytes, recipe.parser_allocs_per_token).
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace {

std::size_t allocations = 0;
std::size_t live_bytes = 0;

void* allocate(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  ++allocations;
  live_bytes += malloc_usable_size(memory);
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace troupe::recipe::test {
namespace {

class CountedBytes final : public EventSink {
 public:
  void event(std::string_view, std::string_view json) override { bytes += json.size(); }
  std::size_t bytes = 0;
};

AnswerOptions answer(Protocol protocol) {
  AnswerOptions options;
  options.protocol = protocol;
  return options;
}

Identity identity() {
  return {.id = "chatcmpl-0123456789abcdef0123456789abcdef", .model = "deepseek-v4"};
}

TEST(StreamMemory, an_idle_parser_takes_less_than_2_kb) {
  const auto tokenizer = tiny_tokenizer();
  for (const Protocol protocol : {Protocol::kChat, Protocol::kMessages}) {
    const ParsingOptions parsing = content_with_tools();
    CountedBytes events;
    const std::size_t before = live_bytes;
    auto processor =
        std::make_unique<StreamProcessor>(parsing, answer(protocol), identity(), tokenizer);
    ASSERT_TRUE(processor->push(ReadyChunk{100, 0, ""}, events).ok());
    const std::size_t bytes = live_bytes - before;
    RecordProperty("bytes", int(bytes));
    std::printf("recipe.parser_bytes %zu\n", bytes);
    EXPECT_GE(bytes, sizeof(StreamProcessor));
    EXPECT_LT(bytes, 2048u);
  }
}

/// Allocations for `text` a second time, when the buffers have grown.
std::size_t allocations_of(StreamProcessor& processor, const std::string& text) {
  std::vector<Chunk> chunks = chunks_of(tokens_of(text), 1);
  CountedBytes events;
  for (const Chunk& chunk : chunks) EXPECT_TRUE(processor.push(chunk, events).ok());
  const std::size_t before = allocations;
  for (const Chunk& chunk : chunks) EXPECT_TRUE(processor.push(chunk, events).ok());
  EXPECT_GT(events.bytes, text.size());
  return allocations - before;
}

TEST(StreamMemory, no_token_of_text_or_arguments_allocates) {
  std::string text = "The tide \"turns\" at <5>\n\nand caf\xC3\xA9s open \xF0\x9F\x98\x80 </b>\n";
  for (int i = 0; i < 4; ++i) text += text;
  const std::string calls = markup(
      "<Dtool_calls>\n<Dinvoke name=\"tide\">\n<Dparameter "
      "name=\"s\" string=\"true\">");
  for (const Protocol protocol : {Protocol::kChat, Protocol::kMessages}) {
    for (const bool arguments : {false, true}) {
      StreamProcessor processor(content_with_tools(), answer(protocol), identity(),
                                tiny_tokenizer());
      CountedBytes events;
      const std::string head = arguments ? calls : "";
      ASSERT_TRUE(processor.push(TextChunk{head, 1}, events).ok());
      const std::size_t count = allocations_of(processor, text);
      std::printf("recipe.parser_allocs_per_token %.6f\n",
                  double(count) / double(tokens_of(text).size()));
      EXPECT_EQ(count, 0u);
    }
  }
}

TEST(StreamMemory, responses_allocate_only_to_keep_the_text) {
  std::string text = "The tide turns at five. ";
  for (int i = 0; i < 10; ++i) text += text;
  StreamProcessor processor(content_with_tools(), answer(Protocol::kResponses), identity(),
                            tiny_tokenizer());
  EXPECT_LE(allocations_of(processor, text), 2u) << "of " << text.size() << " tokens";
}

TEST(StreamMemory, allocations_are_counted) {
  const std::size_t before = allocations;
  const auto memory = std::make_unique<std::string>(100, 'x');
  EXPECT_EQ(allocations - before, 2u);
}

}  // namespace
}  // namespace troupe::recipe::test
