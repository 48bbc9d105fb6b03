// The vectors of the reference implementation: every event, step by step, and every body. Keys are
// compared in their order, too. Steps say when an event comes, to the chunk.
#include "tests/runtime/recipe/vector_run.hpp"

namespace troupe {
namespace {

TEST(StreamVectors, the_events_and_bodies_of_the_reference_come_out) {
  const std::string path = test::shared_path("recipe/vectors/stream.jsonl");
  TROUPE_NEEDS_FILE(path);
  TROUPE_NEEDS_FILE(test::deepseek_tokenizer_path("deepseek-v4"));
  TROUPE_NEEDS_FILE(test::deepseek_pack_path("deepseek-v4"));
  TROUPE_NEEDS_FILE(test::deepseek_pack_path("deepseek-v4.1"));
  EXPECT_GE(test::run_vectors(path, test::pulled_files()), 664u);
}

}  // namespace
}  // namespace troupe
