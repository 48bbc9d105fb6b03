// Paged attention against double precision, and its bits under every division into tiles.
#include "kernels/cpu/attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/kernels/cpu/random_data.hpp"

namespace troupe::cpu::test {
namespace {

/// One KV head of one sequence in a pool of three blocks, and its queries.
struct Case {
  std::size_t group;
  std::size_t head_dim;
  std::size_t length;
  std::vector<BlockId> blocks{BlockId(2), BlockId(0), BlockId(1)};
  std::vector<float> queries{};  // [position][group][dim]
  std::vector<float> keys{};     // [position][dim]
  std::vector<float> values{};
  std::vector<float> pool{};  // [block][keys | values]

  std::size_t block_stride() const { return 2 * kKvBlockTokens * head_dim; }
  std::size_t token_stride() const { return group * head_dim; }

  void fill() {
    Rng rng(length);
    queries = random_floats(rng, length * token_stride(), 3);
    keys = random_floats(rng, length * head_dim, 3);
    values = random_floats(rng, length * head_dim);
    pool.assign(3 * block_stride(), NAN);  // a slot that is read but not written would show
    for (std::size_t position = 0; position < length; ++position) {
      float* block = pool.data() + blocks[position / kKvBlockTokens].value * block_stride();
      const std::size_t slot = position % kKvBlockTokens;
      for (std::size_t d = 0; d < head_dim; ++d) {
        block[d * kKvBlockTokens + slot] = keys[position * head_dim + d];
        block[(kKvBlockTokens + slot) * head_dim + d] = values[position * head_dim + d];
      }
    }
  }

  /// Outputs of positions [from, length), `tile` at a time.
  std::vector<float> run(const Kernels& kernels, std::size_t from, std::size_t tile) const {
    std::vector<float> outputs(length * token_stride(), 0.0f);
    AttentionScratch scratch(group, head_dim);
    const PagedHead head{pool.data(), pool.data() + kKvBlockTokens * head_dim, block_stride(),
                         blocks};
    for (std::size_t at = from; at < length; at += tile) {
      const std::size_t offset = at * token_stride();
      attend(kernels,
             {queries.data() + offset, outputs.data() + offset, token_stride(),
              std::min(tile, length - at), at, group, head_dim},
             head, scratch);
    }
    return outputs;
  }

  double expected(std::size_t position, std::size_t g, std::size_t d) const {
    double sum = 0;
    double weighted = 0;
    for (std::size_t key = 0; key <= position; ++key) {
      double score = 0;
      for (std::size_t i = 0; i < head_dim; ++i) {
        score += double(queries[(position * group + g) * head_dim + i]) * keys[key * head_dim + i];
      }
      const double power = std::exp(score / std::sqrt(double(head_dim)));
      sum += power;
      weighted += power * values[key * head_dim + d];
    }
    return weighted / sum;
  }
};

std::vector<Case> cases() {
  std::vector<Case> all{{3, 64, 300}, {1, 20, 129}, {4, 8, 128}, {2, 7, 1}, {100, 4, 140}};
  for (auto& one : all) one.fill();
  return all;
}

TEST(Attention, MatchesDoublePrecision) {
  for (const Kernels* kernels : all_kernels()) {
    for (const Case& one : cases()) {
      const auto outputs = one.run(*kernels, 0, AttentionScratch::tile_tokens(one.group));
      for (std::size_t position = 0; position < one.length; position += 13) {
        for (std::size_t g = 0; g < one.group; ++g) {
          for (std::size_t d = 0; d < one.head_dim; ++d) {
            ASSERT_NEAR(outputs[(position * one.group + g) * one.head_dim + d],
                        one.expected(position, g, d), 2e-5)
                << kernels->name << " position " << position;
          }
        }
      }
    }
  }
}

TEST(Attention, TilesDoNotChangeABit) {
  for (const Kernels* kernels : all_kernels()) {
    for (const Case& one : cases()) {
      const auto whole = one.run(*kernels, 0, AttentionScratch::tile_tokens(one.group));
      for (std::size_t tile = 1; tile < AttentionScratch::tile_tokens(one.group); ++tile) {
        EXPECT_EQ(one.run(*kernels, 0, tile), whole) << kernels->name << " tile " << tile;
      }
      const auto last = one.run(*kernels, one.length - 1, 1);
      const std::size_t offset = (one.length - 1) * one.token_stride();
      EXPECT_EQ(std::memcmp(last.data() + offset, whole.data() + offset, one.token_stride() * 4),
                0);
    }
  }
}

}  // namespace
}  // namespace troupe::cpu::test
