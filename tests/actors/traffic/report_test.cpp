#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cmath>

#include "actors/traffic/report_json.hpp"
#include "actors/traffic/traffic_report.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

TEST(Histogram, PercentilesAreWithinOnePercent) {
  Histogram histogram;
  Rng rng(1);
  std::vector<double> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(std::exp(20 * rng.uniform() - 10));
  for (const double value : values) histogram.record(value);
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9}) {
    const double exact = values[static_cast<std::size_t>(std::ceil(percent * 100)) - 1];
    EXPECT_NEAR(histogram.percentile(percent), exact, exact * 0.01) << percent;
  }
  EXPECT_EQ(histogram.least(), values.front());
  EXPECT_EQ(histogram.greatest(), values.back());
}

TEST(Histogram, EmptyAndExtremeValues) {
  Histogram histogram;
  EXPECT_EQ(histogram.percentile(99), 0);
  histogram.record(0);
  histogram.record(1e300);
  EXPECT_EQ(histogram.percentile(50), 0);
  EXPECT_GT(histogram.percentile(100), 1e17);
}

TEST(Slo, ParsesTheSyntaxOfVllmBench) {
  const auto slo = parse_slo("ttft:500 tpot:50.5");
  ASSERT_TRUE(slo.ok());
  EXPECT_EQ(slo->ttft, milliseconds(500));
  EXPECT_EQ(slo->tpot, microseconds(50'500));
  EXPECT_FALSE(slo->e2el);
  EXPECT_EQ(slo->text(), "ttft:500 tpot:50.5");
  for (const char* wrong : {"ttft", "ttft:", "ttft:x", "itl:5", "ttft:-1", "ttft:5ms"}) {
    EXPECT_FALSE(parse_slo(wrong).ok()) << wrong;
  }
}

ExchangeRecord ok_record() {
  ExchangeRecord record;
  record.outcome = Outcome::kOk;
  record.status = 200;
  record.prompt_tokens = 10;
  record.output_tokens = 3;
  record.intended = Time(0);
  record.first_token = Time() + milliseconds(100);
  record.last_token = Time() + milliseconds(140);
  record.gaps = {milliseconds(20), milliseconds(20)};
  record.ended = Time() + milliseconds(150);
  return record;
}

TEST(Report, AnAnswerWithoutATokenIsAFailureAndNoTtft) {
  TrafficReport report((TrafficPlan()));
  report.begin(Time());
  report.record(ok_record());
  ExchangeRecord empty;
  empty.outcome = Outcome::kNoToken;
  empty.error = "200 without a token";
  report.record(empty);
  EXPECT_EQ(report.ttft.count(), 1u);
  EXPECT_NEAR(report.ttft.mean(), 0.1, 1e-9);
  EXPECT_NEAR(report.tpot.mean(), 0.02, 1e-9);
  EXPECT_EQ(report.count(Outcome::kNoToken), 1u);
  EXPECT_DOUBLE_EQ(report.error_share(), 0.5);
}

TEST(Report, ErrorAnswersAreNoThroughput) {
  TrafficPlan plan;
  plan.slo.ttft = milliseconds(120);
  TrafficReport report(plan);
  report.begin(Time());
  report.record(ok_record());
  ExchangeRecord refused;
  refused.outcome = Outcome::kFailed;
  refused.status = 503;
  refused.error = "HTTP 503 unavailable";
  refused.ended = Time() + milliseconds(1);
  report.record(refused);
  EXPECT_EQ(report.good(), 1u);
  EXPECT_EQ(report.output_tokens(), 3u);
  EXPECT_EQ(report.errors().at("HTTP 503 unavailable"), 1u);
  const std::string text = vllm_block(report);
  EXPECT_NE(text.find("Failed requests:                         1"), std::string::npos) << text;
  EXPECT_NE(text.find("(ttft:120 ms)"), std::string::npos) << text;
}

TEST(Report, GoodputCountsOnlyRequestsThatKeepTheObjectives) {
  TrafficPlan plan;
  plan.slo.tpot = milliseconds(19);
  TrafficReport report(plan);
  report.begin(Time());
  report.record(ok_record());
  EXPECT_EQ(report.good(), 0u);
}

TEST(Report, WhatTheServerSawIsBesideWhatWasAsked) {
  TrafficReport report((TrafficPlan()));
  report.begin(Time());
  EXPECT_FALSE(report.seen().cached_share());
  ExchangeRecord seen = ok_record();
  seen.seen_prompt_tokens = 40;
  seen.cached_tokens = 30;
  report.record(seen);
  seen.cached_tokens.reset();  // a server that does not say
  report.record(seen);
  report.record(ok_record());
  EXPECT_EQ(report.input_tokens(), 30u);
  EXPECT_EQ(report.seen().prompt_tokens, 80u);
  EXPECT_DOUBLE_EQ(*report.seen().cached_share(), 0.75);
  const std::string text = vllm_block(report);
  EXPECT_NE(text.find("Input tokens seen by the server:         80  (of 2 answers)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Cached input tokens:                     30  (75.0 %)\n"),
            std::string::npos);
  rapidjson::Document document;
  document.Parse(report_json(report).c_str());
  EXPECT_EQ(document["usage"]["input_tokens"].GetInt(), 80);
  EXPECT_EQ(document["usage"]["cached_share"].GetDouble(), 0.75);
}

TEST(Report, ABrokenLoadIsSaid) {
  TrafficReport report((TrafficPlan()));
  report.break_off(Error{Code::kInvalid, "trace.jsonl:12: no"});
  report.add_note("2 rows left out");
  report.add_note("");
  const std::string text = vllm_block(report);
  EXPECT_NE(text.find("The load broke off: trace.jsonl:12: no\n"), std::string::npos);
  EXPECT_NE(text.find("Note: 2 rows left out\n"), std::string::npos);
  rapidjson::Document document;
  document.Parse(report_json(report).c_str());
  EXPECT_STREQ(document["broken_off"].GetString(), "trace.jsonl:12: no");
  EXPECT_EQ(document["notes"].Size(), 1u);
}

TEST(Report, ManyDifferentErrorsStayBounded) {
  TrafficReport report((TrafficPlan()));
  for (int i = 0; i < 1000; ++i) {
    ExchangeRecord failed;
    failed.outcome = Outcome::kFailed;
    failed.error = std::to_string(i);
    report.record(failed);
  }
  EXPECT_LE(report.errors().size(), TrafficReport::kErrorsMax + 1);
}

TEST(Report, JsonIsJson) {
  TrafficReport report((TrafficPlan()));
  report.begin(Time());
  report.record(ok_record());
  rapidjson::Document document;
  const ReportLines extra{{"Seed", "seed", std::uint64_t{7}},
                          {"Speed-up", "speed_up", 2.5, 1},
                          {"Cost", "costs", std::vector<std::string>{"a", "b"}},
                          {"For people", "", "x"}};
  document.Parse(report_json(report, extra).c_str());
  ASSERT_FALSE(document.HasParseError());
  EXPECT_EQ(document["ok"].GetInt(), 1);
  EXPECT_NEAR(document["ttft_ms"]["p99"].GetDouble(), 100, 1);
  const auto& facts = document["simulation"];
  EXPECT_EQ(facts.MemberCount(), 3u);
  EXPECT_EQ(facts["seed"].GetUint64(), 7u);
  EXPECT_EQ(facts["speed_up"].GetDouble(), 2.5);
  EXPECT_STREQ(facts["costs"][1].GetString(), "b");
  EXPECT_FALSE(aiperf_table(report).empty());
}

TEST(Report, LongLinesStayInTheFrame) {
  TrafficReport report((TrafficPlan()));
  const std::string text = "nothing published says what they share, so that it is the sum of both";
  const std::string path = "/" + std::string(70, 'x');
  const std::string block =
      vllm_block(report, {{"Cost", "costs", std::vector<std::string>{text, "short"}},
                          {"", "nodes", std::uint64_t{1}},
                          {"Speed-up", "speed_up", 2.25, 1},
                          {"Source", "source", "set by " + path + " and others"}});
  EXPECT_NE(block.find("Cost 1:\n  nothing published says what they share, so that it is the\n"
                       "  sum of both\nCost 2:                                  short\n"),
            std::string::npos)
      << block;
  EXPECT_NE(block.find("Speed-up:                                2.2\n"), std::string::npos);
  EXPECT_NE(block.find("Source:\n  set by\n  " + path + "\n  and others\n"), std::string::npos);
}

}  // namespace
}  // namespace troupe
