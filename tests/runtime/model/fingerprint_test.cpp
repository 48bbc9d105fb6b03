// Fingerprints tell apart what must not serve together.
#include "runtime/model/fingerprint.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/model/tiny_llama.hpp"

namespace troupe {
namespace {

std::string print_of(const test::TinyLlama& model) {
  return fingerprint_of(**model.build());
}

TEST(Fingerprint, IsTheSameForTheSameWeightsOnly) {
  const test::TinyLlama model;
  const std::string same = print_of(model);
  EXPECT_EQ(same.size(), 16u);
  EXPECT_EQ(print_of(test::TinyLlama{}), same);
  test::TinyLlama tuned = model;
  tuned.seed = 2;
  EXPECT_NE(print_of(tuned), same) << "the same shapes, other weights";
  test::TinyLlama larger = model;
  larger.layers = 3;
  EXPECT_NE(print_of(larger), same);
}

TEST(Fingerprint, LayoutNamesWhatABlockHolds) {
  const auto file = *test::TinyLlama{}.build();
  const auto config = *read_llama_config(*file);
  EXPECT_EQ(kv_layout_of(config), "f32 128 tokens x 2 layers x 2 heads x 20");
}

}  // namespace
}  // namespace troupe
