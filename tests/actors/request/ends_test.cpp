// Every state and every end: one terminal answer to the session, and everything given back.
#include "tests/actors/request/request_driver.hpp"

namespace troupe {
namespace {

using State = RequestDriver::State;

enum class End { kClientGone, kDeadline, kCancelled, kStreamsDown, kRankDown, kRejected };

Turn carry_out(RequestDriver& request, End end) {
  switch (end) {
    case End::kClientGone:
      return request.driver.hears(SessionGone{6}, from(request.session));
    case End::kDeadline:
      return request.driver.timer_fires(RequestDriver::kDeadline);
    case End::kCancelled:
      return request.driver.hears(CancelRequest{request.id, "operator"}, from(request.gateway));
    case End::kStreamsDown:
      return request.driver.hears_of_end(request.streams);
    case End::kRankDown:
      return request.driver.hears_of_end(request.rank);
    case End::kRejected:
      return request.driver.hears(RowRejected{request.id, Code::kUnavailable, "full"},
                                  from(request.rank));
  }
  return Turn(Effects());
}

struct Case {
  const char* name;
  State state;
  End end;
  Release expected;
};

class RequestEnds : public testing::TestWithParam<Case> {};

TEST_P(RequestEnds, LeaveOneAnswerAndReleaseAll) {
  const Case& one = GetParam();
  RequestDriver request(one.state);
  EXPECT_EQ(request.release(carry_out(request, one.end)), one.expected);
}

/// Nobody is there to be answered; the session hears how far it came.
constexpr Release kNobodyToAnswer{.cuts = 1, .stops = true};
/// The stream table answers the session, says RowClosed, and that ends the request.
constexpr Release kThroughTheRow{.rows_failed = 1, .rows_cancelled = 1};

INSTANTIATE_TEST_SUITE_P(
    All, RequestEnds,
    testing::Values(
        Case{"PreparingClientGone", State::kPreparing, End::kClientGone, kNobodyToAnswer},
        Case{"PreparingDeadline", State::kPreparing, End::kDeadline,
             Release{.status = 504, .stops = true}},
        Case{"PreparingCancelled", State::kPreparing, End::kCancelled,
             Release{.status = 499, .stops = true}},
        Case{"PreparingStreamsDown", State::kPreparing, End::kStreamsDown,
             Release{.status = 503, .stops = true}},
        Case{"PlacingClientGone", State::kPlacing, End::kClientGone, kNobodyToAnswer},
        Case{"PlacingDeadline", State::kPlacing, End::kDeadline,
             Release{.status = 504, .stops = true}},
        Case{"PlacingCancelled", State::kPlacing, End::kCancelled,
             Release{.status = 499, .stops = true}},
        Case{"PlacingStreamsDown", State::kPlacing, End::kStreamsDown,
             Release{.status = 503, .stops = true}},
        Case{"RunningClientGone", State::kRunning, End::kClientGone,
             Release{.rows_closed = 1, .rows_cancelled = 1, .stops = true}},
        Case{"RunningDeadline", State::kRunning, End::kDeadline, kThroughTheRow},
        Case{"RunningCancelled", State::kRunning, End::kCancelled, kThroughTheRow},
        Case{"RunningStreamsDown", State::kRunning, End::kStreamsDown,
             Release{.cuts = 1, .rows_cancelled = 1, .stops = true}},
        Case{"RunningRankDown", State::kRunning, End::kRankDown, Release{.rows_failed = 1}},
        Case{"RunningRejected", State::kRunning, End::kRejected, kThroughTheRow}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RequestRefusals, ABodyThatIsRefusedIsAnsweredWithItsOwnError) {
  RequestDriver request(State::kPreparing);
  Done<Prepared> done;
  done.output.reply_status = 422;
  done.output.reply_body = R"({"error":{}})";
  const Turn end = request.driver.hears(done);
  EXPECT_EQ(request.release(end), (Release{.status = 422, .stops = true}));
  EXPECT_EQ(end.only<SessionRespond>(request.session).body, R"({"error":{}})");
  EXPECT_EQ(end.only<SessionRespond>(request.session).exchange, 6u);
}

TEST(RequestRefusals, AFailedPreparationIsAnsweredByItsCode) {
  RequestDriver request(State::kPreparing, "too much");
  EXPECT_EQ(request.release(request.prepares()), (Release{.status = 413, .stops = true}));
}

TEST(RequestRefusals, NoPlaceIsAnsweredByTheGatewaysCode) {
  const std::pair<Code, int> codes[] = {{Code::kNotFound, 404}, {Code::kUnavailable, 503}};
  for (const auto& [code, status] : codes) {
    RequestDriver request(State::kPlacing);
    const Turn end = request.driver.hears(NotPlaced{request.id, code, "no"}, from(request.gateway));
    EXPECT_EQ(request.release(end), (Release{.status = status, .stops = true}));
  }
}

TEST(RequestRefusals, ARankThatWasGoneAlreadyIsAnsweredThroughTheRow) {
  RequestDriver request(State::kRunning);
  const Turn end = request.driver.hears(Undeliverable{request.rank, SubmitRow::info.kind});
  EXPECT_EQ(end.only<FailRow>(request.streams).code, Code::kUnavailable);
}

TEST(RequestFailing, TheRowsCloseEndsIt) {
  RequestDriver request(State::kRunning);
  const Turn turn = carry_out(request, End::kDeadline);
  EXPECT_EQ(turn.only<FailRow>(request.streams).code, Code::kDeadline);
  EXPECT_EQ(turn.timer(RequestDriver::kDeadline), request.driver.now() + seconds(1));
  const Release end = request.release(request.row_closes(CloseReason::kFailed));
  EXPECT_TRUE(end.stops);
  EXPECT_EQ(end.status + end.cuts, 0) << "the stream table has answered";
}

TEST(RequestFailing, AStreamTableThatDoesNotAnswerLeavesACut) {
  RequestDriver request(State::kRunning);
  carry_out(request, End::kCancelled);
  const Release end = request.release(request.driver.timer_fires(RequestDriver::kDeadline));
  EXPECT_EQ(end.cuts, 1);
  EXPECT_TRUE(end.stops);
}

TEST(RequestFailing, ASecondEndAnswersNobodyAgain) {
  for (const End second : {End::kCancelled, End::kRankDown, End::kRejected}) {
    RequestDriver request(State::kRunning);
    carry_out(request, End::kDeadline);
    EXPECT_EQ(request.release(carry_out(request, second)), Release{});
  }
}

TEST(RequestFailing, AClientThatLeavesMeanwhileEndsItAtOnce) {
  RequestDriver request(State::kRunning);
  carry_out(request, End::kDeadline);
  const Release end = request.release(carry_out(request, End::kClientGone));
  EXPECT_TRUE(end.stops);
  EXPECT_EQ(end.rows_closed, 1);
  EXPECT_EQ(end.status + end.cuts, 0);
}

}  // namespace
}  // namespace troupe
