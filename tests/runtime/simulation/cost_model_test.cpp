// What the formula says of its own reach.
#include "runtime/simulation/cost_model.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(CostModel, SharesAreOfWhatWasAskedForHoweverManyMembersAStepHas) {
  CostModel cost;
  cost.saw_step();
  for (int member = 0; member < 64; ++member) cost.decode_seconds(member < 48 ? 1 : 64, 64, 0);
  cost.prefill_seconds(8192, 0);
  cost.saw_context(1000);
  EXPECT_EQ(cost.extrapolation(), "75.0 % of decode batches outside of the fitted sizes");
  cost.prefill_seconds(10, 0);
  cost.saw_context(1u << 20);
  EXPECT_EQ(
      cost.extrapolation(),
      "50.0 % of prefill chunks outside of the fitted sizes, 75.0 % of decode batches outside "
      "of the fitted sizes, 50.0 % of contexts longer than published");
}

}  // namespace
}  // namespace troupe
