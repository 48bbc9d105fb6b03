#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "actors/load/trace_source.hpp"
#include "tests/runtime/files.hpp"

namespace troupe {
namespace {

std::string data(const std::string& name) {
  return test::environment_or("TROUPE_SOURCE", ".") + "/tests/data/traces/" + name;
}

std::vector<PlannedRequest> played(const LoadPlan& plan) {
  auto source = open_source(plan);
  EXPECT_TRUE(source.ok()) << source.error().message;
  std::vector<PlannedRequest> all;
  for (auto next = (*source)->next(); next.ok() && *next; next = (*source)->next()) {
    all.push_back(**next);
  }
  return all;
}

LoadPlan plan_of(const std::string& name) {
  LoadPlan plan;
  plan.trace.file = data(name);
  return plan;
}

/// How many whole blocks of `tokens` two prompts share.
std::size_t shared_blocks(const PlannedRequest& a, const PlannedRequest& b, std::uint32_t tokens) {
  const auto one = block_chain(a.prompt, tokens), other = block_chain(b.prompt, tokens);
  std::size_t count = 0;
  while (count < one.size() && count < other.size() && one[count] == other[count]) ++count;
  return count;
}

class TraceFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string error_of(const std::string& text) {
    std::ofstream(path) << text;
    auto reader = TraceReader::open(path, 512);
    if (!reader.ok()) return reader.error().message;
    for (auto row = reader->next();; row = reader->next()) {
      if (!row.ok()) return row.error().message;
      if (!*row) return "";
    }
  }
  std::string path = testing::TempDir() + "trace_test.txt";
};

TEST(Trace, MooncakePromptsShareWhatTheirHashIdsShare) {
  const auto rows = played(plan_of("mooncake.jsonl"));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at, Duration());
  EXPECT_EQ(rows[1].at, milliseconds(500));
  EXPECT_EQ(rows[3].at, microseconds(3'000'500));
  EXPECT_EQ(tokens_of(rows[0].prompt), 1100u);
  EXPECT_EQ(rows[0].output_tokens, 40u);
  EXPECT_EQ(shared_blocks(rows[0], rows[1], 128), 8u);  // ids 7 and 8
  EXPECT_EQ(shared_blocks(rows[0], rows[2], 128), 0u);
  EXPECT_EQ(shared_blocks(rows[0], rows[3], 128), 4u);  // id 7
  EXPECT_NE(rows[3].session, rows[2].session);
}

TEST(Trace, SpeedDividesItsTimes) {
  LoadPlan plan = plan_of("mooncake.jsonl");
  plan.trace.speed = 2;
  EXPECT_EQ(played(plan)[1].at, milliseconds(250));
}

TEST(Trace, ARateReplacesItsTimes) {
  LoadPlan plan = plan_of("azure.csv");
  plan.request_rate = 1000;
  const auto rows = played(plan);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_LT(rows[2].at, seconds(1));
  EXPECT_EQ(tokens_of(rows[2].prompt), 110u);
}

TEST(Trace, AzureDatesAreDifferences) {
  const auto rows = played(plan_of("azure.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].at, milliseconds(750));  // over midnight
  EXPECT_EQ(rows[2].at, milliseconds(60'500));
  EXPECT_EQ(tokens_of(rows[0].prompt), 4808u);
  EXPECT_EQ(rows[0].output_tokens, 10u);
  EXPECT_EQ(shared_blocks(rows[0], rows[1], 128), 0u);
}

TEST(Trace, BurstGptLeavesOutItsFailures) {
  auto source = open_source(plan_of("burstgpt.csv")).value();
  const auto rows = played(plan_of("burstgpt.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].at, seconds(40));
  EXPECT_EQ(rows[2].at, seconds(115));
  EXPECT_EQ(rows[2].output_tokens, 179u);
  while (source->next().value()) {
  }
  EXPECT_NE(source->note().find("2 rows"), std::string::npos);
}

TEST(Trace, AgenticSessionsGrowBehindTheirGroupsPrefix) {
  const auto rows = played(plan_of("agentic.jsonl"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(shared_blocks(rows[0], rows[1], 128), 8u);   // the group's 1,024 tokens
  EXPECT_EQ(shared_blocks(rows[0], rows[2], 128), 11u);  // all whole blocks of 1,500
  EXPECT_EQ(rows[2].turn, 1u);
  EXPECT_EQ(rows[2].session, 3u);
}

TEST(Trace, TheSameSeedPlaysTheSame) {
  LoadPlan plan = plan_of("mooncake.jsonl");
  plan.cancel_rate = 0.5;
  EXPECT_EQ(played(plan), played(plan));
  LoadPlan other = plan;
  other.seed = 2;
  EXPECT_NE(played(plan), played(other));
}

TEST_F(TraceFile, ErrorsNameFileAndLine) {
  const std::string good = "{\"timestamp\":1,\"input_length\":5,\"output_length\":1}\n";
  EXPECT_EQ(error_of(good + good), "");
  const std::string second[] = {
      "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}",  // before
      "{\"input_length\":5,\"output_length\":1}",                  // without a time
      "{\"timestamp\":2,\"input_length\":5}",
      "{\"timestamp\":2,\"input_length\":-5,\"output_length\":1}",
      "{\"timestamp\":2,\"input_length\":5.5,\"output_length\":1}",
      "{\"timestamp\":2,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1,2]}",
      "{\"timestamp\":2,\"input_length\":5,\"output_length\":1,\"hash_ids\":[\"a\"]}",
      "{\"timestamp\":\"2\",\"input_length\":5,\"output_length\":1}",
      "{\"timestamp\":2,\"input_length\":5,\"output_length\":1,\"group\":1,\"group_prefix\":4}",
      "{\"timestamp\":2,",
      "[]",
      "2,3,4"};
  for (const std::string& line : second) {
    EXPECT_TRUE(error_of(good + "\n" + line + "\n").starts_with(path + ":3: ")) << line;
  }
  EXPECT_TRUE(error_of("{\"delay\":2,\"input_length\":5,\"output_length\":1}\n")
                  .starts_with(path + ":1: rows with a \"delay\""));
  EXPECT_TRUE(error_of("a,b\n1,2\n").starts_with(path + ":1: no format"));
  const std::string azure =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6,374,44\n";
  EXPECT_EQ(error_of(azure), "");
  for (const char* line :
       {"2023-11-16 18:15:46.7,374", "2023-13-16 18:15:46.7,374,44", "46.7,374,44",
        "2023-11-16 18:15:46.7,374,x", "2023-11-16 25:15:46.7,374,44"}) {
    EXPECT_TRUE(error_of(azure + line + "\n").starts_with(path + ":3: ")) << line;
  }
  EXPECT_NE(error_of(""), "");
  EXPECT_EQ(TraceReader::open(path + ".missing", 512).error().code, Code::kNotFound);
}

TEST_F(TraceFile, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const std::string json = "{\"timestamp\":1,\"input_length\":5,\"output_length\":1}\n";
  const std::string azure =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6,374,44\n";
  for (const std::string& text : {json, azure}) EXPECT_EQ(error_of("\xef\xbb\xbf" + text), "");
  const std::string later = azure + "\xef\xbb\xbf" + "2023-11-16 18:15:47.6,374,44\n";
  EXPECT_TRUE(error_of(later).starts_with(path + ":3: "));
}

TEST_F(TraceFile, FieldsOfACsvFileMayBeQuoted) {
  const std::string azure = "\"TIMESTAMP\",\"ContextTokens\",GeneratedTokens\n";
  EXPECT_EQ(error_of(azure + "\"2023-11-16 18:15:46.6\",\"374\",44\n"), "");
  std::ofstream(path) << "Timestamp,Model,Request tokens,Response tokens,\"Log, type\"\n"
                         "5,\"one, \"\"two\"\"\",472,\"18\",\n";
  auto reader = TraceReader::open(path, 512).value();
  const auto row = reader.next().value();
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->input_tokens, 472u);
  EXPECT_EQ(row->output_tokens, 18u);
  EXPECT_TRUE(error_of(azure + "\"2023-11-16 18:15:46.6,374,44\n")
                  .starts_with(path + ":2: a quote is not closed"));
  EXPECT_TRUE(error_of(azure + "\"2023-11-16 18:15:46.6\"x,374,44\n")
                  .starts_with(path + ":2: there is text behind"));
}

TEST_F(TraceFile, TimesThatNoClockCanTellAreRefused) {
  const std::string row = ",\"input_length\":5,\"output_length\":1}\n";
  std::ofstream(path) << "{\"timestamp\":0" + row + "{\"timestamp\":1e13" + row;
  LoadPlan plan;
  plan.trace.file = path;
  plan.trace.speed = 1000;
  EXPECT_EQ(played(plan)[1].at, seconds(10'000'000));
  for (const double speed : {1.0, 1e-6}) {
    plan.trace.speed = speed;
    auto source = open_source(plan).value();
    ASSERT_TRUE(source->next().ok());
    EXPECT_EQ(source->next().error().message,
              path +
                  ": at this --speed it lasts longer than 100 years; mend its times, or raise "
                  "--speed");
  }
}

TEST_F(TraceFile, ATruncatedGzipFileIsAnErrorAndNoEnd) {
  gzFile file = gzopen(path.c_str(), "wb");
  for (int i = 0; i < 50'000; ++i) {
    gzprintf(file, "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":1}\n", i,
             1 + i * 7919 % 9973);
  }
  gzclose(file);
  auto rows_of = [&](bool& failed) {
    auto reader = TraceReader::open(path, 512).value();
    for (;;) {
      auto row = reader.next();
      failed = !row.ok();
      if (failed) {
        EXPECT_EQ(row.error().code, Code::kInvalid) << "the file must be changed";
      }
      if (failed || !*row) return reader.rows();
    }
  };
  bool failed = false;
  EXPECT_EQ(rows_of(failed), 50'000u);
  EXPECT_FALSE(failed);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_LT(rows_of(failed), 50'000u);
  EXPECT_TRUE(failed);
}

TEST_F(TraceFile, ALongLineIsRefusedAndManyRowsNeedNoMemory) {
  std::ofstream(path) << "{\"x\":\"" << std::string(LineReader::kLineMax + (1u << 20), 'x')
                      << "\"}\n";
  EXPECT_EQ(TraceReader::open(path, 512).error().code, Code::kInvalid);
  {
    std::ofstream out(path);
    for (int i = 0; i < 300'000; ++i) {
      out << "{\"timestamp\":" << i << ",\"input_length\":1500,\"output_length\":9,\"hash_ids\":[1,"
          << i << ",3]}\n";
    }
  }
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  auto reader = TraceReader::open(path, 512).value();
  while (reader.next().value()) {
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(reader.rows(), 300'000u);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 8'000);  // KiB; the file has 20 MB
}

}  // namespace
}  // namespace troupe
