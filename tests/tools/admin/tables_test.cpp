// What `troupe admin ps` and `top` print.
#include <gtest/gtest.h>

#include "tools/admin/actor_table.hpp"
#include "tools/admin/device_load.hpp"

namespace troupe {
namespace {

constexpr const char* kActors = R"({"actors": [
  {"id": "a-1", "kind": "rank", "phase": "idle", "request": "", "in": 5, "busy_ms": 10},
  {"id": "b-1", "kind": "request", "phase": "running", "request": "resp_00000000000000ff",
   "in": 2, "busy_ms": 1}]})";

std::vector<ActorLine> actors() {
  auto parsed = parse_actors(kActors);
  EXPECT_TRUE(parsed.ok());
  return std::move(parsed).value();
}

TEST(ActorTable, ARequestIsListedByTheIdThatItsClientSees) {
  const std::string table = format_actors(actors(), ActorSort::kKind, 0, false);
  EXPECT_NE(table.find("LONGEST us  REQUEST\n"), std::string::npos) << table;
  EXPECT_NE(table.find("  resp_00000000000000ff\n"), std::string::npos) << table;
  const auto ranks = of_kind(actors(), "rank");
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ(format_actors(*ranks, ActorSort::kKind, 0, false).find("REQUEST"), std::string::npos);
}

TEST(ActorTable, AnUnknownKindIsRefusedWithThoseThatThereAre) {
  const auto refused = of_kind(actors(), "nope");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "--kind: there is no actor of the kind \"nope\"; there are rank, request");
  const auto none = of_kind({}, "request");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST(ActorTable, LinesAreCutToTheTerminal) {
  EXPECT_EQ(cut_lines("abcdef\nab\n\n", 3), "abc\nab\n\n");
  EXPECT_EQ(cut_lines("abcdef\n", std::string::npos), "abcdef\n");
}

TEST(DeviceLoad, BusyIsTheShareOfTheLastInterval) {
  const auto load = [](double busy) {
    auto parsed = parse_load(
        "# HELP x y\n"
        "vllm:num_requests_running{engine=\"0\"} 1\n"
        "vllm:num_requests_running{engine=\"1\"} 2\n"
        "troupe_device_busy_seconds_total{model_name=\"m\"} " +
        std::to_string(busy) + "\n");
    EXPECT_TRUE(parsed.has_value());
    return *parsed;
  };
  EXPECT_EQ(format_load(load(9), std::nullopt, 0).find("busy"), std::string::npos);
  // 1 s of 2 ranks' 2 s each.
  EXPECT_NE(format_load(load(10), load(9), 2).find("device busy 25%"), std::string::npos);
  EXPECT_NE(format_load(load(20), load(9), 2).find("device busy 100%"), std::string::npos);
  EXPECT_FALSE(parse_load("troupe_actors 1\n").has_value());
}

}  // namespace
}  // namespace troupe
