// The store's answers, and its file: written in order, read again, given up when it fails.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "actors/responses/response_store_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kAsker = actor(10);
constexpr std::int64_t kNow = 1'000'000;

class ResponseStoreTest : public testing::Test {
 protected:
  ResponseStoreTest() {
    const char* name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path = std::filesystem::temp_directory_path() /
           ("troupe-responses-" + std::to_string(getpid()) + "-" + name);
    std::filesystem::remove(path);
  }
  ~ResponseStoreTest() override { std::filesystem::remove(path); }

  ResponseStoreCore::Args args(bool file) const {
    ResponseStoreCore::Args args;
    args.limits = {100, 4 << 20, 60};
    if (file) args.path = path;
    return args;
  }
  using Store = CoreDriver<ResponseStoreCore>;

  static Turn keep(Store& store, const std::string& id, const std::string& previous = "",
                   const std::string& body = "{}", const std::string& owner = "") {
    const StoredResponse response{id, previous, kNow, "", body, owner};
    return store.hears(
        KeepResponse{ResponseChain{{std::make_shared<const StoredResponse>(response)}}});
  }
  static ResponseAnswered ask(Store& store, const std::string& id, bool drop = false,
                              const std::string& owner = "") {
    return answer(store.hears(AskResponse{id, owner, drop, kNow}, from(kAsker)));
  }
  static ResponseAnswered answer(const Turn& turn) { return turn.only<ResponseAnswered>(kAsker); }
  /// Runs the jobs of a turn, and those that their ends ask for; the last turn.
  static Turn settle(Store& store, Turn turn) {
    while (!turn.all<effect::Compute>().empty()) {
      const auto jobs = turn.all<effect::Compute>();
      EXPECT_EQ(jobs.size(), 1u) << "one job at a time";
      const Message done = run_job(*jobs[0].job, jobs[0].op);
      turn = done.as<Done<LogOpened>>() != nullptr ? store.hears(*done.as<Done<LogOpened>>())
                                                   : store.hears(*done.as<Done<LogWritten>>());
    }
    return turn;
  }

  std::filesystem::path path;
};

TEST_F(ResponseStoreTest, GetDeleteAndNotFound) {
  Store store(args(false));
  store.starts();
  keep(store, "resp_a", "", "{\"id\":\"resp_a\"}");
  EXPECT_EQ(ask(store, "resp_a").body, "{\"id\":\"resp_a\"}");
  EXPECT_EQ(ask(store, "resp_a", true).body,
            R"({"id":"resp_a","object":"response","deleted":true})");
  const ResponseAnswered gone = ask(store, "resp_a");
  EXPECT_FALSE(gone.found);
  EXPECT_EQ(gone.code, Code::kNotFound);
  EXPECT_NE(gone.message.find("resp_a"), std::string::npos);
  EXPECT_FALSE(ask(store, "resp_a", true).found);
}

TEST_F(ResponseStoreTest, AConversationIsFetchedOrItsMissingPartNamed) {
  Store store(args(false));
  store.starts();
  keep(store, "a");
  keep(store, "b", "a");
  const auto fetch = [&](const char* id) {
    return store.hears(FetchConversation{id, "", kNow}, from(kAsker))
        .only<ConversationFetched>(kAsker);
  };
  EXPECT_EQ(fetch("b").chain.responses.size(), 2u);
  EXPECT_FALSE(fetch("c").found);
  EXPECT_EQ(fetch("c").code, Code::kNotFound);
}

TEST_F(ResponseStoreTest, ItSurvivesARestart) {
  {
    Store store(args(true));
    settle(store, store.starts());
    settle(store, keep(store, "a", "", "{\"n\":1}"));
    settle(store, keep(store, "b", "a"));
    settle(store, keep(store, "c"));
    settle(store, store.hears(AskResponse{"c", "", true, kNow}, from(kAsker)));
    EXPECT_TRUE(store.hears(Drain{seconds(1)}).stops());
  }
  Store next(args(true));
  EXPECT_EQ(settle(next, next.starts()).metric("troupe_responses_stored"), 2.0);
  EXPECT_EQ(ask(next, "a").body, "{\"n\":1}");
  EXPECT_TRUE(ask(next, "b").found);
  EXPECT_FALSE(ask(next, "c").found) << "deleted";
}

TEST_F(ResponseStoreTest, WhatIsKeptWhileTheFileIsReadIsNotLost) {
  {
    Store store(args(true));
    settle(store, store.starts());
    settle(store, keep(store, "old"));
  }
  {
    Store store(args(true));
    const Turn opening = store.starts();
    keep(store, "new");
    EXPECT_EQ(ask(store, "old").code, Code::kUnavailable);
    settle(store,
           Turn(store.hears(
               *run_job(*opening.all<effect::Compute>()[0].job, OpId{1}).as<Done<LogOpened>>())));
    EXPECT_TRUE(ask(store, "old").found);
    EXPECT_TRUE(ask(store, "new").found);
  }
  Store next(args(true));
  settle(next, next.starts());
  EXPECT_TRUE(ask(next, "new").found);
}

TEST_F(ResponseStoreTest, ChangesWaitForTheWriteUnderWayAndADrainForAll) {
  Store store(args(true));
  settle(store, store.starts());
  const Turn first = keep(store, "a");
  EXPECT_EQ(first.all<effect::Compute>().size(), 1u);
  EXPECT_TRUE(keep(store, "b").all<effect::Compute>().empty());
  EXPECT_TRUE(keep(store, "c").all<effect::Compute>().empty());
  EXPECT_FALSE(store.hears(Drain{seconds(1)}).stops());
  const Message written = run_job(*first.all<effect::Compute>()[0].job, OpId{1});
  const Turn second = store.hears(*written.as<Done<LogWritten>>());
  EXPECT_FALSE(second.stops());
  const Message rest = run_job(*second.all<effect::Compute>().at(0).job, OpId{1});
  EXPECT_TRUE(store.hears(*rest.as<Done<LogWritten>>()).stops());
}

TEST_F(ResponseStoreTest, AFileThatGrewIsWrittenAnew) {
  Store store(args(true));
  settle(store, store.starts());
  const std::string large(500'000, 'x');
  for (int i = 0; i < 10; ++i) settle(store, keep(store, "same", "", large));
  EXPECT_LT(std::filesystem::file_size(path), 3'100'000u);
  EXPECT_TRUE(ask(store, "same").found);
}

TEST_F(ResponseStoreTest, OwnersSeeTheirOwnAlsoAfterARestart) {
  {
    Store store(args(true));
    settle(store, store.starts());
    settle(store, keep(store, "a", "", "{}", "alice"));
    EXPECT_FALSE(ask(store, "a", false, "bob").found);
    EXPECT_FALSE(ask(store, "a", true, "bob").found) << "nor may others delete it";
  }
  Store next(args(true));
  settle(next, next.starts());
  EXPECT_TRUE(ask(next, "a", false, "alice").found);
  EXPECT_EQ(ask(next, "a", false, "bob").message,
            ask(next, "b", false, "bob").message.replace(18, 1, "a"))
      << "to others it is as if it were not there";
}

TEST_F(ResponseStoreTest, ALateWriteIsTriedAgainAndNothingIsMissing) {
  const TimerTag retry{1, 0};
  {
    Store store(args(true));
    settle(store, store.starts());
    const Turn writing = keep(store, "a");
    EXPECT_EQ(writing.all<effect::Compute>().at(0).job->length(), JobLength::kBlocks)
        << "prompts do not wait for it";
    Done<LogWritten> late;
    late.op = OpId{1};
    late.failed = true;
    late.error = {Code::kDeadline, "the job ran out of time"};
    const Turn failed = store.hears(late);
    EXPECT_EQ(failed.timer(retry), store.now() + seconds(1));
    EXPECT_TRUE(ask(store, "a").found);
    EXPECT_TRUE(keep(store, "b").all<effect::Compute>().empty()) << "not before its time";
    EXPECT_STREQ(store.core().phase(), "without its file");
    const Turn again = store.timer_fires(retry);
    EXPECT_EQ(store.hears(late).timer(retry), store.now() + seconds(2)) << "later and later";
    EXPECT_EQ(again.all<effect::Compute>().size(), 1u);
    settle(store, store.timer_fires(retry));
    EXPECT_STREQ(store.core().phase(), "idle");
    settle(store, keep(store, "c"));
  }
  Store next(args(true));
  settle(next, next.starts());
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(ask(next, id).found) << id;
}

TEST_F(ResponseStoreTest, AFileThatCouldNotBeOpenedIsOpenedLater) {
  {
    Store store(args(true));
    settle(store, store.starts());
    settle(store, keep(store, "old"));
  }
  Store first(args(true));
  settle(first, first.starts());
  Store second(args(true));
  const Turn failed = settle(second, second.starts());  // the first one has it open
  EXPECT_TRUE(failed.timer({1, 0}).has_value());
  settle(second, keep(second, "new"));
  first = Store(args(false));
  settle(second, second.timer_fires({1, 0}));
  EXPECT_TRUE(ask(second, "old").found);
  EXPECT_TRUE(ask(second, "new").found);
}

TEST_F(ResponseStoreTest, AFileThatIsNoneStopsNothing) {
  std::ofstream(path) << "this is no log of records";
  Store store(args(true));
  settle(store, store.starts());
  EXPECT_STREQ(store.core().phase(), "memory");
  EXPECT_TRUE(keep(store, "a").all<effect::Compute>().empty());
  EXPECT_TRUE(ask(store, "a").found);
  EXPECT_TRUE(store.hears(Drain{seconds(1)}).stops());
  EXPECT_EQ(std::filesystem::file_size(path), 25u) << "left as it was";
}

TEST_F(ResponseStoreTest, ABacklogOverItsBoundIsMadeUpForByARewrite) {
  ResponseStoreCore::Args small = args(true);
  small.backlog_max = 100;
  {
    Store store(small);
    settle(store, store.starts());
    const Turn first = keep(store, "a");
    const Turn over = keep(store, "b", "", std::string(200, 'x'));
    EXPECT_EQ(over.metric("troupe_responses_unwritten_total"), 1.0);
    settle(store,
           Turn(store.hears(
               *run_job(*first.all<effect::Compute>()[0].job, OpId{1}).as<Done<LogWritten>>())));
  }
  Store next(small);
  settle(next, next.starts());
  EXPECT_TRUE(ask(next, "a").found);
  EXPECT_TRUE(ask(next, "b").found);
}

}  // namespace
}  // namespace troupe
