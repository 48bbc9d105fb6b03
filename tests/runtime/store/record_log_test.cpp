// A log on a real file: what comes back, and what damaged and strange files do.
#include "runtime/store/record_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

constexpr std::uint32_t kRecordMax = 1000;

class RecordLogTest : public testing::Test {
 protected:
  RecordLogTest() {
    const char* name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path = std::filesystem::temp_directory_path() /
           ("troupe-log-" + std::to_string(getpid()) + "-" + name);
    std::filesystem::remove(path);
  }
  ~RecordLogTest() override {
    std::filesystem::remove(path);
    std::filesystem::remove(path.string() + ".damaged");
  }

  Result<RecordLog> open() {
    seen.clear();
    return RecordLog::open(path, kRecordMax,
                           [&](std::string_view record) { seen.emplace_back(record); });
  }
  /// The file's content after three records.
  std::string three() {
    const std::vector<std::string> records{"one", "two", "three"};
    auto log = open();
    EXPECT_TRUE(log.ok() && log->append(records).ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }

  std::filesystem::path path;
  std::vector<std::string> seen;
};

using Strings = std::vector<std::string>;

TEST_F(RecordLogTest, WhatWasAppendedComesBackInOrder) {
  three();
  EXPECT_TRUE(open()->append(Strings{"", std::string("a\0b", 3)}).ok());
  const auto log = open();
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(seen, (Strings{"one", "two", "three", "", std::string("a\0b", 3)}));
  EXPECT_EQ(log->damage().records, 5u);
  EXPECT_EQ(log->damage().skipped + log->damage().cut_bytes, 0u);
}

TEST_F(RecordLogTest, ARewriteReplacesTheContentAndTakesMore) {
  three();
  {
    auto log = open();
    const std::uint64_t before = log->bytes();
    ASSERT_TRUE(log->rewrite(Strings{"new"}).ok());
    EXPECT_LT(log->bytes(), before);
    ASSERT_TRUE(log->append(Strings{"more"}).ok());
  }
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(seen, (Strings{"new", "more"}));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".new"));
}

TEST_F(RecordLogTest, AFileInUseIsRefused) {
  const auto first = open();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(open().error().code, Code::kUnavailable);
}

TEST_F(RecordLogTest, ARewrittenFileIsInUseAsWell) {
  auto first = open();
  ASSERT_TRUE(first->rewrite(Strings{"a"}).ok());
  EXPECT_EQ(open().error().code, Code::kUnavailable);
}

TEST_F(RecordLogTest, OnlyItsOwnerReadsIt) {
  three();
  EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(RecordLogTest, AFileThatIsNoLogIsRefusedAndLeftAsItIs) {
  for (const std::string content : {"a", "TRPLOG0\nxxxxxxxx", "something of yours"}) {
    write(content);
    EXPECT_EQ(open().error().code, Code::kCorrupt) << content;
    EXPECT_EQ(std::filesystem::file_size(path), content.size());
  }
  EXPECT_FALSE(RecordLog::open("/nonexistent/log", kRecordMax, [](std::string_view) {}).ok());
  EXPECT_FALSE(RecordLog::open("/dev/null", kRecordMax, [](std::string_view) {}).ok());
}

TEST_F(RecordLogTest, CutAnywhereItKeepsWhatIsWholeAndGoesOn) {
  const std::string whole = three();
  for (std::size_t size = 8; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    auto log = open();
    ASSERT_TRUE(log.ok()) << size;
    EXPECT_LT(seen.size(), 3u) << size;
    const std::size_t kept = seen.size();
    ASSERT_TRUE(log->append(Strings{"after"}).ok());
    { const RecordLog closed = std::move(log).value(); }
    ASSERT_TRUE(open().ok());
    EXPECT_EQ(seen.size(), kept + 1) << size;
    EXPECT_EQ(seen.back(), "after");
  }
}

TEST_F(RecordLogTest, AWrongByteCostsAtMostWhatFollowsIt) {
  const std::string whole = three();
  for (std::size_t at = 8; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    write(damaged);
    const auto log = open();
    ASSERT_TRUE(log.ok()) << at;
    EXPECT_LT(seen.size(), 3u) << at;
    EXPECT_GT(log->damage().skipped + log->damage().cut_bytes, 0u) << at;
    for (const auto& record : seen) {
      EXPECT_TRUE(record == "one" || record == "two" || record == "three") << record;
    }
  }
}

TEST_F(RecordLogTest, AWrongByteInAPayloadCostsThatRecordOnly) {
  std::string whole = three();
  whole[whole.find("two")] = 'T';
  write(whole);
  const auto log = open();
  EXPECT_EQ(seen, (Strings{"one", "three"}));
  EXPECT_EQ(log->damage().skipped, 1u);
}

TEST_F(RecordLogTest, ALongerRecordThanIsKeptTodayIsSkippedNotTheRest) {
  three();
  const auto log = RecordLog::open(path, 3, [&](std::string_view one) { seen.emplace_back(one); });
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(seen, (Strings{"one", "two"}));
  EXPECT_EQ(log->damage().skipped, 1u) << "three";
  EXPECT_EQ(log->damage().cut_bytes, 0u);
}

TEST_F(RecordLogTest, WhatIsCutOffIsKeptBeside) {
  write(three() + "noise");
  { ASSERT_EQ(open()->damage().cut_bytes, 5u); }
  std::ifstream file(path.string() + ".damaged", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "noise");
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(seen, (Strings{"one", "two", "three"}));
}

TEST_F(RecordLogTest, RandomBytesNeverCrashIt) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    std::string content = "TRPLOG1\n";
    const std::size_t size = rng.below(400);
    // Small numbers, so that some lengths are plausible.
    for (std::size_t i = 0; i < size; ++i) {
      content += static_cast<char>(rng.below(4) == 0 ? rng.below(256) : 0);
    }
    write(content);
    const auto log = open();
    ASSERT_TRUE(log.ok()) << round;
  }
}

}  // namespace
}  // namespace troupe
