// Streams that are silent get signs of life, in virtual time; and what an answer's end says of it.
#include "actors/stream_table/stream_table_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kPatient = actor(11);
const ActorRef kReader = actor(21);
const ActorRef kSource = actor(31);
constexpr TimerTag kSilence{2, 0};
constexpr Duration kInterval = seconds(16);

struct LivelyWriter final : AnswerWriter {
  bool feed(const RowTokens&, std::string& out) override {
    out += "token ";
    return false;
  }
  void finish(Finish, std::uint32_t, std::string& out) override { out += "end"; }
  void keep_alive(std::string& out) override { out += "alive "; }
  void fail(Code, const std::string&, std::string& out) override { out += "failed"; }
  AnswerTally tally() const override { return {3, 2, true}; }
};

struct LivelyFormat final : AnswerFormat {
  explicit LivelyFormat(bool stream) : stream_(stream) {}
  recipe::Protocol protocol() const override { return recipe::Protocol::kChat; }
  bool streamed() const override { return stream_; }
  const char* content_type() const override { return "text/plain"; }
  WriterOfRow open() const override { return make_writer<LivelyWriter>(); }
  bool stream_;
};

class KeepAlive : public testing::Test {
 protected:
  static StreamTableCore::Args patience(Duration interval = kInterval) {
    StreamTableCore::Args args;
    args.keep_alive = interval;
    args.buffer_max = Bytes(100);
    return args;
  }
  Turn open(std::uint64_t id = 7, bool stream = true) {
    OpenRow row;
    row.request = RequestId(id);
    row.owner = kPatient;
    row.session = kReader;
    row.exchange = id;
    row.rank = kSource;
    row.arrived = table.now();
    row.prompt_tokens = 40;
    row.model = "m";
    row.answer.format = std::make_shared<const LivelyFormat>(stream);
    return table.hears(row, from(kPatient));
  }
  Turn token(std::uint64_t id = 7, Finish finish = Finish::kNone) {
    TokenBatch batch;
    batch.rank = kSource;
    RowTokens& row = batch.rows.emplace_back();
    row.request = RequestId(id);
    row.first = sent_[id]++;
    row.tokens = {TokenId(1)};
    row.finish = finish;
    row.queued = milliseconds(30);
    return table.hears(batch, from(kSource));
  }
  /// Lets the timer fire when it is due.
  Turn wait_for(Time due) {
    table.passes(due - table.now());
    return table.timer_fires(kSilence);
  }
  static std::string said(const Turn& turn, std::uint64_t id = 7) {
    std::string bytes;
    for (const auto& write : turn.sent<SessionWrite>(kReader)) {
      if (write.exchange == id) bytes += write.bytes;
    }
    return bytes;
  }

  CoreDriver<StreamTableCore> table{patience()};
  std::map<std::uint64_t, std::uint32_t> sent_;
};

TEST_F(KeepAlive, ALongWaitForTheFirstTokenIsBroken) {
  const Turn opened = open();
  const auto due = opened.timer(kSilence);
  ASSERT_EQ(due, table.now() + kInterval);
  const Turn first = wait_for(*due);
  EXPECT_EQ(first.only<SessionBegin>(kReader).status, 200) << "the head goes out with it";
  EXPECT_EQ(said(first), "alive ");
  const auto again = first.timer(kSilence);
  ASSERT_EQ(again, table.now() + kInterval);
  const Turn second = wait_for(*again);
  EXPECT_EQ(second.count<SessionBegin>(), 0u);
  EXPECT_EQ(said(second), "alive ");
  EXPECT_EQ(said(token()), "token ");
}

TEST_F(KeepAlive, AnErrorBehindTheFirstOneIsToldInTheStream) {
  wait_for(*open().timer(kSilence));
  const Turn failed = table.hears(FailRow{RequestId(7), Code::kLost, "lost"}, from(kPatient));
  EXPECT_EQ(said(failed), "failed");
  EXPECT_EQ(failed.count<SessionRespond>(), 0u);
}

TEST_F(KeepAlive, ATalkingStreamNeedsNone) {
  auto due = open().timer(kSilence);
  for (int i = 0; i < 20; ++i) {
    table.passes(seconds(5));
    const Turn spoken = token();
    EXPECT_FALSE(spoken.timer(kSilence)) << "a token sets no timer";
    if (table.now() < *due) continue;
    const Turn looked = table.timer_fires(kSilence);
    EXPECT_EQ(said(looked), "");
    due = looked.timer(kSilence);
    ASSERT_TRUE(due);
  }
}

TEST_F(KeepAlive, SilenceIsNeverLongerThanTheIntervalAndASixteenth) {
  open(7);
  auto due = std::optional<Time>(table.now() + kInterval);
  table.passes(milliseconds(10));
  open(8);
  std::map<std::uint64_t, Time> last{{7, table.now() - milliseconds(10)}, {8, table.now()}};
  for (int i = 0; i < 12; ++i) {
    const Turn turn = wait_for(*due);
    for (const std::uint64_t id : {7u, 8u}) {
      EXPECT_LE(table.now() - last[id], kInterval + kInterval / 16);
      if (!said(turn, id).empty()) last[id] = table.now();
    }
    due = turn.timer(kSilence);
    ASSERT_TRUE(due);
  }
  EXPECT_GT(last[7], Time(seconds(80).value));
  EXPECT_GT(last[8], Time(seconds(80).value));
}

TEST_F(KeepAlive, NothingFollowsTheEndAndTheTimerEndsWithTheLastRow) {
  const auto due = open().timer(kSilence);
  EXPECT_EQ(said(token(7, Finish::kStop)), "token end");
  const Turn late = wait_for(*due);
  EXPECT_TRUE(late.silent());
  EXPECT_FALSE(late.timer(kSilence));
  EXPECT_TRUE(open(8).timer(kSilence)) << "and begins anew with the next";
}

TEST_F(KeepAlive, WholeAnswersAndParkedRowsGetNone) {
  EXPECT_FALSE(open(6, false).timer(kSilence));
  const auto due = open().timer(kSilence);
  for (int i = 0; i < 20; ++i) token();  // over 100 bytes that nobody read
  const Turn looked = wait_for(*due);
  EXPECT_TRUE(looked.silent()) << looked.story();
  EXPECT_TRUE(looked.timer(kSilence));
}

TEST(KeepAliveOff, NoTimerIsSet) {
  StreamTableCore::Args args;
  CoreDriver<StreamTableCore> table(args);
  OpenRow row;
  row.request = RequestId(7);
  row.answer.format = std::make_shared<const LivelyFormat>(true);
  EXPECT_TRUE(table.hears(row, from(kPatient)).all<effect::Timer>().empty());
}

TEST_F(KeepAlive, TheEndTellsWhatTheAnswerWasMadeOf) {
  open();
  table.passes(milliseconds(50));
  token();
  table.passes(milliseconds(70));
  const AnswerFacts facts = token(7, Finish::kStop).only<SessionEnd>(kReader).facts;
  EXPECT_EQ(facts.request, RequestId(7));
  EXPECT_EQ(facts.model, "m");
  EXPECT_TRUE(facts.streamed);
  EXPECT_EQ(facts.ending, AnswerEnding::kToolCalls);
  EXPECT_EQ(facts.prompt_tokens, 40u);
  EXPECT_EQ(facts.cached_tokens, 3u);
  EXPECT_EQ(facts.output_tokens, 2u);
  EXPECT_EQ(facts.reasoning_tokens, 2u);
  EXPECT_EQ(facts.queued, milliseconds(30));
  EXPECT_EQ(facts.first_token, milliseconds(50));
  EXPECT_EQ(facts.decoded, milliseconds(70));
  EXPECT_EQ(facts.code, "");
}

TEST_F(KeepAlive, AFailureNamesItsCode) {
  open(7, false);
  const Turn failed = table.hears(FailRow{RequestId(7), Code::kDeadline, "late"}, from(kPatient));
  const AnswerFacts facts = failed.only<SessionRespond>(kReader).facts;
  EXPECT_EQ(facts.ending, AnswerEnding::kError);
  EXPECT_EQ(facts.code, "deadline_exceeded");
  EXPECT_EQ(facts.output_tokens, 0u);
}

}  // namespace
}  // namespace troupe
