// The good life of a request: prepared, placed, running, done.
#include "runtime/actor/world.hpp"
#include "tests/actors/request/request_driver.hpp"

namespace troupe {
namespace {

TEST(RequestLife, ItsActorFitsIntoItsEntryOfASimulatedWorld) {
  EXPECT_LE(actor_type<RequestCore>.size, World::kActorInside)
      << "else each request has its actor elsewhere, and an empty place";
}

TEST(RequestLife, ItPreparesUnderItsDeadline) {
  RequestDriver request(RequestDriver::kPreparing);
  const Time deadline = request.driver.now() + seconds(60);
  EXPECT_EQ(request.started.timer(RequestDriver::kDeadline), deadline);
  EXPECT_TRUE(request.started.watches(request.streams));
  const auto jobs = request.started.all<effect::Compute>();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].deadline, deadline);
  EXPECT_EQ(jobs[0].job->modelled_time(), microseconds(20));
  EXPECT_STREQ(request.driver.core().phase(), "preparing");
}

TEST(RequestLife, PreparedItAsksItsGatewayForAPlace) {
  RequestDriver request(RequestDriver::kPreparing);
  const PlaceRequest place = request.prepares().only<PlaceRequest>(request.gateway);
  EXPECT_EQ(place.request, request.id);
  EXPECT_EQ(place.model, "m");
  EXPECT_STREQ(request.driver.core().phase(), "placing");
}

TEST(RequestLife, PlacedItOpensItsRowBeforeItSubmits) {
  RequestDriver request(RequestDriver::kPlacing);
  request.driver.passes(seconds(2));
  const Turn turn = request.is_placed();
  EXPECT_EQ(turn.order(), (std::vector<std::string>{"open_row", "submit_row"}));
  EXPECT_TRUE(turn.watches(request.rank));
  const OpenRow open = turn.only<OpenRow>(request.streams);
  EXPECT_EQ(open.request, request.id);
  EXPECT_EQ(open.owner, request.driver.self());
  EXPECT_EQ(open.session, request.session);
  EXPECT_EQ(open.exchange, 6u);
  EXPECT_EQ(open.rank, request.rank);
  EXPECT_EQ(open.arrived, Time(seconds(1).value));
  EXPECT_EQ(open.prompt_tokens, 3u);
  const SubmitRow submit = turn.only<SubmitRow>(request.rank);
  EXPECT_EQ(submit.request, request.id);
  EXPECT_EQ(submit.owner, request.driver.self());
  EXPECT_EQ(submit.streams, request.streams);
  EXPECT_EQ(submit.prompt.size(), 3u);
  EXPECT_EQ(submit.prompt_length, 3u);
  EXPECT_EQ(submit.max_tokens, 16u);
  EXPECT_EQ(submit.stop_ids, std::vector<TokenId>{TokenId(9)});
  EXPECT_EQ(submit.sampling.seed, 77u);
  EXPECT_EQ(submit.script, "hello");
  EXPECT_EQ(submit.time_left, seconds(58));
  EXPECT_EQ(to_traceparent(submit.trace),
            "00-00000000000000010000000000000002-0000000000000003-01");
  EXPECT_EQ(submit.tracestate, "a=b");
}

TEST(RequestLife, AFinishedRowEndsItWithoutACancel) {
  RequestDriver request(RequestDriver::kRunning);
  const Turn end = request.row_closes(CloseReason::kFinished);
  EXPECT_EQ(request.release(end), (Release{.stops = true}));
}

TEST(RequestLife, ARowThatClosedForAnotherReasonIsCancelledAtItsRank) {
  for (const CloseReason reason :
       {CloseReason::kStopString, CloseReason::kFailed, CloseReason::kSlowClient}) {
    RequestDriver request(RequestDriver::kRunning);
    const Turn end = request.row_closes(reason);
    EXPECT_EQ(request.release(end), (Release{.rows_cancelled = 1, .stops = true}));
  }
}

TEST(RequestLife, ARepeatedAnswerOfComputeOrGatewayChangesNothing) {
  RequestDriver request(RequestDriver::kRunning);
  EXPECT_TRUE(request.prepares().silent());
  EXPECT_TRUE(request.is_placed().silent());
}

TEST(RequestLife, SomeoneElsesEndChangesNothing) {
  RequestDriver request(RequestDriver::kRunning);
  const Turn turn = request.driver.hears_of_end(actor(99));
  EXPECT_EQ(request.release(turn), Release{});
}

}  // namespace
}  // namespace troupe
