// One row a live request: what the client is sent, when, and that it gets exactly one end.
#include "actors/stream_table/stream_table_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kOwner = actor(10);
const ActorRef kSession = actor(20);
const ActorRef kRank = actor(30);
constexpr std::uint64_t kExchange = 5;
constexpr TimerTag kParkTimer{1, 7};

/// Writes each token as "<id>", a stop string at token 99, and its end in square brackets.
struct PlainFormat final : AnswerFormat {
  explicit PlainFormat(bool stream, recipe::Protocol protocol = recipe::Protocol::kChat)
      : stream_(stream), protocol_(protocol) {}
  recipe::Protocol protocol() const override { return protocol_; }
  bool streamed() const override { return stream_; }
  const char* content_type() const override { return "text/plain"; }
  WriterOfRow open() const override;
  bool stream_;
  recipe::Protocol protocol_;
};

struct PlainWriter final : AnswerWriter {
  explicit PlainWriter(bool stream) : stream_(stream) {}
  bool feed(const RowTokens& tokens, std::string& out) override {
    for (const TokenId token : tokens.tokens) {
      if (token == TokenId(99)) return true;
      (stream_ ? out : whole_) += "<" + std::to_string(token.value) + ">";
    }
    return false;
  }
  void finish(Finish finish, std::uint32_t tokens, std::string& out) override {
    out += whole_ + (finish == Finish::kLength ? "[length " : "[stop ") + std::to_string(tokens);
    out += "]";
  }
  void keep_alive(std::string& out) override { out += "[alive]"; }
  AnswerTally tally() const override { return {3, 2, false}; }
  void fail(Code code, const std::string& message, std::string& out) override {
    out += "[" + std::string(to_string(code)) + ": " + message + "]";
  }
  bool stream_;
  std::string whole_;
};

WriterOfRow PlainFormat::open() const {
  return make_writer<PlainWriter>(stream_);
}

class StreamTableTest : public testing::Test {
 protected:
  StreamTableTest() : streams(args()) {}
  static StreamTableCore::Args args() {
    StreamTableCore::Args args;
    args.buffer_max = Bytes(20);
    args.park_max = seconds(10);
    return args;
  }

  Turn open(bool stream = true, std::uint64_t request = 7,
            recipe::Protocol protocol = recipe::Protocol::kChat) {
    OpenRow row;
    row.request = RequestId(request);
    row.owner = kOwner;
    row.session = kSession;
    row.exchange = kExchange;
    row.rank = kRank;
    row.arrived = streams.now();
    row.answer.format = std::make_shared<const PlainFormat>(stream, protocol);
    return streams.hears(row, from(kOwner));
  }
  /// The rank's next tokens of request 7.
  Turn tokens(std::vector<std::int32_t> ids, Finish finish = Finish::kNone) {
    RowTokens row;
    row.request = RequestId(7);
    row.first = sent_;
    for (const std::int32_t id : ids) row.tokens.emplace_back(id);
    row.finish = finish;
    sent_ += static_cast<std::uint32_t>(ids.size());
    return batch(std::move(row));
  }
  Turn batch(RowTokens row, const ActorRef& rank = kRank) {
    TokenBatch message;
    message.rank = rank;
    message.step = ++step_;
    message.acknowledge = acknowledge_;
    message.rows.push_back(std::move(row));
    return streams.hears(message, from(rank));
  }
  Turn drained(std::uint64_t bytes) {
    return streams.hears(SessionDrained{RequestId(7), kExchange, bytes}, from(kSession));
  }
  static std::string written(const Turn& turn) {
    std::string bytes;
    for (const auto& write : turn.sent<SessionWrite>(kSession)) bytes += write.bytes;
    return bytes;
  }

  CoreDriver<StreamTableCore> streams;
  std::uint32_t sent_ = 0;
  std::uint64_t step_ = 0;
  bool acknowledge_ = false;
};

TEST_F(StreamTableTest, NothingIsWrittenBeforeTheFirstToken) {
  const Turn opened = open();
  EXPECT_TRUE(opened.silent());
  EXPECT_TRUE(opened.watches(kOwner));
  const Turn first = tokens({1, 2});
  EXPECT_EQ(first.only<SessionBegin>(kSession).status, 200);
  const SessionWrite write = first.only<SessionWrite>(kSession);
  EXPECT_EQ(write.exchange, kExchange);
  EXPECT_EQ(write.bytes, "<1><2>");
  EXPECT_EQ(write.tokens, 2u);
  EXPECT_EQ(tokens({3}).count<SessionBegin>(), 0u) << "headers go once";
}

TEST_F(StreamTableTest, LogprobsThatFitNoTokensFailTheRow) {
  open();
  RowTokens row;
  row.request = RequestId(7);
  row.tokens = {TokenId(1), TokenId(2)};
  row.logprobs.resize(1);
  const Turn failed = batch(row);
  EXPECT_EQ(failed.only<SessionRespond>(kSession).status, 500);
  EXPECT_EQ(failed.only<RowClosed>(kOwner).reason, CloseReason::kFailed);
}

TEST_F(StreamTableTest, TheFirstTokenIsTimedFromTheArrival) {
  open();
  streams.passes(milliseconds(250));
  EXPECT_EQ(tokens({1}).metric("vllm:time_to_first_token_seconds"), 0.25);
  streams.passes(milliseconds(50));
  const Turn second = tokens({2});
  EXPECT_EQ(second.metric("vllm:inter_token_latency_seconds"), 0.05);
  EXPECT_FALSE(second.metric("vllm:time_to_first_token_seconds"));
}

TEST_F(StreamTableTest, AFinishedStreamEndsOnceAndTellsItsOwner) {
  open();
  tokens({1});
  const Turn end = tokens({2}, Finish::kLength);
  EXPECT_EQ(written(end), "<2>[length 2]");
  EXPECT_EQ(end.only<SessionEnd>(kSession).exchange, kExchange);
  const RowClosed closed = end.only<RowClosed>(kOwner);
  EXPECT_EQ(closed.reason, CloseReason::kFinished);
  EXPECT_EQ(closed.output_tokens, 2u);
  EXPECT_TRUE(end.unwatches(kOwner));
  EXPECT_EQ(streams.core().rows(), 0u);
}

TEST_F(StreamTableTest, AWholeAnswerIsOneResponseAtItsEnd) {
  open(false);
  const Turn middle = tokens({1, 2});
  EXPECT_TRUE(middle.silent());
  const SessionRespond answer = tokens({3}, Finish::kStop).only<SessionRespond>(kSession);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "<1><2><3>[stop 3]");
  EXPECT_EQ(answer.tokens, 3u);
}

TEST_F(StreamTableTest, AStopStringClosesTheRowAndSaysSo) {
  open();
  tokens({1});
  const Turn end = tokens({2, 99, 3});
  EXPECT_EQ(written(end), "<2>[stop 4]");
  EXPECT_EQ(end.count<SessionEnd>(), 1u);
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kStopString);
}

TEST_F(StreamTableTest, AnErrorBeforeTheFirstByteHasItsOwnStatus) {
  open();
  const Turn end = streams.hears(FailRow{RequestId(7), Code::kUnavailable, "no rank"});
  EXPECT_EQ(end.only<SessionRespond>(kSession).status, 503);
  EXPECT_EQ(end.count<SessionBegin>() + end.count<SessionEnd>() + end.count<SessionCut>(), 0u);
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kFailed);
}

TEST_F(StreamTableTest, AnErrorAfterTheFirstByteIsWrittenAndTheStreamCut) {
  open();
  tokens({1});
  const Turn end = streams.hears(FailRow{RequestId(7), Code::kLost, "rank gone"});
  EXPECT_EQ(end.order(), (std::vector<std::string>{"session_write", "session_cut", "row_closed"}));
  EXPECT_NE(written(end).find("rank gone"), std::string::npos);
}

TEST_F(StreamTableTest, AWholeAnswerFailsWithAStatusEvenAfterTokens) {
  open(false);
  tokens({1});
  const Turn end = streams.hears(FailRow{RequestId(7), Code::kLost, "rank gone"});
  EXPECT_GE(end.only<SessionRespond>(kSession).status, 500);
  EXPECT_EQ(end.count<SessionCut>(), 0u);
}

TEST_F(StreamTableTest, ARowThatFailedAtItsRankReachesTheClient) {
  open();
  RowTokens row;
  row.request = RequestId(7);
  row.finish = Finish::kFailed;
  row.code = Code::kInvalid;
  row.error = "no such script";
  const Turn end = batch(std::move(row));
  EXPECT_EQ(end.only<SessionRespond>(kSession).status, 400);
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kFailed);
}

TEST_F(StreamTableTest, AGapInTheTokensFailsTheRow) {
  open();
  tokens({1});
  ++sent_;  // a batch was lost
  const Turn end = tokens({3});
  EXPECT_EQ(written(end).find("<3>"), std::string::npos);
  EXPECT_EQ(end.count<SessionCut>(), 1u);
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kFailed);
}

TEST_F(StreamTableTest, TokensThatComeAgainArePassedOver) {
  open();
  EXPECT_EQ(written(tokens({1, 2})), "<1><2>");
  sent_ = 0;
  EXPECT_EQ(written(tokens({1, 2})), "");
  EXPECT_EQ(written(tokens({3})), "<3>");
  sent_ = 2;
  const Turn end = tokens({3, 4}, Finish::kStop);  // in part: nobody sends that
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kFailed);
}

// Cases responses-01, responses-07: the body ends after response.failed.
TEST_F(StreamTableTest, AFailedStreamOfResponsesEndsOthersAreCut) {
  open(true, 7, recipe::Protocol::kResponses);
  tokens({1});
  RowTokens row;
  row.request = RequestId(7);
  row.first = 1;
  row.finish = Finish::kFailed;
  row.code = Code::kLost;
  const Turn end = batch(std::move(row));
  EXPECT_EQ(end.count<SessionCut>(), 0u);
  EXPECT_EQ(end.count<SessionEnd>(), 1u);
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kFailed);
}

TEST_F(StreamTableTest, BatchesThatAskAreCreditedTokensOfClosedRowsAreDropped) {
  open();
  streams.hears(CloseRow{RequestId(7)});
  EXPECT_TRUE(tokens({1}).silent());
  acknowledge_ = true;
  const Turn late = tokens({1});
  EXPECT_EQ(late.order(), std::vector<std::string>{"batch_taken"});
  EXPECT_EQ(late.only<BatchTaken>(kRank).step, step_);
}

TEST_F(StreamTableTest, TokensOfAnotherRankAreDropped) {
  open();
  RowTokens row;
  row.request = RequestId(7);
  row.tokens = {TokenId(1)};
  EXPECT_TRUE(batch(std::move(row), actor(31)).silent());
}

TEST_F(StreamTableTest, AClosedRowTellsWhatThereWasOfIt) {
  open();
  tokens({1});
  const Turn turn = streams.hears(CloseRow{RequestId(7)});
  const AnswerFacts facts = turn.only<SessionCut>(kSession).facts;
  EXPECT_EQ(facts.ending, AnswerEnding::kCancelled);
  EXPECT_EQ(facts.output_tokens, 1u);
  EXPECT_EQ(turn.order().size(), 1u);
  EXPECT_TRUE(turn.unwatches(kOwner));
  EXPECT_EQ(streams.core().rows(), 0u);
}

TEST_F(StreamTableTest, ASlowClientParksItsRowAndReadingUnparksIt) {
  open();
  EXPECT_EQ(tokens({1, 2, 3, 4, 5, 6}).count<ParkRow>(), 0u);  // 18 bytes of 20
  const Turn over = tokens({7});
  EXPECT_TRUE(over.only<ParkRow>(kRank).parked);
  EXPECT_EQ(over.timer(kParkTimer), streams.now() + seconds(10));
  EXPECT_EQ(tokens({8}).count<ParkRow>(), 0u) << "once is enough";
  EXPECT_EQ(drained(13).count<ParkRow>(), 0u) << "11 bytes: above half";
  const Turn under = drained(14);
  EXPECT_FALSE(under.only<ParkRow>(kRank).parked);
  EXPECT_TRUE(under.cancels_timer(kParkTimer));
}

TEST_F(StreamTableTest, AClientThatDoesNotReadForTooLongIsCut) {
  open();
  tokens({1, 2, 3, 4, 5, 6, 7});
  const Turn end = streams.timer_fires(kParkTimer);
  EXPECT_EQ(end.only<SessionCut>(kSession).exchange, kExchange);
  EXPECT_EQ(end.only<RowClosed>(kOwner).reason, CloseReason::kSlowClient);
  EXPECT_EQ(end.metric("troupe_rows_cut_slow_client_total"), 1.0);
  EXPECT_EQ(streams.core().rows(), 0u);
}

TEST_F(StreamTableTest, AParkedRowThatFinishesNeedsItsTimerNoLonger) {
  open();
  tokens({1, 2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(tokens({8}, Finish::kStop).cancels_timer(kParkTimer));
}

TEST_F(StreamTableTest, DrainedOfAnUnknownExchangeChangesNothing) {
  open();
  tokens({1, 2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(streams.hears(SessionDrained{RequestId(7), kExchange, 99}, from(actor(21))).silent());
  EXPECT_TRUE(
      streams.hears(SessionDrained{RequestId(7), kExchange + 1, 99}, from(kSession)).silent());
  EXPECT_TRUE(streams.hears(SessionDrained{RequestId(8), kExchange, 99}, from(kSession)).silent());
}

TEST_F(StreamTableTest, TheOwnersEndBecomesAnErrorOfTheClient) {
  open();
  EXPECT_TRUE(streams.hears_of_end(actor(11)).silent());
  EXPECT_EQ(streams.hears_of_end(kOwner).only<SessionRespond>(kSession).status, 500);
  EXPECT_EQ(streams.core().rows(), 0u);
}

TEST_F(StreamTableTest, TheOwnersEndCutsAStreamThatHasBegun) {
  open();
  tokens({1});
  EXPECT_EQ(streams.hears_of_end(kOwner).only<SessionCut>(kSession).exchange, kExchange);
}

TEST_F(StreamTableTest, ASecondRowOfARequestIsAWiringFault) {
  open();
  EXPECT_THROW(open(), AssertionFailure);
}

TEST_F(StreamTableTest, ADrainWaitsForItsRows) {
  open();
  EXPECT_FALSE(streams.hears(Drain{seconds(5)}).stops());
  EXPECT_TRUE(tokens({1}, Finish::kStop).stops());
  CoreDriver<StreamTableCore> idle(args());
  EXPECT_TRUE(idle.hears(Drain{seconds(5)}).stops());
}

}  // namespace
}  // namespace troupe
