// What the route does when messages are lost or a group is silent.
#include "tests/actors/pd/route_fixture.hpp"

namespace troupe {
namespace {

constexpr TimerTag kLookTag{1, 0};

class SilenceTest : public RouteTest {
 protected:
  Turn looks_after(Duration time) {
    route.passes(time);
    return route.timer_fires(kLookTag);
  }
  void prefilling() {
    submits();
    moved(assigned(kEngine, 1).only<MoveBytes>(kFabric).move);
  }
  void decoding() { moved(pushing().move); }
};

TEST_F(SilenceTest, ItLooksOnlyWhileThereIsSomethingToLookAfter) {
  EXPECT_TRUE(submits().timer(kLookTag));
  EXPECT_TRUE(looks_after(seconds(1)).timer(kLookTag));
  route.hears_of_end(kOwner, EndReason::kStopped);
  EXPECT_FALSE(looks_after(seconds(1)).timer(kLookTag));
}

TEST_F(SilenceTest, AGroupThatHasTheRequestIsLeftAlone) {
  prefilling();
  EXPECT_TRUE(looks_after(seconds(9)).silent());
  EXPECT_EQ(looks_after(seconds(1)).only<AskGroup>(kEngine).request, kRequest);
  EXPECT_TRUE(route.hears(GroupHas{kRequest, true}, from(kEngine)).silent());
  EXPECT_TRUE(looks_after(seconds(9)).silent()) << "it was heard of";
}

TEST_F(SilenceTest, AGroupThatHasNotGotItMeansAnew) {
  prefilling();
  looks_after(seconds(10));
  EXPECT_TRUE(route.hears(GroupHas{kRequest, false}, from(kOther)).silent()) << "not its engine";
  const Turn anew = route.hears(GroupHas{kRequest, false}, from(kEngine));
  EXPECT_EQ(anew.count<ReleasePrefill>(), 1u);
  EXPECT_EQ(anew.count<ReleaseDecode>(), 1u);
  EXPECT_EQ(anew.only<StopPrefill>(kEngine).request, kRequest);
  EXPECT_EQ(anew.count<SubmitPrefill>(), 1u);
}

TEST_F(SilenceTest, ThreeQuestionsWithoutAnAnswerMeanAnew) {
  decoding();
  EXPECT_EQ(looks_after(seconds(10)).count<AskGroup>(), 1u);
  EXPECT_EQ(looks_after(seconds(1)).count<AskGroup>(), 1u);
  EXPECT_EQ(looks_after(seconds(1)).only<AskGroup>(kInstance).request, kRequest);
  const Turn anew = looks_after(seconds(1));
  EXPECT_EQ(anew.count<SubmitPrefill>(), 1u);
  EXPECT_EQ(anew.only<StopDecode>(kInstance).request, kRequest);
}

TEST_F(SilenceTest, AStopIsRepeatedUntilItIsConfirmed) {
  decoding();
  route.hears(CancelRow{kRequest}, from(kOwner));
  EXPECT_EQ(route.core().flows(), 0u);
  EXPECT_EQ(looks_after(seconds(1)).only<StopDecode>(kInstance).request, kRequest);
  route.hears(GroupStopped{kRequest}, from(kOther));
  EXPECT_EQ(looks_after(seconds(1)).count<StopDecode>(), 1u) << "another group's word";
  route.hears(GroupStopped{kRequest}, from(kInstance));
  EXPECT_EQ(route.core().stops(), 0u);
  EXPECT_EQ(looks_after(seconds(1)).count<StopDecode>(), 0u);
}

TEST_F(SilenceTest, AStopEndsWithItsGroupOrAfterItsBound) {
  decoding();
  route.hears(CancelRow{kRequest}, from(kOwner));
  route.hears(Undeliverable{kInstance, StopDecode::info.kind});
  EXPECT_EQ(route.core().stops(), 0u);
  decoding();
  route.hears(CancelRow{kRequest}, from(kOwner));
  for (std::uint32_t i = 0; i < RouteCore::kStopsMost; ++i) looks_after(seconds(1));
  EXPECT_EQ(route.core().stops(), 0u);
}

TEST_F(SilenceTest, AStartOnTheSameGroupReplacesAStop) {
  decoding();
  route.hears(DecodeReservationLost{kRequest, Code::kDeadline}, from(kDecode));
  EXPECT_EQ(route.core().stops(), 1u);
  moved(assigned(kEngine, 1).only<MoveBytes>(kFabric).move);
  reserved();
  moved(prefilled().only<MoveBytes>(kFabric).move);
  EXPECT_EQ(route.core().stops(), 0u) << "a repeated one would stop the new row";
}

TEST_F(SilenceTest, APlaceIsAskedForAgain) {
  prefilling();
  prefilled();
  EXPECT_TRUE(looks_after(seconds(9)).silent());
  const auto reserve = looks_after(seconds(1)).only<ReserveDecode>(kDecode);
  EXPECT_EQ(reserve.owner, route.self());
  EXPECT_EQ(reserve.rows.at(0).context, 10'000u);
  EXPECT_EQ(reserve.rows.at(0).time_left, seconds(20));
}

TEST_F(SilenceTest, AFullGpuMeansAnew) {
  decoding();
  const Turn anew = route.hears(DecodeRefused{kRequest}, from(kInstance));
  EXPECT_EQ(anew.count<SubmitPrefill>(), 1u);
  EXPECT_EQ(anew.metric("troupe_requests_rerouted_total"), 1);
}

TEST_F(SilenceTest, TheDeadlineEndsWhatNothingElseEnds) {
  submits();
  EXPECT_TRUE(looks_after(seconds(31)).silent()) << "the request itself comes first";
  const auto batch = looks_after(seconds(1)).only<TokenBatch>(kStreams);
  EXPECT_EQ(batch.rows.at(0).code, Code::kDeadline);
  EXPECT_EQ(route.core().flows(), 0u);
}

TEST_F(SilenceTest, WordsOfGroupsThatWereGivenUpAreIgnored) {
  prefilling();
  EXPECT_TRUE(route.hears(PrefillEnded{{{kRequest, false}}}, from(kOther)).silent());
  reserved();
  moved(prefilled().only<MoveBytes>(kFabric).move);
  EXPECT_TRUE(route.hears(DecodeEnded{{{kRequest, 50}}}, from(kOther)).silent());
  EXPECT_EQ(route.core().flows(), 1u);
}

}  // namespace
}  // namespace troupe
