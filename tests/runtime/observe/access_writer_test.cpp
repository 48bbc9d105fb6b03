// The thread that writes the access log: whole lines, files that move, targets that take nothing.
#include "runtime/observe/access_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace troupe {
namespace {

class AccessWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/troupe-access-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  AccessWriter::Callbacks callbacks() {
    return {[this](std::vector<AccessRecord>& out) {
              const std::lock_guard lock(mutex_);
              for (auto& record : waiting_) out.push_back(std::move(record));
              waiting_.clear();
              return dropped_.exchange(0);
            },
            [this](std::uint64_t lost) { lost_ += lost; },
            [this](const std::string& text) {
              const std::lock_guard lock(mutex_);
              complaints_.push_back(text);
            }};
  }
  std::unique_ptr<AccessWriter> open(const std::string& target) {
    auto writer = AccessWriter::open(target, callbacks());
    EXPECT_TRUE(writer.ok());
    return writer.ok() ? std::move(*writer) : nullptr;
  }
  void add(int status) {
    AccessRecord record;
    record.status = status;
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(record));
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// The statuses in a file, once there are so many lines.
  std::vector<int> statuses(const std::string& name, std::size_t lines) {
    std::vector<int> found;
    for (int i = 0; i < 500 && found.size() < lines; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      found.clear();
      std::ifstream file(path(name));
      for (std::string line; std::getline(file, line);) {
        found.push_back(std::atoi(line.c_str() + line.find("\"status\":") + 9));
      }
    }
    return found;
  }

  std::string folder_;
  std::mutex mutex_;
  std::vector<AccessRecord> waiting_;
  std::vector<std::string> complaints_;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> lost_{0};
};

TEST_F(AccessWriterTest, AppendsLinesAndWritesTheRestAtItsEnd) {
  {
    const auto writer = open(path("log"));
    add(200);
    EXPECT_EQ(statuses("log", 1), std::vector<int>{200});
    add(201);
  }
  EXPECT_EQ(statuses("log", 2), (std::vector<int>{200, 201}));
  const auto again = open(path("log"));
  add(202);
  EXPECT_EQ(statuses("log", 3).size(), 3u) << "an old file is appended to";
}

TEST_F(AccessWriterTest, AFileThatWasMovedIsOpenedAnew) {
  const auto writer = open(path("log"));
  add(200);
  EXPECT_EQ(statuses("log", 1).size(), 1u);
  std::filesystem::rename(path("log"), path("log.1"));
  add(201);
  EXPECT_EQ(statuses("log.1", 2).size(), 2u) << "until it is told";
  writer->reopen();
  add(202);
  while (!std::filesystem::exists(path("log"))) std::this_thread::yield();
  add(203);
  const auto late = statuses("log", 1);
  EXPECT_EQ(late.back(), 203);
  EXPECT_EQ(statuses("log.1", 2).size() + late.size(), 4u);
}

TEST_F(AccessWriterTest, WhatCannotBeWrittenIsCountedAndToldOnce) {
  {
    const auto writer = open("/dev/full");
    for (int i = 0; i < 3; ++i) {
      add(200);
      for (int wait = 0; wait < 500 && lost_ < static_cast<std::uint64_t>(i + 1); ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    dropped_ = 5;
  }
  EXPECT_EQ(lost_, 8u);
  ASSERT_EQ(complaints_.size(), 1u);
  EXPECT_NE(complaints_[0].find("/dev/full"), std::string::npos);
}

TEST_F(AccessWriterTest, AWrongFileIsNamed) {
  const auto writer = AccessWriter::open(path("nothing/log"), callbacks());
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.error().message.find("nothing/log"), std::string::npos);
}

}  // namespace
}  // namespace troupe
