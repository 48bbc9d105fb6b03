// From arrival to one line: what the server knows and what the actors know, in any order.
#include "actors/gateway/host_access_book.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

using How = http::Ended::How;

const Time kStart{seconds(5).value};

http::Request chat(const std::string& path = "/v1/chat/completions") {
  http::Request request;
  request.method = "POST";
  request.path = path;
  request.query = "key=secret";
  request.headers = {{"authorization", "Bearer secret"}, {"x-request-id", "mine"}};
  request.body = R"({"messages":"private"})";
  request.peer = "127.0.0.1:5";
  return request;
}

AnswerFacts stopped() {
  AnswerFacts facts;
  facts.request = RequestId(0x12);
  facts.model = "m";
  facts.ending = AnswerEnding::kStop;
  facts.prompt_tokens = 9;
  facts.output_tokens = 4;
  return facts;
}

http::Ended end(std::uint64_t session, How how = How::kAnswered, int status = 200) {
  http::Ended ended;
  ended.how = how;
  ended.session = http::SessionId(session);
  ended.status = status;
  ended.body_bytes = 77;
  return ended;
}

struct Book : testing::Test {
  AccessBook book{AccessBook::Options{}};
  std::vector<AccessRecord> take(Time now = kStart) {
    std::vector<AccessRecord> lines;
    dropped += book.take(lines, now);
    return lines;
  }
  std::uint64_t dropped = 0;
};

using AccessBookTest = Book;

TEST_F(AccessBookTest, BothSidesMakeOneLine) {
  book.open(http::SessionId(65), chat(), "alice", kStart);
  book.note(65, stopped());
  EXPECT_TRUE(take().empty()) << "its answer is not out";
  book.ended(end(65), "", kStart + milliseconds(30));
  book.ended(end(65), "", kStart + milliseconds(40));
  const auto lines = take();
  ASSERT_EQ(lines.size(), 1u);
  const AccessRecord& line = lines[0];
  EXPECT_EQ(to_string(line.id), "chatcmpl-0000000000000012");
  EXPECT_EQ(line.client_id, "mine");
  EXPECT_EQ(line.tenant, "alice");
  EXPECT_EQ(line.path, "/v1/chat/completions");
  EXPECT_STREQ(line.protocol, "chat");
  EXPECT_EQ(line.status, 200);
  EXPECT_STREQ(line.finish, "stop");
  EXPECT_EQ(line.body_bytes, 77u);
  EXPECT_EQ(line.total, milliseconds(30));
  EXPECT_EQ(line.request_text, "");
  EXPECT_TRUE(take().empty());
}

TEST_F(AccessBookTest, AClientThatLeftIsToldWithWhatWasDone) {
  book.open(http::SessionId(1), chat(), "", kStart);
  book.ended(end(1, How::kGone), "", kStart + milliseconds(3));
  EXPECT_TRUE(take().empty());
  AnswerFacts facts = stopped();
  facts.ending = AnswerEnding::kCancelled;
  book.note(1, facts);
  const auto lines = take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].status, 499);
  EXPECT_STREQ(lines[0].finish, "cancelled");
  EXPECT_EQ(lines[0].output_tokens, 4u);
}

TEST_F(AccessBookTest, AClientThatLeftIsToldWithoutIfNobodyKnows) {
  book.open(http::SessionId(1), chat(), "", kStart);
  book.ended(end(1, How::kGone, 0), "", kStart);
  EXPECT_TRUE(take(kStart + AccessBook::kFactsWait - milliseconds(1)).empty());
  EXPECT_EQ(take(kStart + AccessBook::kFactsWait).size(), 1u);
  book.note(1, stopped());
  EXPECT_TRUE(take(kStart + seconds(60)).empty());
}

TEST_F(AccessBookTest, TheEndOfTheNodeWaitsForNobody) {
  book.open(http::SessionId(1), chat(), "", kStart);
  book.ended(end(1, How::kGone, 0), "", kStart);
  EXPECT_TRUE(take().empty());
  book.close();
  EXPECT_EQ(take().size(), 1u);
}

TEST_F(AccessBookTest, LeavingAfterTheLastTokenIsStillLeaving) {
  book.open(http::SessionId(1), chat(), "", kStart);
  book.note(1, stopped());
  book.ended(end(1, How::kGone), "", kStart);
  const auto lines = take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].status, 499);
  EXPECT_EQ(lines[0].output_tokens, 4u);
}

TEST_F(AccessBookTest, RefusedRequestsHaveLinesToo) {
  const http::Request head = chat("/v1/messages");
  http::Ended refused = end(0, How::kAnswered, 413);
  refused.head = &head;
  refused.code = "request_too_large";
  refused.began = kStart;
  book.ended(refused, "alice", kStart + milliseconds(2));
  refused.head = nullptr;
  refused.status = 400;
  book.ended(refused, "", kStart);
  const auto lines = take();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].status, 413);
  EXPECT_EQ(lines[0].error, "request_too_large");
  EXPECT_EQ(lines[0].tenant, "alice");
  EXPECT_STREQ(lines[0].protocol, "messages");
  EXPECT_EQ(lines[0].total, milliseconds(2));
  EXPECT_EQ(lines[1].path, "");
}

TEST_F(AccessBookTest, HealthIsSilentUnlessAsked) {
  for (const char* path : {"/health", "/live", "/ready", "/metrics"}) {
    book.open(http::SessionId(1), chat(path), "", kStart);
    book.ended(end(1), "", kStart);
  }
  EXPECT_TRUE(take().empty());
  AccessBook all{AccessBook::Options{.health = true}};
  all.open(http::SessionId(1), chat("/health"), "", kStart);
  all.ended(end(1), "", kStart);
  std::vector<AccessRecord> lines;
  all.take(lines, kStart);
  EXPECT_EQ(lines.size(), 1u);
}

TEST_F(AccessBookTest, TheSecretOfAKeptResponseIsCut) {
  const std::string id = "resp_0000000000000012" + std::string(32, 'a');
  book.open(http::SessionId(1), chat("/v1/responses/" + id), "", kStart);
  book.ended(end(1), "", kStart);
  EXPECT_EQ(take().at(0).path, "/v1/responses/resp_0000000000000012");
}

TEST_F(AccessBookTest, TextsAreKeptUpToTheirBound) {
  AccessBook told{AccessBook::Options{.text_bytes = 10}};
  told.open(http::SessionId(1), chat(), "", kStart);
  told.answer_text(1, "an ans");
  told.answer_text(1, "wer that is long");
  told.answer_text(1, "er");
  told.ended(end(1), "", kStart);
  std::vector<AccessRecord> lines;
  told.take(lines, kStart);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].request_text, R"({"messages)");
  EXPECT_EQ(lines[0].answer_text, "an answer ");
}

TEST_F(AccessBookTest, WhatHasNoRoomIsCounted) {
  AccessBook small{AccessBook::Options{.waiting_max = 3}};
  for (std::uint64_t i = 0; i < 5; ++i) {
    small.open(http::SessionId(64 * i + 1), chat(), "", kStart);
    small.ended(end(64 * i + 1), "", kStart);
  }
  std::vector<AccessRecord> lines;
  EXPECT_EQ(small.take(lines, kStart), 2u);
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_EQ(small.take(lines, kStart), 0u);
}

}  // namespace
}  // namespace troupe
