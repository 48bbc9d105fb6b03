// What a route does with a request's images: encoders are asked for beside the fetch, and all that
// they hold ends with the request.
#include "tests/actors/pd/route_fixture.hpp"

namespace troupe {
namespace {

constexpr TimerTag kImageLookTag{1, 0};
const ActorRef kVision = actor(73);
const ActorRef kEncoder = actor(83, 1, 4);
const ActorRef kSpare = actor(84, 1, 5);

class RouteImagesTest : public testing::Test {
 protected:
  static SubmitRow row(std::vector<SimulatedImage> images) {
    SimulatedWork work;
    work.output = 50;
    work.cached = 9'000;
    work.parts = std::make_shared<const PromptParts>(PromptParts{{}, std::move(images)});
    SubmitRow submit;
    submit.request = kRequest;
    submit.owner = kOwner;
    submit.streams = kStreams;
    submit.prompt_length = 10'000;
    submit.max_tokens = 60;
    submit.time_left = seconds(30);
    submit.sealed.work = work;
    return submit;
  }
  /// Two images; the hit, of 8,960 tokens, ends before them.
  Turn submits() {
    return route.hears(row({{140, 140, 9'500}, {1'000, 500, 10'000}}), from(kOwner));
  }
  Turn assigned(std::uint32_t generation, std::uint32_t hit = 8'960) {
    return route.hears(PrefillAssigned{kRequest, kEngine, kEngine, generation, hit, 2},
                       from(kPrefill));
  }
  Turn chosen(std::uint32_t image, const ActorRef& machine = kEncoder) {
    return route.hears(EncoderChosen{image, machine, 100 + image, 3}, from(kVision));
  }
  Turn encoded(std::uint32_t image, const ActorRef& machine = kEncoder) {
    return route.hears(PatchesEncoded{image}, from(machine));
  }
  Turn moved(std::uint64_t move) { return route.hears(BytesMoved{move}, from(kFabric)); }
  Turn looks_after(Duration time) {
    route.passes(time);
    return route.timer_fires(kImageLookTag);
  }
  /// Both images are at the encoder, and the fetch is over.
  void encoding() {
    submits();
    const auto move = assigned(1).only<MoveBytes>(kFabric).move;
    chosen(1);
    chosen(2);
    moved(move);
  }
  CoreDriver<RouteCore> route{route_args(kVision)};
};

TEST_F(RouteImagesTest, EncodersAreAskedForWhenAMachineHasThePrompt) {
  EXPECT_EQ(submits().count<EncodeImage>(), 0u);
  const Turn turn = assigned(1);
  const auto asked = turn.sent<EncodeImage>(kVision);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].owner, route.self());
  EXPECT_EQ(asked[0].request, kRequest);
  EXPECT_EQ(asked[1].width, 1'000u);
  EXPECT_EQ(asked[1].height, 500u);
  EXPECT_EQ(asked[1].time_left, seconds(30));
  EXPECT_EQ(turn.count<MoveBytes>(), 1u) << "beside the fetch";
  const auto sent = chosen(asked[1].image).only<EncodePatches>(kEncoder);
  EXPECT_EQ(sent.image, asked[1].image);
  EXPECT_EQ(sent.gpu, 3u);
  EXPECT_EQ(sent.patches, 102u);
}

TEST_F(RouteImagesTest, ThePromptIsComputedWhenHitAndImagesAreThere) {
  submits();
  const auto move = assigned(1).only<MoveBytes>(kFabric).move;
  chosen(1);
  chosen(2, kSpare);
  EXPECT_EQ(encoded(1).only<ImageEncoded>(kVision).image, 1u);
  EXPECT_TRUE(encoded(2).silent()) << "another machine has it";
  EXPECT_EQ(moved(move).count<StartPrefill>(), 0u) << "an image is not there";
  const Turn last = encoded(2, kSpare);
  EXPECT_EQ(last.count<StartPrefill>(), 1u);
  EXPECT_TRUE(last.metric("troupe_image_wait_seconds"));
  EXPECT_TRUE(encoded(2, kSpare).silent());
  EXPECT_EQ(route.core().images().size(), 0u);
}

TEST_F(RouteImagesTest, ImagesThatAreFirstWaitForTheFetch) {
  submits();
  const auto move = assigned(1).only<MoveBytes>(kFabric).move;
  chosen(1);
  chosen(2);
  encoded(1);
  EXPECT_EQ(encoded(2).count<StartPrefill>(), 0u);
  EXPECT_EQ(moved(move).count<StartPrefill>(), 1u);
}

TEST_F(RouteImagesTest, WhatIsInTheStoreNeedsNoEmbeddings) {
  route.hears(row({{140, 140, 8'960}, {1'000, 500, 8'961}}), from(kOwner));
  EXPECT_EQ(assigned(1).only<EncodeImage>(kVision).width, 1'000u);
}

TEST_F(RouteImagesTest, AnEnginesOwnCacheIsNotCountedOn) {
  CoreDriver<RouteCore> own(route_args(kVision, true));
  own.hears(row({{140, 140, 8'960}}), from(kOwner));
  const Turn turn =
      own.hears(PrefillAssigned{kRequest, kEngine, kEngine, 1, 8'960, 2}, from(kPrefill));
  EXPECT_EQ(turn.count<EncodeImage>(), 1u);
  EXPECT_EQ(turn.count<StartPrefill>(), 0u);
}

TEST_F(RouteImagesTest, TheEndOfARequestGivesItsImagesBack) {
  for (const bool cancelled : {true, false}) {
    submits();
    assigned(1);
    const std::uint32_t first = cancelled ? 1 : 3;
    chosen(first);
    const Turn gone =
        cancelled ? route.hears(CancelRow{kRequest}, from(kOwner)) : route.hears_of_end(kOwner);
    EXPECT_EQ(gone.sent<ImageEncoded>(kVision).size(), 2u);
    EXPECT_EQ(gone.only<StopEncode>(kEncoder).image, first) << "the other one is nowhere yet";
    EXPECT_TRUE(encoded(first).silent());
    EXPECT_TRUE(chosen(first + 1).silent());
    EXPECT_EQ(route.core().images().size(), 0u);
  }
}

TEST_F(RouteImagesTest, ARefusalReachesTheClientAndFreesTheOthers) {
  submits();
  assigned(1);
  chosen(2);
  const Turn refused = route.hears(EncodeRefused{1, Code::kDeadline, "full"}, from(kVision));
  EXPECT_EQ(refused.only<TokenBatch>(kStreams).rows.at(0).error, "full");
  EXPECT_EQ(refused.only<ImageEncoded>(kVision).image, 2u);
  EXPECT_EQ(refused.count<StopEncode>(), 1u);
  EXPECT_EQ(refused.count<ReleasePrefill>(), 1u);
  EXPECT_EQ(route.core().flows(), 0u);
}

TEST_F(RouteImagesTest, ALostEncoderIsReplaced) {
  encoding();
  const Turn again = chosen(1, kSpare);
  EXPECT_EQ(again.only<EncodePatches>(kSpare).image, 1u);
  EXPECT_EQ(again.only<StopEncode>(kEncoder).image, 1u) << "it may only have left";
  EXPECT_EQ(again.metric("troupe_images_encoded_again_total"), 1);
  EXPECT_TRUE(encoded(1).silent());
  encoded(1, kSpare);
  EXPECT_EQ(encoded(2).count<StartPrefill>(), 1u);
}

TEST_F(RouteImagesTest, ALostPrefillMachineTakesItsEmbeddingsAlong) {
  encoding();
  encoded(1);
  const Turn anew = assigned(2);
  EXPECT_EQ(anew.sent<EncodeImage>(kVision).size(), 2u);
  EXPECT_EQ(anew.only<ImageEncoded>(kVision).image, 2u);
  EXPECT_EQ(anew.only<StopEncode>(kEncoder).image, 2u);
  EXPECT_TRUE(encoded(2).silent()) << "of the lost one";
  EXPECT_EQ(route.core().images().size(), 2u);
}

TEST_F(RouteImagesTest, AnEncoderThatSaysNothingIsAskedAgainAndAtLastGivenUp) {
  encoding();
  encoded(1);
  EXPECT_EQ(looks_after(seconds(10)).only<EncodePatches>(kEncoder).image, 2u);
  EXPECT_TRUE(route.hears(EncodePending{2}, from(kEncoder)).silent());
  EXPECT_TRUE(looks_after(seconds(9)).silent()) << "it was heard of";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(looks_after(seconds(1)).count<EncodePatches>(), 1u);
  }
  const Turn anew = looks_after(seconds(1));
  EXPECT_EQ(anew.count<SubmitPrefill>(), 1u);
  EXPECT_EQ(anew.count<ReleasePrefill>(), 1u);
  EXPECT_EQ(anew.only<ImageEncoded>(kVision).image, 2u);
  EXPECT_EQ(anew.count<StopEncode>(), 1u);
  EXPECT_EQ(route.core().images().size(), 0u);
}

TEST_F(RouteImagesTest, OneThatWaitsForAnEncoderIsTheBalancers) {
  submits();
  moved(assigned(1).only<MoveBytes>(kFabric).move);
  EXPECT_TRUE(looks_after(seconds(10)).silent());
}

TEST_F(RouteImagesTest, APlaceThatALostEngineAskedForIsGivenBack) {
  encoding();
  const Turn turn =
      route.hears(DecodeReserved{{{kRequest, kInstance, 1, seconds(10), 5}}}, from(kDecode));
  EXPECT_EQ(turn.only<ReleaseDecode>(kDecode).rows.at(0).request, kRequest);
  EXPECT_TRUE(
      route.hears(DecodeReservationLost{kRequest, Code::kDeadline}, from(kDecode)).silent());
  encoded(1);
  encoded(2);
  EXPECT_EQ(route.hears(PrefillEnded{{{kRequest, false}}}, from(kEngine)).count<MoveBytes>(), 0u);
}

TEST_F(RouteImagesTest, WhatNoEncoderTakesIsRejected) {
  const Turn many = route.hears(row(std::vector<SimulatedImage>(601)), from(kOwner));
  EXPECT_EQ(many.only<RowRejected>(kOwner).code, Code::kTooLarge);
  CoreDriver<RouteCore> blind([] {
    RouteCore::Args blind = route_args(kVision);
    auto wiring = std::make_shared<PdWiring>(*blind.wiring);
    wiring->vision_balancer = {};
    blind.wiring = wiring;
    return blind;
  }());
  const Turn turn = blind.hears(row({{140, 140, 500}}), from(kOwner));
  EXPECT_EQ(turn.only<RowRejected>(kOwner).code, Code::kUnsupported);
  EXPECT_FALSE(blind.starts().watches(ActorRef()));
}

TEST_F(RouteImagesTest, WithoutTheVisionBalancerNothingGoes) {
  EXPECT_TRUE(route.starts().watches(kVision));
  EXPECT_TRUE(route.hears_of_end(kVision).crashes());
}

}  // namespace
}  // namespace troupe
