// What each health path says in each state, and when the gateway tells its state.
#include "actors/gateway/health.hpp"

#include "tests/actors/gateway/gateway_driver.hpp"

namespace troupe {
namespace {

TEST(Health, EachPathInEachState) {
  const ServingState states[] = {ServingState::kStarting, ServingState::kNoRank,
                                 ServingState::kServing, ServingState::kDraining};
  const std::pair<const char*, std::array<int, 4>> table[] = {
      {"/live", {503, 200, 200, 200}},         {"/liveness", {503, 200, 200, 200}},
      {"/ping", {503, 200, 200, 200}},         {"/health", {503, 503, 200, 200}},
      {"/ready", {503, 503, 200, 503}},        {"/readiness", {503, 503, 200, 503}},
      {"/health/ready", {503, 503, 200, 503}},
  };
  for (const auto& [path, statuses] : table) {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto answer = health_answer(path, states[i]);
      ASSERT_TRUE(answer) << path;
      EXPECT_EQ(answer->status, statuses[i]) << path << " in state " << i;
      EXPECT_TRUE(answer->body.starts_with("{\"status\":\"")) << answer->body;
    }
  }
  EXPECT_FALSE(health_answer("/healthz", ServingState::kServing));
  EXPECT_FALSE(health_answer("/metrics", ServingState::kServing));
}

TEST(Health, TheGatewayTellsEachChangeOnce) {
  const ActorRef front = actor(90);
  GatewayCore::Args args = GatewayDriver::args();
  args.front = front;
  CoreDriver<GatewayCore> driver(args, actor(1));
  EXPECT_EQ(driver.starts().only<GatewayHealth>(front).state, ServingState::kNoRank);
  RankJoined rank;
  rank.rank = actor(51);
  EXPECT_EQ(driver.hears(rank, from(actor(40))).only<GatewayHealth>(front).state,
            ServingState::kServing);
  rank.rank = actor(52);
  EXPECT_EQ(driver.hears(rank, from(actor(40))).count<GatewayHealth>(), 0u);
  driver.hears_of_end(actor(51));
  EXPECT_EQ(driver.hears(RankLeft{actor(52)}, from(actor(40))).only<GatewayHealth>(front).state,
            ServingState::kNoRank);
  EXPECT_EQ(driver.hears(Drain{seconds(5)}).only<GatewayHealth>(front).state,
            ServingState::kDraining);
}

}  // namespace
}  // namespace troupe
