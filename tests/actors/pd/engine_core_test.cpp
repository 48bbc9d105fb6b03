// Engines by calling them: what is in a launch, what cuts it, what does not fit.
#include "actors/pd/engine_core.hpp"

#include "actors/gateway/gateway_messages.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kEngineNode = actor(71);
const ActorRef kEngineStreams = actor(72);

class AggregatedEngineTest : public testing::Test {
 protected:
  static EngineCore::Args args() {
    EngineCore::Args args;
    args.node = kEngineNode;
    args.model = "simulated";
    args.limits.rows_most = 4;
    args.limits.step_tokens = 1'000;
    args.limits.kv_tokens = 4'096;
    args.limits.block_tokens = 128;
    return args;
  }
  static ActorRef owner(std::uint64_t request) { return actor(100 + request); }
  Turn submits(std::uint64_t request, std::uint32_t length, std::vector<std::uint64_t> chain = {}) {
    SubmitRow submit;
    submit.request = RequestId(request);
    submit.owner = owner(request);
    submit.streams = kEngineStreams;
    submit.prompt_length = length;
    submit.time_left = seconds(60);
    submit.sealed.work.output = 50;
    submit.sealed.work.parts =
        std::make_shared<const PromptParts>(PromptParts{std::move(chain), {}});
    return engine.hears(submit, from(owner(request)));
  }
  /// What a turn launched.
  static std::shared_ptr<const GroupPlan> plan_in(const Turn& turn) {
    const auto launches = turn.all<effect::LaunchStep>();
    EXPECT_EQ(launches.size(), 1u) << turn.story();
    return launches.empty() ? std::make_shared<GroupPlan>() : launches.front().plan->group;
  }
  Turn ends(std::uint32_t steps = 1, std::vector<GroupEnd> ended = {}) {
    Done<StepResult> done;
    done.op = OpId(1);
    done.output.device_time = milliseconds(10) * steps;
    GroupResult result;
    result.own = {done.output.device_time};
    result.steps = steps;
    result.ended = std::move(ended);
    done.output.group.result = std::make_shared<const GroupResult>(std::move(result));
    return engine.hears(done);
  }
  CoreDriver<EngineCore> engine{args()};
};

TEST_F(AggregatedEngineTest, IsARank) {
  const auto joined = engine.starts().only<RankJoined>(kEngineNode);
  EXPECT_EQ(joined.rank, engine.self());
  EXPECT_EQ(joined.models, (std::vector<std::string>{"simulated"}));
}

TEST_F(AggregatedEngineTest, CutsPromptsToTheStep) {
  engine.starts();
  const auto first = plan_in(submits(1, 1'600));
  ASSERT_EQ(first->chunks.size(), 1u);
  EXPECT_TRUE(first->reset);
  EXPECT_EQ(first->chunks[0].tokens, 1'000u);
  EXPECT_FALSE(first->chunks[0].last);
  EXPECT_TRUE(submits(2, 300).all<effect::LaunchStep>().empty());
  const auto second = plan_in(ends());
  ASSERT_EQ(second->chunks.size(), 2u);
  EXPECT_EQ(second->chunks[0].tokens, 600u);
  EXPECT_TRUE(second->chunks[0].last);
  EXPECT_EQ(second->chunks[1].tokens, 300u);
  const Turn both = ends();
  const auto tokens = both.only<TokenBatch>(kEngineStreams);
  EXPECT_EQ(tokens.rank, engine.self());
  ASSERT_EQ(tokens.rows.size(), 2u);
  EXPECT_EQ(tokens.rows[0].count(), 1u);
  EXPECT_EQ(tokens.rows[0].finish, Finish::kNone);
  const auto run = plan_in(both);
  EXPECT_TRUE(run->chunks.empty());
  EXPECT_EQ(run->enters.size(), 2u);
  EXPECT_EQ(run->enters[0].context, 1'601u);
  EXPECT_GT(run->steps_most, 50u);
}

TEST_F(AggregatedEngineTest, AnArrivalCutsARunAndAnEndIsTold) {
  engine.starts();
  submits(1, 500);
  ends();
  EXPECT_EQ(submits(2, 500).all<effect::Cancel>().size(), 1u);
  EXPECT_TRUE(submits(3, 100).all<effect::Cancel>().empty()) << "once is enough";
  const auto next = plan_in(ends(7));
  EXPECT_EQ(next->chunks.size(), 2u);
  EXPECT_TRUE(next->enters.empty()) << "the first row is in it already";
  const Turn end = ends(1, {{RequestId(1), 0, 49}});
  const auto batch = end.only<TokenBatch>(kEngineStreams);
  ASSERT_EQ(batch.rows.size(), 3u);
  EXPECT_EQ(batch.rows[0].request, RequestId(1));
  EXPECT_EQ(batch.rows[0].first, 1u);
  EXPECT_EQ(batch.rows[0].count(), 8u);
  EXPECT_EQ(batch.rows[0].finish, Finish::kStop);
  EXPECT_TRUE(end.unwatches(owner(1)));
  EXPECT_EQ(engine.core().jobs(), 2u);
}

TEST_F(AggregatedEngineTest, WhatHasNoRoomDoesNotCut) {
  engine.starts();
  submits(1, 900);
  ends();
  submits(2, 900);
  ends();
  ends();
  submits(3, 900);
  ends();
  ends();
  EXPECT_TRUE(submits(4, 3'000).all<effect::Cancel>().empty()) << "2,700 of 4,096 are used";
}

TEST_F(AggregatedEngineTest, ACancelledRowLeaves) {
  engine.starts();
  submits(1, 500);
  ends();
  EXPECT_EQ(engine.hears(CancelRow{RequestId(1)}).all<effect::Cancel>().size(), 1u);
  EXPECT_EQ(engine.core().kv_used(), 0u);
  EXPECT_TRUE(ends(3).all<effect::LaunchStep>().empty());
  const auto next = plan_in(submits(2, 500));
  ASSERT_EQ(next->leaves.size(), 1u);
  EXPECT_EQ(next->leaves[0].request, RequestId(1));
}

TEST_F(AggregatedEngineTest, TheEndOfItsRequestFreesARow) {
  engine.starts();
  submits(1, 2'500);
  Down down;
  down.ref = owner(1);
  engine.hears(down);
  EXPECT_EQ(engine.core().jobs(), 0u);
  EXPECT_EQ(engine.core().kv_used(), 0u);
}

TEST_F(AggregatedEngineTest, ItsCacheSavesWhatWasComputedBefore) {
  engine.starts();
  submits(1, 600, {11, 12, 13, 14});
  ends();
  ends(49, {{RequestId(1), 0, 49}});
  const auto next = plan_in(submits(2, 512, {11, 12, 13, 14}));
  ASSERT_EQ(next->chunks.size(), 1u);
  EXPECT_EQ(next->chunks[0].start, 384u) << "the last token is computed in any case";
  EXPECT_EQ(next->chunks[0].tokens, 128u);
  EXPECT_EQ(engine.core().tokens_hit(), 384u);
}

TEST_F(AggregatedEngineTest, TheLastOneGivesWayWhenRowsOutgrowTheKv) {
  engine.starts();
  submits(1, 1'000);
  ends();
  submits(2, 3'000);
  for (int i = 0; i < 4; ++i) ends();
  // 1,000 and 3,000 are there, and five tokens of the first: 91 are left, 45 steps of two rows.
  EXPECT_EQ(plan_in(ends())->steps_most, 45u);
  const Turn full = ends(45);
  const auto plan = plan_in(full);
  EXPECT_EQ(full.metric("vllm:num_preemptions_total"), 1);
  ASSERT_EQ(plan->leaves.size(), 1u);
  EXPECT_EQ(plan->leaves[0].request, RequestId(2));
  EXPECT_TRUE(plan->chunks.empty()) << "it waits until there is room";
  const auto again = plan_in(ends(1, {{RequestId(1), 0, 49}}));
  ASSERT_EQ(again->chunks.size(), 1u);
  EXPECT_EQ(again->chunks[0].request, RequestId(2));
  EXPECT_EQ(again->chunks[0].start, 0u);
  for (int i = 0; i < 3; ++i) ends();
  EXPECT_EQ(engine.core().kv_used(), 3'046u) << "its answer so far is computed again, too";
}

// Case simulator-03: a table of 1,024 tokens, a prompt of 2,000, and normal ones behind it.
TEST(AggregatedEngine, APromptThatCanNeverFitIsRefusedAtOnce) {
  EngineCore::Args args;
  args.limits.kv_tokens = 1'024;
  CoreDriver<EngineCore> engine{args};
  engine.starts();
  SubmitRow submit;
  submit.request = RequestId(1);
  submit.owner = actor(100);
  submit.streams = kEngineStreams;
  submit.prompt_length = 2'000;
  const auto refused = engine.hears(submit).only<RowRejected>(actor(100));
  EXPECT_EQ(refused.code, Code::kInvalid) << "400";
  EXPECT_NE(refused.message.find("1024"), std::string::npos) << refused.message;
  submit.request = RequestId(2);
  submit.owner = actor(101);
  submit.prompt_length = 500;
  EXPECT_EQ(engine.hears(submit).all<effect::LaunchStep>().size(), 1u);
}

}  // namespace
}  // namespace troupe
