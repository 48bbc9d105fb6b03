// One answer of several choices: whose tokens are whose, and one end.
#include "actors/stream_table/stream_table_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kAsker = actor(11);
const ActorRef kClient = actor(21);
const ActorRef kPlace = actor(31);
const ActorRef kStore = actor(41);

/// Writes "CHOICE:TOKEN " for each token and "CHOICE! " for an end; token 99 is a stop string.
struct IndexFormat final : AnswerFormat {
  recipe::Protocol protocol() const override { return recipe::Protocol::kChat; }
  bool streamed() const override { return true; }
  const char* content_type() const override { return "text/plain"; }
  WriterOfRow open() const override;
};

struct IndexWriter final : AnswerWriter {
  void turn_to(std::uint32_t choice) override { name = std::to_string(choice); }
  bool feed(const RowTokens& tokens, std::string& out) override {
    for (const TokenId token : tokens.tokens) {
      if (token == TokenId(99)) return true;
      out += name + ":" + std::to_string(token.value) + " ";
    }
    return false;
  }
  void finish(Finish, std::uint32_t, std::string& out) override { out += name + "! "; }
  void keep_alive(std::string& out) override { out += "alive "; }
  void fail(Code, const std::string&, std::string& out) override { out += "failed"; }
  SharedResponse kept() const override {
    return std::make_shared<const StoredResponse>(StoredResponse{"resp_1", "", 0, "", "{}"});
  }
  std::string name = "0";
};

WriterOfRow IndexFormat::open() const {
  return make_writer<IndexWriter>();
}

class StreamChoicesTest : public testing::Test {
 protected:
  StreamChoicesTest() : table(StreamTableCore::Args{}) {
    OpenRow row;
    row.request = RequestId(1);
    row.owner = kAsker;
    row.session = kClient;
    row.exchange = 5;
    row.rank = kPlace;
    row.more_rows = {RequestId(2), RequestId(3)};
    row.answer.format = std::make_shared<const IndexFormat>();
    row.store = kStore;
    table.hears(row, from(kAsker));
  }

  Turn tokens(std::uint64_t row, std::vector<std::int32_t> ids, std::uint32_t first = 0,
              Finish finish = Finish::kNone) {
    RowTokens one;
    one.request = RequestId(row);
    one.first = first;
    for (const std::int32_t id : ids) one.tokens.emplace_back(id);
    one.finish = finish;
    return table.hears(TokenBatch{kPlace, ++step, false, {one}}, from(kPlace));
  }
  static std::string written(const Turn& turn) {
    std::string bytes;
    for (const auto& write : turn.sent<SessionWrite>(kClient)) bytes += write.bytes;
    return bytes;
  }

  CoreDriver<StreamTableCore> table;
  std::uint64_t step = 0;
};

TEST_F(StreamChoicesTest, TokensGoToTheirChoiceAndTheLastEndEndsTheAnswer) {
  EXPECT_EQ(written(tokens(2, {7})), "1:7 ");
  EXPECT_EQ(written(tokens(1, {8, 9})), "0:8 0:9 ");
  EXPECT_EQ(written(tokens(3, {5}, 0, Finish::kStop)), "2:5 2! ");
  const Turn second = tokens(1, {6}, 2, Finish::kLength);
  EXPECT_EQ(written(second), "0:6 0! ");
  EXPECT_EQ(second.count<SessionEnd>() + second.count<RowClosed>(), 0u);
  const Turn last = tokens(2, {6}, 1, Finish::kStop);
  EXPECT_EQ(written(last), "1:6 1! ");
  EXPECT_EQ(last.count<SessionEnd>(), 1u);
  const RowClosed closed = last.only<RowClosed>(kAsker);
  EXPECT_EQ(closed.request, RequestId(1));
  EXPECT_EQ(closed.output_tokens, 6u);
  EXPECT_EQ(table.core().rows(), 0u);
}

TEST_F(StreamChoicesTest, AStopStringEndsItsChoiceAtTheRankToo) {
  tokens(1, {7});
  const Turn stopped = tokens(2, {99});
  EXPECT_EQ(stopped.only<CancelRow>(kPlace).request, RequestId(2));
  EXPECT_TRUE(written(tokens(2, {8}, 1)).empty()) << "tokens on their way are dropped";
  EXPECT_EQ(tokens(1, {}, 1, Finish::kStop).count<SessionEnd>(), 0u);
  EXPECT_EQ(tokens(3, {}, 0, Finish::kStop).count<SessionEnd>(), 1u);
}

TEST_F(StreamChoicesTest, AFailureOfOneIsTheEndOfAll) {
  tokens(1, {7});
  const Turn failed = tokens(3, {}, 0, Finish::kFailed);
  EXPECT_EQ(failed.count<SessionCut>(), 1u);
  EXPECT_EQ(failed.only<RowClosed>(kAsker).reason, CloseReason::kFailed);
  EXPECT_TRUE(written(tokens(2, {8})).empty());
}

TEST_F(StreamChoicesTest, TokensLostOfOneChoiceAreNoticed) {
  tokens(2, {7});
  EXPECT_EQ(tokens(2, {8}, 2).count<SessionCut>(), 1u);
}

TEST_F(StreamChoicesTest, ASlowClientParksAllThatStillRun) {
  tokens(3, {}, 0, Finish::kStop);
  const Turn full = tokens(1, std::vector<std::int32_t>(60'000, 1234567));
  std::vector<RequestId> parked;
  for (const auto& park : full.sent<ParkRow>(kPlace)) parked.push_back(park.request);
  EXPECT_EQ(parked, (std::vector<RequestId>{RequestId(1), RequestId(2)}));
}

TEST_F(StreamChoicesTest, WhatIsKeptReachesTheStoreBeforeTheClientSeesTheEnd) {
  tokens(1, {}, 0, Finish::kStop);
  EXPECT_EQ(tokens(2, {}, 0, Finish::kStop).count<KeepResponse>(), 0u);
  const Turn last = tokens(3, {}, 0, Finish::kStop);
  EXPECT_EQ(last.only<KeepResponse>(kStore).one.responses.at(0)->id, "resp_1");
  EXPECT_EQ(last.order(), (std::vector<std::string>{"keep_response", "session_write", "session_end",
                                                    "row_closed"}));
}

}  // namespace
}  // namespace troupe
