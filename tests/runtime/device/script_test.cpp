#include "runtime/device/script.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/device/script_model.hpp"

namespace troupe {
namespace {

std::vector<TokenId> bytes_as_tokens(std::string_view text, bool control) {
  std::vector<TokenId> tokens;
  for (unsigned char c : text) tokens.emplace_back(c + (control ? 1000 : 0));
  return tokens;
}

TEST(Script, ReadsTextTokensBytesAndDelays) {
  const auto script =
      parse_script(R"({"chunks":[{"text":"ab"},{"tokens":[7,8],"delay_ms":20},{"bytes":"f09f"}],)"
                   R"("finish":"length"})",
                   bytes_as_tokens);
  ASSERT_TRUE(script.ok()) << to_string(script.error());
  ASSERT_EQ(script->chunks.size(), 3u);
  EXPECT_EQ(script->chunks[0].tokens, (std::vector<TokenId>{TokenId('a'), TokenId('b')}));
  EXPECT_EQ(script->chunks[1].delay, milliseconds(20));
  EXPECT_EQ(script->chunks[2].tokens, (std::vector<TokenId>{TokenId(0xf0), TokenId(0x9f)}));
  EXPECT_EQ(script->finish, ScriptFinish::kLength);
}

TEST(Script, ControlAppliesToTextOnly) {
  const auto script =
      parse_script(R"({"control":true,"chunks":[{"text":"a"},{"bytes":"61"}]})", bytes_as_tokens);
  ASSERT_TRUE(script.ok());
  EXPECT_EQ(script->chunks[0].tokens[0], TokenId('a' + 1000));
  EXPECT_EQ(script->chunks[1].tokens[0], TokenId('a'));
}

TEST(Script, ErrorsNameThePlace) {
  const auto check = [](const char* json, const char* part) {
    const auto script = parse_script(json, bytes_as_tokens);
    ASSERT_FALSE(script.ok()) << json;
    EXPECT_NE(script.error().message.find(part), std::string::npos) << script.error().message;
  };
  check("{", "byte 1");
  check(R"({"finish":"stop"})", "chunks");
  check(R"({"chunks":[{"text":"a"},{"txt":"b"}]})", "chunks[1]");
  check(R"({"chunks":[{"text":"a","bytes":"00"}]})", "exactly one");
  check(R"({"chunks":[{"bytes":"0g"}]})", "hexadecimal");
  check(R"({"chunks":[{"text":"a","delay_ms":-1}]})", "delay_ms");
  check(R"({"chunks":[],"finish":"explode"})", "stop, length, stall, die");
  check(R"({"chunks":[],"finsh":"stop"})", "finsh");
}

TEST(Script, NamesFromClientsCannotLeaveTheDirectory) {
  for (const char* name : {"", "../x", "a/b", ".hidden", "a b", "a\n"}) {
    EXPECT_EQ(load_script(".", name, bytes_as_tokens).error().code, Code::kNotFound) << name;
  }
}

class ScriptModelTest : public testing::Test {
 protected:
  ScriptModelTest()
      : directory(std::filesystem::temp_directory_path() /
                  ("troupe_script_test_" + std::to_string(::getpid()))),
        model(directory.string(), bytes_as_tokens) {
    std::filesystem::create_directories(directory);
  }
  ~ScriptModelTest() override { std::filesystem::remove_all(directory); }

  void script(const std::string& name, const std::string& json) {
    std::ofstream(directory / (name + ".json")) << json;
  }
  StepPlan plan(const std::string& name, bool fresh) {
    StepPlan plan;
    StepRow row;
    row.row = RowId(2);
    row.request = RequestId(1);
    row.fresh = fresh;
    row.sample = true;
    row.script = name;
    plan.rows.push_back(row);
    return plan;
  }
  StepModel::Outcome step(const StepPlan& plan) {
    model.forward(plan, now);
    auto outcome = model.sample(plan, now);
    now = now + outcome.takes;
    return outcome;
  }

  std::filesystem::path directory;
  ScriptModel model;
  Time now{1000};
};

TEST_F(ScriptModelTest, ChunksComeAfterTheirDelays) {
  script("a", R"({"chunks":[{"text":"x"},{"text":"y","delay_ms":12}]})");
  auto first = step(plan("a", true));
  EXPECT_EQ(first.result->rows[0].tokens.size(), 1u);
  std::vector<TokenId> rest;
  const Time start = now;
  while (rest.empty()) rest = step(plan("a", false)).result->rows[0].tokens;
  EXPECT_EQ(rest[0], TokenId('y'));
  EXPECT_EQ(now - start, milliseconds(12));
}

TEST_F(ScriptModelTest, AStepOfRowsThatHaveEndedTakesNoTime) {
  script("a", R"({"chunks":[{"text":"x"}]})");
  EXPECT_EQ(step(plan("a", true)).result->rows[0].end, RowEnd::kStop);
  EXPECT_EQ(step(plan("a", false)).takes, Duration());
  script("b", R"({"chunks":[{"text":"x"}],"finish":"stall"})");
  step(plan("b", true));
  EXPECT_EQ(step(plan("b", false)).takes, ScriptModel::kStepMax) << "it waits, and others may come";
}

TEST_F(ScriptModelTest, ItsTokensAreCertain) {
  script("a", R"({"chunks":[{"text":"xy"}]})");
  StepPlan asked = plan("a", true);
  asked.rows[0].sampling.logprobs = 2;
  const auto rows = step(asked).result->rows;
  ASSERT_EQ(rows[0].logprobs.size(), 2u);
  EXPECT_EQ(rows[0].logprobs[1].token, TokenId('y'));
  EXPECT_EQ(rows[0].logprobs[1].logprob, 0.0F);
  EXPECT_EQ(rows[0].logprobs[1].top.size(), 1u);
  EXPECT_TRUE(step(plan("a", true)).result->rows[0].logprobs.empty());
}

TEST_F(ScriptModelTest, AnEmptyChunkAtTheBeginningDelaysTheNext) {
  script("a", R"({"chunks":[{"text":"","delay_ms":12},{"text":"x"}]})");
  const Time start = now;
  auto tokens = step(plan("a", true)).result->rows[0].tokens;
  while (tokens.empty()) tokens = step(plan("a", false)).result->rows[0].tokens;
  EXPECT_EQ(now - start, milliseconds(12));
}

TEST_F(ScriptModelTest, LongChunksTakeSeveralStepsWithoutDelay) {
  script("a", R"({"chunks":[{"text":")" + std::string(200, 'z') + R"("}]})");
  std::size_t total = 0, steps = 0;
  RowEnd end = RowEnd::kNone;
  while (end == RowEnd::kNone) {
    auto outcome = step(plan("a", steps++ == 0));
    EXPECT_LE(outcome.result->rows[0].tokens.size(), ScriptModel::kTokensPerStep);
    total += outcome.result->rows[0].tokens.size();
    end = outcome.result->rows[0].end;
  }
  EXPECT_EQ(total, 200u);
  EXPECT_EQ(now, Time(1000));
}

TEST_F(ScriptModelTest, StallsDiesAndFailsAlone) {
  script("stall", R"({"chunks":[],"finish":"stall"})");
  script("die", R"({"chunks":[{"text":"a"}],"finish":"die"})");
  auto stalled = step(plan("stall", true));
  EXPECT_EQ(stalled.takes, ScriptModel::kStepMax);
  EXPECT_TRUE(stalled.result->rows[0].tokens.empty());
  EXPECT_EQ(step(plan("die", true)).result.error().code, Code::kLost);
  auto missing = step(plan("nowhere", true));
  EXPECT_EQ(missing.result->rows[0].end, RowEnd::kFailed);
  EXPECT_EQ(missing.result->rows[0].code, Code::kNotFound);
}

TEST_F(ScriptModelTest, APreemptedRowGoesOnWhereItWas) {
  script("a", R"({"chunks":[{"text":"abc"},{"text":"def"}]})");
  StepPlan resumed = plan("a", true);
  resumed.rows[0].generated = 4;
  const auto outcome = step(resumed);
  EXPECT_EQ(outcome.result->rows[0].tokens, (std::vector<TokenId>{TokenId('e'), TokenId('f')}));
}

}  // namespace
}  // namespace troupe
