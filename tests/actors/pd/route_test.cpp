// The route's protocol: the way of a flow, what it gives back when it ends early, and lost groups.
#include "tests/actors/pd/route_fixture.hpp"

namespace troupe {
namespace {

TEST_F(RouteTest, JoinsAsARank) {
  const Turn turn = route.starts();
  EXPECT_EQ(turn.only<RankJoined>(kNode).models, std::vector<std::string>{"m"});
  EXPECT_TRUE(turn.watches(kPrefill) && turn.watches(kDecode) && turn.watches(kFabric));
}

TEST_F(RouteTest, AFlowGoesItsWay) {
  const Turn came = submits();
  EXPECT_TRUE(came.watches(kOwner));
  const auto submit = came.only<SubmitPrefill>(kPrefill);
  EXPECT_EQ(submit.owner, route.self());
  EXPECT_EQ(submit.hit, 8'960u) << "9,000 tokens in whole blocks";
  const auto fetch = assigned(kEngine, 1).only<MoveBytes>(kFabric);
  EXPECT_EQ(fetch.kind, MoveKind::kFetch);
  EXPECT_EQ(fetch.to, PortId(2));
  EXPECT_EQ(fetch.bytes, 8'960 * 896 + 20 * 134 * 528u);
  const auto start = moved(fetch.move).only<StartPrefill>(kEngine);
  EXPECT_EQ(start.streams, kStreams);
  EXPECT_EQ(start.hit, 8'960u);
  EXPECT_EQ(start.output_most, 60u);
  EXPECT_TRUE(reserved().silent()) << "the prompt is not computed yet";
  const auto push = prefilled().only<MoveBytes>(kFabric);
  EXPECT_EQ(push.kind, MoveKind::kPush);
  EXPECT_EQ(push.from, PortId(2));
  EXPECT_EQ(push.to, PortId(13));
  const auto decode = moved(push.move).only<StartDecode>(kInstance);
  EXPECT_EQ(decode.context, 10'001u);
  EXPECT_EQ(decode.generated, 1u);
  const Turn ended = route.hears(DecodeEnded{{{kRequest, 50}}}, from(kInstance));
  EXPECT_EQ(ended.only<ReleaseDecode>(kDecode).rows.at(0).output, 50u);
  EXPECT_EQ(ended.only<MoveBytes>(kFabric).kind, MoveKind::kWrite);
  EXPECT_TRUE(ended.unwatches(kOwner));
  EXPECT_EQ(route.core().flows(), 0u);
}

TEST_F(RouteTest, WithoutAHitNothingIsFetchedAndOneTokenNeedsNoDecode) {
  submits(10'000, 0);
  EXPECT_EQ(assigned(kEngine, 1, 0).count<StartPrefill>(), 1u);
  const Turn ended = prefilled(true);
  EXPECT_EQ(ended.only<ReleaseDecode>(kDecode).rows.at(0).output, 1u);
  EXPECT_EQ(ended.count<MoveBytes>(), 0u);
  EXPECT_EQ(route.core().flows(), 0u);
}

TEST_F(RouteTest, AnotherEngineTakesOverWhenOneIsLost) {
  submits();
  const auto fetch = assigned(kEngine, 1).only<MoveBytes>(kFabric);
  const Turn again = assigned(kOther, 2);
  EXPECT_EQ(again.only<StopMove>(kFabric).move, fetch.move);
  EXPECT_EQ(again.count<ReleaseDecode>(), 1u) << "the lost one may have asked for a place";
  EXPECT_EQ(again.only<MoveBytes>(kFabric).to, PortId(6));
  EXPECT_TRUE(moved(fetch.move).silent()) << "late word of the transfer that was stopped";
  EXPECT_TRUE(assigned(kEngine, 1).silent()) << "late word of the older generation";
}

TEST_F(RouteTest, ALostInstanceMeansFromTheStoreAgainWithoutASecondFirstToken) {
  const auto push = pushing();
  moved(push.move);
  const Turn lost = route.hears(DecodeReservationLost{kRequest, Code::kLost}, from(kDecode));
  EXPECT_EQ(lost.count<SubmitPrefill>(), 1u);
  EXPECT_EQ(lost.metric("troupe_requests_rerouted_total"), 1);
  const auto start =
      moved(assigned(kOther, 1).only<MoveBytes>(kFabric).move).only<StartPrefill>(kOther);
  EXPECT_FALSE(start.streams) << "its client has the first token";
}

TEST_F(RouteTest, ALostEngineThatHeldKvMeansFromTheStoreAgain) {
  const auto push = pushing();
  const Turn lost = route.hears_of_end(kEngine);
  EXPECT_EQ(lost.only<StopMove>(kFabric).move, push.move);
  EXPECT_EQ(lost.count<SubmitPrefill>(), 1u);
  EXPECT_EQ(lost.count<ReleaseDecode>(), 1u);
  EXPECT_EQ(reserved(2).only<ReleaseDecode>(kDecode).rows.at(0).request, kRequest)
      << "of an engine that was given up";
}

TEST_F(RouteTest, TheThirdLossIsTheClients) {
  for (int i = 0; i < 3; ++i) {
    if (i == 0) submits();
    const auto fetch = assigned(kEngine, 1).only<MoveBytes>(kFabric);
    moved(fetch.move);
    reserved();
    moved(prefilled().only<MoveBytes>(kFabric).move);
    const Turn lost = route.hears(DecodeReservationLost{kRequest, Code::kLost}, from(kDecode));
    if (i < 2) continue;
    const auto batch = lost.only<TokenBatch>(kStreams);
    EXPECT_EQ(batch.rows.at(0).finish, Finish::kFailed);
    EXPECT_EQ(batch.rows.at(0).first, 1u);
    EXPECT_EQ(batch.rows.at(0).code, Code::kLost);
  }
  EXPECT_EQ(route.core().flows(), 0u);
}

TEST_F(RouteTest, TheEndOfARequestGivesEverythingBack) {
  submits();
  moved(assigned(kEngine, 1).only<MoveBytes>(kFabric).move);
  const Turn gone = route.hears_of_end(kOwner, EndReason::kStopped);
  EXPECT_EQ(gone.count<ReleasePrefill>(), 1u);
  EXPECT_EQ(gone.count<ReleaseDecode>(), 1u);
  EXPECT_EQ(gone.count<StopPrefill>(), 1u);
  EXPECT_EQ(route.core().flows(), 0u);
  // The engine asked in its name before it heard of the end.
  EXPECT_EQ(reserved().only<ReleaseDecode>(kDecode).rows.at(0).request, kRequest);
}

TEST_F(RouteTest, ACancelDuringThePushStopsIt) {
  const auto push = pushing();
  const Turn cancelled = route.hears(CancelRow{kRequest}, from(kOwner));
  EXPECT_EQ(cancelled.only<StopMove>(kFabric).move, push.move);
  EXPECT_TRUE(moved(push.move).silent());
}

TEST_F(RouteTest, RefusalsReachTheClient) {
  submits();
  const Turn refused =
      route.hears(PrefillRefused{kRequest, Code::kUnavailable, "full"}, from(kPrefill));
  const auto batch = refused.only<TokenBatch>(kStreams);
  EXPECT_EQ(batch.rank, route.self());
  EXPECT_EQ(batch.rows.at(0).error, "full");
}

TEST_F(RouteTest, RowsHaveBounds) {
  EXPECT_EQ(submits(100'000).only<RowRejected>(kOwner).code, Code::kTooLarge);
  submits();
  EXPECT_EQ(submits(10, 0, RequestId(8)).only<RowRejected>(kOwner).code, Code::kUnsupported);
  submits(10, 0, RequestId(9), actor(96));
  EXPECT_EQ(submits(10, 0, RequestId(10), actor(97)).only<RowRejected>(actor(97)).code,
            Code::kUnavailable);
}

TEST_F(RouteTest, EndsWithTheServicesThatItNeeds) {
  EXPECT_TRUE(route.hears_of_end(kFabric).crashes());
}

}  // namespace
}  // namespace troupe
