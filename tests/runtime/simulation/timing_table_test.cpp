// Tables of step times: the rule between points, and files that are wrong.
#include "runtime/simulation/timing_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "tests/runtime/files.hpp"

namespace troupe {
namespace {

/// Two points an axis; times of two requests are 4/5 of those of one.
std::string small_table() {
  return R"({"schema":"troupe-timing-1","name":"small","provenance":{"package":"p 1","licence":"L",
    "system":"gpu","backend":"b","backend_version":"2"},"model":{"path":"m"},
    "gpu":{"memory_bytes":1000},
    "memory":{
      "prefill_16384_tokens":{"weights_bytes":500,"activations_bytes":1,
        "nccl_bytes":2,"others_bytes":3},
      "decode_256_tokens":{"weights_bytes":400,"activations_bytes":1,
        "nccl_bytes":4,"others_bytes":5}},
    "kv":{"context":[100,200],"bytes_per_request":[100,300]},
    "prefill":{"layout":{"tp":1,"dp":4,"ep":4,"gpus":4},
      "axes":{"requests":[1,2],"new_tokens":[10,20],"prefix":[0,100]},
      "step_ms":[[[20,30],[30,40]],[[16,24],[24,32]]],
      "attention_ms":[[[2,4],[6,10]],[[1,2],[3,5]]],
      "mark":[["mm","me"],["ma","mt"]]},
    "decode":{"layout":{"tp":1,"dp":8,"ep":8,"gpus":8},
      "axes":{"batch":[1,3],"context":[100,200]},
      "step_ms":[[3,4],[7,8]],"attention_ms":[[1,2],[3,4]],"mark":["mw","mm"]},
    "test_vectors":[{"phase":"prefill","point":[1,15,50],"expected_ms":30},
                    {"phase":"decode","point":[2,150],"expected_ms":5.5}]})";
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = small_table();
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TimingTable, is_linear_between_points_and_in_minus_one_over_n) {
  const TimingTable table = TimingTable::parse(small_table()).value();
  EXPECT_DOUBLE_EQ(table.prefill(1, 10, 0).ms, 20);
  EXPECT_DOUBLE_EQ(table.prefill(2, 20, 100).ms, 32);
  EXPECT_DOUBLE_EQ(table.prefill(1, 15, 25).ms, 27.5);
  EXPECT_NEAR(table.prefill(4.0 / 3, 10, 0).ms, 18, 1e-9) << "-3/4 is half way from -1 to -1/2";
  EXPECT_DOUBLE_EQ(table.decode(2, 175).ms, 5.75);
}

TEST(TimingTable, says_how_much_of_a_step_is_attention) {
  const TimingTable table = TimingTable::parse(small_table()).value();
  EXPECT_DOUBLE_EQ(table.prefill(1, 15, 0).attention_ms, 4);
  EXPECT_DOUBLE_EQ(table.decode(2, 100).attention_ms, 2);
}

TEST(TimingTable, ends_below_and_goes_on_above_and_says_so) {
  const TimingTable table = TimingTable::parse(small_table()).value();
  EXPECT_DOUBLE_EQ(table.prefill(1, 1, 0).ms, 20);
  EXPECT_FALSE(table.prefill(1, 1, 0).beyond);
  EXPECT_DOUBLE_EQ(table.prefill(1, 40, 0).ms, 50);
  EXPECT_TRUE(table.prefill(1, 40, 0).beyond);
  EXPECT_DOUBLE_EQ(table.prefill(1, 10, 500).ms, 30) << "prefixes do not extend";
  EXPECT_TRUE(table.prefill(1, 10, 500).beyond);
  EXPECT_DOUBLE_EQ(table.prefill(16, 10, 0).ms, 16);
  EXPECT_DOUBLE_EQ(table.decode(5, 100).ms, 11);
  EXPECT_TRUE(table.decode(5, 100).beyond);
}

TEST(TimingTable, marks_are_those_of_the_lower_point) {
  const TimingTable table = TimingTable::parse(small_table()).value();
  EXPECT_EQ(table.prefill(1, 10, 0).mark, TimingMark::kMeasured);
  EXPECT_EQ(table.decode(2, 150).mark, TimingMark::kMeasured);
  EXPECT_EQ(table.name(), "small");
  EXPECT_EQ(table.origin(), "b 2 on gpu, from p 1 (L)");
  EXPECT_EQ(table.decode_layout().ep, 8u);
}

TEST(TimingTable, kv_begins_at_nothing_and_is_linear) {
  const TimingTable table = TimingTable::parse(small_table()).value();
  EXPECT_DOUBLE_EQ(table.kv_bytes(0), 0);
  EXPECT_DOUBLE_EQ(table.kv_bytes(50), 50);
  EXPECT_DOUBLE_EQ(table.kv_bytes(150), 200);
  EXPECT_DOUBLE_EQ(table.kv_bytes(300), 500);
}

TEST(TimingTable, wrong_files_are_refused_by_the_name_of_the_member) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{", "not JSON"},
      {"[]", "schema is missing"},
      {replaced("troupe-timing-1", "other-2"), "other-2"},
      {replaced(R"("name":"small",)", ""), "name is missing"},
      {replaced("[10,20]", "[20,10]"), "prefill.axes.new_tokens"},
      {replaced("[10,20]", "[10]"), "prefill.axes.new_tokens"},
      {replaced(R"("requests":[1,2])", R"("requests":[0,2])"), "begins with 0"},
      {replaced("[[20,30],[30,40]]", "[[20,30]]"), "prefill.step_ms[0]"},
      {replaced("[20,30]", "[20]"), "prefill.step_ms[0][0]"},
      {replaced("[20,30]", R"(["a",30])"), "not a number"},
      {replaced("[[1,2],[3,5]]", "[[1,2]]"), "prefill.attention_ms[1]"},
      {replaced("[[1,2],[3,4]]", "[[1,2],[3]]"), "decode.attention_ms[1]"},
      {replaced(R"("me")", R"("mx")"), "prefill.mark[0][1]"},
      {replaced(R"("mw")", R"("m")"), "decode.mark[0]"},
      {replaced("[100,300]", "[100]"), "kv.bytes_per_request"},
      {replaced("\"expected_ms\":5.5", "\"expected_ms\":5.6"), "test_vectors[1]"},
      {replaced("[2,150]", "[2]"), "test_vectors[1].point"},
      {replaced("[7,8]", "[7,9]"), "damaged"},
      {replaced("\"tp\":1,\"dp\":4", "\"tp\":0,\"dp\":4"), "prefill.layout.tp"},
  };
  for (const auto& [json, words] : wrong) {
    const auto table = TimingTable::parse(json);
    ASSERT_FALSE(table.ok()) << words;
    EXPECT_EQ(table.error().code, Code::kCorrupt);
    EXPECT_NE(table.error().message.find(words), std::string::npos) << table.error().message;
  }
  const auto missing = TimingTable::load("no/such/table.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
}

TEST(TimingTable, the_tables_of_real_gpus_reproduce_their_vectors) {
  const std::string folder = test::shared_path("timing/tables");
  TROUPE_NEEDS_FILE(folder);
  int tables = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto table = TimingTable::load(file.path().string());  // checks the vectors
    EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().message);
    ++tables;
  }
  EXPECT_GE(tables, 9);
  const auto table = TimingTable::load(folder + "/dsv4flash-gb200-ep4-ep64.json").value();
  EXPECT_NEAR(table.prefill(1, 5000, 30000).ms, 151.3091, 1e-4);
  EXPECT_NEAR(table.prefill(3, 1500, 700).ms, 48.2355, 1e-4);
  EXPECT_NEAR(table.prefill(1, 30, 0).ms, 14.6360, 1e-4);
  EXPECT_NEAR(table.decode(50, 100'000).ms, 12.9713, 1e-4);
  EXPECT_NEAR(table.decode(384, 131'072).ms, 47.8757, 1e-4);
  EXPECT_NEAR(table.kv_bytes(131'072) / 1048576, 401.5, 0.1);
}

}  // namespace
}  // namespace troupe
