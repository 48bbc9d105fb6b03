// An answer of at least so many tokens: its ends cannot be sampled before.
#include <cmath>

#include "tests/actors/rank/rank_driver.hpp"

namespace troupe {
namespace {

TEST(RankMinTokens, NoEndIsSampledBeforeThem) {
  RankDriver rank;
  SubmitRow row = rank.row(1, 4, 10);
  row.min_tokens = 2;
  row.stop_ids = {TokenId(7), TokenId(8)};
  row.sampling.bias = {{TokenId(5), 1.0F}};
  rank.hears(row, from(RankDriver::owner(1)));
  // The number of biases of each sampled token, in order: the client's own, and one an end.
  std::vector<std::size_t> biases;
  for (int step = 0; step < 4; ++step) {
    for (const StepRow& planned : rank.flying.front().plan->rows) {
      if (!planned.sample) continue;
      biases.push_back(planned.sampling.bias.size());
      if (planned.sampling.bias.size() == 1) continue;
      EXPECT_EQ(planned.sampling.bias.back().first, TokenId(8));
      EXPECT_TRUE(std::isinf(planned.sampling.bias.back().second));
    }
    rank.step_ends();
  }
  EXPECT_EQ(biases, (std::vector<std::size_t>{3, 3, 1, 1}));
}

}  // namespace
}  // namespace troupe
