// Drafts to verify: the fitted table of CALIB.md (Model table, v*), and what bounds it.
#include "runtime/cost/draft_budget.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(DraftBudget, ChoosesAsTheFittedTable) {
  DraftBudget::Options options;
  options.rows_most = 256;
  const DraftBudget budget(options);
  const std::pair<std::uint32_t, double> table[] = {{8, 5.00},  {16, 5.00},  {32, 4.55},
                                                    {60, 3.55}, {64, 3.25},  {72, 3.00},
                                                    {96, 2.85}, {128, 2.70}, {256, 2.40}};
  for (const auto& [rows, drafts] : table) {
    EXPECT_NEAR(budget.drafts(rows), drafts, 0.11) << rows << " rows";
  }
  EXPECT_EQ(budget.drafts(10'000), budget.drafts(256));
}

TEST(DraftBudget, OffAndFixedDoNotLookAtRows) {
  DraftBudget::Options options;
  options.rows_most = 10;
  options.rule = DraftRule::kOff;
  EXPECT_EQ(DraftBudget(options).drafts(7), 0);
  options.rule = DraftRule::kFixed;
  EXPECT_EQ(DraftBudget(options).drafts(7), 5);
}

TEST(DraftBudget, AcceptanceIsThatOfProduction) {
  const Acceptance acceptance;
  EXPECT_EQ(acceptance.tokens(0), 1);
  EXPECT_NEAR(acceptance.tokens(5), 3.30, 0.005);
  EXPECT_NEAR(acceptance.tokens(3.58), 3.21, 0.005);
}

TEST(DraftBudget, UnknownRulesAreNamed) {
  const auto rule = draft_rule_from("most");
  ASSERT_FALSE(rule.ok());
  EXPECT_EQ(rule.error().message,
            "no rule of drafts is called most; there are off, fixed, confidence");
  EXPECT_EQ(*draft_rule_from("fixed"), DraftRule::kFixed);
}

}  // namespace
}  // namespace troupe
