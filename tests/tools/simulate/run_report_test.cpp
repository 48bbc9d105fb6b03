// What a run leaves behind: timelines of requests, curves in bounded memory, the page, the trace.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cmath>

#include "tools/simulate/engine_recorder.hpp"
#include "tools/simulate/pd_recorder.hpp"
#include "tools/simulate/perfetto.hpp"
#include "tools/simulate/report_page.hpp"

namespace troupe {
namespace {

struct Recorded {
  PdRecorder recorder;
  std::unique_ptr<PdCluster> cluster;
};

ClusterPlan plan(const ClusterFaults& faults = {}) {
  ClusterPlan plan;
  plan.faults = faults;
  plan.seed = 3;
  plan.prefill.engines = 2;
  plan.prefill.ranks = 2;
  plan.decode.ranks = 4;
  plan.prefix.cached_share = 0.9;
  plan.workload.request_rate = 40;
  plan.workload.num_requests = 200;
  plan.workload.isl = 20'000;
  plan.workload.osl = 100;
  plan.workload.goodput = "ttft:450";
  return plan;
}

std::unique_ptr<Recorded> recorded(std::size_t first_most, const ClusterFaults& faults = {}) {
  RequestTimelines::Limits limits;
  limits.first_most = first_most;
  auto made = std::make_unique<Recorded>(Recorded{PdRecorder(limits), nullptr});
  PdCluster::Options options;
  made->recorder.watch(options);
  made->cluster = std::move(PdCluster::make(plan(faults), std::move(options))).value();
  EXPECT_TRUE(made->cluster->run().ok());
  return made;
}

const std::vector<RequestPhase> kWithoutImages = {
    RequestPhase::kFrontEnd, RequestPhase::kQueued, RequestPhase::kFetch, RequestPhase::kPrefill,
    RequestPhase::kPlacing,  RequestPhase::kPush,   RequestPhase::kDecode};

TEST(RequestTimelines, FollowEachRequestThroughItsPhases) {
  const auto run = recorded(150);
  const RequestTimelines& timelines = run->recorder.timelines();
  ASSERT_EQ(timelines.first().size(), 150u);
  EXPECT_EQ(timelines.left_out(), 50u);
  for (const RequestTimeline& one : timelines.first()) {
    std::vector<RequestPhase> seen;
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      seen.push_back(one.parts[i].phase);
      EXPECT_LE(one.parts[i].begin, i + 1 < one.parts.size() ? one.parts[i + 1].begin : one.ended);
    }
    EXPECT_EQ(seen, kWithoutImages);
    EXPECT_EQ(one.prompt_tokens, 20'000u);
    EXPECT_NEAR(one.hit_tokens.value_or(0), 18'000, 2 * 128) << "whole blocks, and one less";
    EXPECT_EQ(one.output_tokens, 100u);
  }
  const auto slowest = timelines.slowest();
  ASSERT_EQ(slowest.size(), 24u);
  // What the clients saw, less the way of the tokens to them.
  const Histogram& ttft = run->cluster->traffic().report().ttft;
  EXPECT_NEAR(slowest.front().first_token.seconds(), ttft.greatest(), 0.002);
  EXPECT_NEAR(slowest.back().first_token.seconds(), ttft.percentile(88.5), 0.02);
}

TEST(RequestTimelines, FollowRequestsOfEnginesThatDoBoth) {
  EnginePlan plan;
  plan.engines = 2;
  plan.limits.rows_most = 8;
  plan.workload.request_rate = 30;
  plan.workload.num_requests = 200;
  plan.workload.isl = 6'000;
  plan.workload.osl = 100;
  RequestTimelines::Limits limits;
  limits.first_most = 1'000;
  EngineRecorder recorder(limits);
  EngineCluster::Options options;
  recorder.watch(options);
  const auto cluster = std::move(EngineCluster::make(plan, std::move(options))).value();
  ASSERT_TRUE(cluster->run().ok());
  const auto& requests = recorder.timelines().first();
  ASSERT_EQ(requests.size(), 200u);
  const RequestPhase phases[] = {RequestPhase::kFrontEnd, RequestPhase::kQueued,
                                 RequestPhase::kPrefill, RequestPhase::kDecode};
  double queued = 0;
  for (const RequestTimeline& one : requests) {
    ASSERT_EQ(one.parts.size(), std::size(phases));
    for (std::size_t i = 0; i < std::size(phases); ++i) {
      EXPECT_EQ(one.parts[i].phase, phases[i]);
      EXPECT_LE(one.parts[i].begin, i + 1 < std::size(phases) ? one.parts[i + 1].begin : one.ended);
    }
    EXPECT_FALSE(one.hit_tokens.has_value()) << "no message says it";
    queued += (one.parts[2].begin - one.parts[1].begin).seconds();
  }
  const Histogram* told = cluster->notes().observed("vllm:request_queue_time_seconds");
  ASSERT_NE(told, nullptr);
  EXPECT_NEAR(queued, told->sum(), 1e-3);
  EXPECT_NEAR(recorder.timelines().slowest().front().first_token.seconds(),
              cluster->traffic().report().ttft.greatest(), 0.002);
}

/// The greatest value of a line.
double most_of(const RunSeries& series, const std::string& chart, std::size_t line) {
  double most = 0;
  for (const RunChart& one : series.charts()) {
    if (one.title != chart) continue;
    for (const double point : one.points[line])
      most = std::max(most, std::isnan(point) ? 0 : point);
  }
  return most;
}

TEST(RunRecorder, NoShareOfTimeIsAboveOne) {
  // Steps of 900 ms and samples of a second: a step that counted where it ends would give 1.8.
  ClusterPlan busy = plan();
  busy.prefill.engines = 1;
  busy.prefill.step_budget = milliseconds(900);
  busy.prefill.chunk_tokens = 1u << 20;
  busy.prefix.cached_share = 0;
  PdRecorder pools{RequestTimelines::Limits()};
  PdCluster::Options options;
  pools.watch(options);
  const auto cluster = std::move(PdCluster::make(busy, std::move(options))).value();
  ASSERT_TRUE(cluster->run().ok());
  EXPECT_GT(most_of(pools.series(), "Utilisation", 0), 0.99);
  EXPECT_LT(most_of(pools.series(), "Utilisation", 0), 1.0001);
  EXPECT_LT(most_of(pools.series(), "Utilisation", 2), 1.0001);
  // A launch of an engine is a run of up to 128 steps.
  EnginePlan engines;
  engines.engines = 1;
  engines.workload.request_rate = 2;
  engines.workload.num_requests = 20;
  engines.workload.isl = 1'000;
  engines.workload.osl = 2'000;
  EngineRecorder both{RequestTimelines::Limits()};
  EngineCluster::Options settings;
  both.watch(settings);
  const auto other = std::move(EngineCluster::make(engines, std::move(settings))).value();
  ASSERT_TRUE(other->run().ok());
  EXPECT_GT(most_of(both.series(), "Utilisation", 0), 0.99);
  EXPECT_LT(most_of(both.series(), "Utilisation", 0), 1.0001);
}

TEST(RunSeries, MergesNeighboursWhenThereAreTooMany) {
  RunSeries series;
  series.add_chart({"a", "", {"x", "y"}});
  const int samples = static_cast<int>(RunSeries::kPointsMost) * 5;
  for (int i = 0; i < samples; ++i) {
    series.add(i + 1, {{i % 2 == 0 ? 0.0 : 2.0, i % 2 == 0 ? std::nan("") : 7.0}});
  }
  EXPECT_LT(series.times().size(), RunSeries::kPointsMost);
  EXPECT_GT(series.merged(), 4u);
  EXPECT_LE(series.times().back(), samples);
  EXPECT_GT(series.times().back(), samples - static_cast<double>(series.merged()));
  for (const double x : series.charts()[0].points[0]) EXPECT_DOUBLE_EQ(x, 1);
  for (const double y : series.charts()[0].points[1]) EXPECT_DOUBLE_EQ(y, 7);
}

TEST(ReportPage, CarriesTheRunAndNothingOfItIsMarkup) {
  const auto run = recorded(0);
  ReportPage page;
  page.title = "</script><b>";
  page.command = "troupe simulate";
  page.traffic = &run->cluster->traffic().report();
  page.series = &run->recorder.series();
  page.slowest = run->recorder.timelines().slowest();
  page.facts = {{"EXTRAPOLATION", "", "far"}, {"GPUs", "gpus", std::uint64_t{8}}};
  const std::string html = html_of(page);
  EXPECT_EQ(html.find("</script><b>"), std::string::npos);
  EXPECT_EQ(html.find("/*DATA*/"), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos) << "it must not load anything";
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = html.find(open) + open.size();
  rapidjson::Document data;
  data.Parse(html.substr(begin, html.find("</script>", begin) - begin).c_str());
  ASSERT_FALSE(data.HasParseError());
  EXPECT_STREQ(data["title"].GetString(), "</script><b>");
  EXPECT_STREQ(data["warnings"][0].GetString(), "EXTRAPOLATION: far");
  EXPECT_EQ(data["slowest"].Size(), 24u);
  const auto times = data["times"].Size();
  EXPECT_GT(times, 4u);
  for (const auto& chart : data["charts"].GetArray()) {
    for (const auto& line : chart["lines"].GetArray()) EXPECT_EQ(line["points"].Size(), times);
  }
}

TEST(Perfetto, PutsRequestsOnTracksThatAreFree) {
  const auto run = recorded(1'000);
  const auto& requests = run->recorder.timelines().first();
  rapidjson::Document trace;
  trace.Parse(perfetto_trace(requests, run->recorder.series(), nullptr).c_str());
  ASSERT_FALSE(trace.HasParseError());
  std::map<unsigned, double> free_at;
  std::size_t seen = 0, counters = 0;
  for (const auto& event : trace["traceEvents"].GetArray()) {
    counters += event["ph"] == "C" ? 1 : 0;
    if (event["ph"] != "X" || !event.HasMember("args")) continue;
    ++seen;
    double& free = free_at[event["tid"].GetUint()];
    EXPECT_LE(free, event["ts"].GetDouble() + 1e-3) << "two requests on one track";
    free = event["ts"].GetDouble() + event["dur"].GetDouble();
  }
  EXPECT_EQ(seen, 200u);
  EXPECT_GT(counters, 10u);
  EXPECT_LT(free_at.size(), 200u);
}

TEST(ReportPage, ShowsWhenFaultsBeganAndEnded) {
  ClusterFault stall;
  stall.act = FaultAct::kSlowLink;
  stall.part = FabricPart::kStorageRead;
  stall.share = kStalledShare;
  stall.at = seconds(2);
  stall.lasts = milliseconds(500);
  ClusterFault kill;
  kill.group = GroupKind::kDecodeInstance;
  kill.which = 0;
  kill.at = seconds(3);
  const auto run = recorded(1'000, {stall, kill});
  const FaultMarks& marks = run->cluster->fault_marks();
  std::vector<std::pair<double, std::string>> seen;
  for (const FaultMarks::Mark& mark : marks.all()) seen.emplace_back(mark.at.seconds(), mark.text);
  EXPECT_EQ(seen, (std::vector<std::pair<double, std::string>>{{2, "stall storage_read"},
                                                               {2.5, "end of: stall storage_read"},
                                                               {3, "kill decode_instance 0"}}));
  ReportPage page;
  page.traffic = &run->cluster->traffic().report();
  page.series = &run->recorder.series();
  page.marks = &marks;
  EXPECT_NE(html_of(page).find(R"({"time":2.5,"text":"end of: stall storage_read"})"),
            std::string::npos);
  const std::string trace = perfetto_trace({}, run->recorder.series(), &marks);
  EXPECT_NE(trace.find(R"("ph":"i","name":"kill decode_instance 0")"), std::string::npos);
}

TEST(FaultMarks, NameWhatWasDoneAsPlansDo) {
  ClusterFault fault;
  fault.act = FaultAct::kSlowLink;
  fault.part = FabricPart::kNic;
  fault.share = 0.25;
  EXPECT_EQ(text_of(fault, 7), "slow nic 7 to 0.25");
  fault.act = FaultAct::kDrop;
  fault.message = "start_decode";
  EXPECT_EQ(text_of(fault, 0), "drop 0.25 of start_decode");
  fault.act = FaultAct::kKillService;
  fault.service = FrontService::kStreams;
  EXPECT_EQ(text_of(fault, 0), "kill streams");
  FaultMarks marks;
  for (std::size_t i = 0; i < FaultMarks::kMost + 3; ++i) marks.add(Time(), "x");
  EXPECT_EQ(marks.all().size(), FaultMarks::kMost);
  EXPECT_EQ(marks.left_out(), 3u);
}

TEST(ReportFile, SaysWhyItCannotBeWritten) {
  const Status status = write_report_file("/no/such/folder/r.html", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("/no/such/folder/r.html: No such file"), std::string::npos);
  const Status full = write_report_file("/dev/full", "x");
  ASSERT_FALSE(full.ok()) << "a device is written to, not replaced";
  EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace troupe
