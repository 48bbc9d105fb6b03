#include "actors/traffic/report_json.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace troupe {

namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

void distribution(Json& json, const char* name, const Histogram& values, double scale) {
  json.Key(name);
  if (values.count() == 0) {
    json.Null();
    return;
  }
  json.StartObject();
  json.Key("count"), json.Uint64(values.count());
  json.Key("mean"), json.Double(values.mean() * scale);
  json.Key("std"), json.Double(values.deviation() * scale);
  json.Key("min"), json.Double(values.least() * scale);
  json.Key("max"), json.Double(values.greatest() * scale);
  json.Key("p50"), json.Double(values.percentile(50) * scale);
  json.Key("p90"), json.Double(values.percentile(90) * scale);
  json.Key("p99"), json.Double(values.percentile(99) * scale);
  json.Key("p99.9"), json.Double(values.percentile(99.9) * scale);
  json.EndObject();
}

void outcomes(Json& json, const TrafficReport& report) {
  json.Key("requests"), json.Uint64(report.total());
  json.Key("ok"), json.Uint64(report.count(Outcome::kOk));
  json.Key("failed"), json.Uint64(report.count(Outcome::kFailed));
  json.Key("no_token"), json.Uint64(report.count(Outcome::kNoToken));
  json.Key("timed_out"), json.Uint64(report.count(Outcome::kTimedOut));
  json.Key("cancelled"), json.Uint64(report.count(Outcome::kCancelled));
  json.Key("error_share"), json.Double(report.error_share());
  json.Key("errors"), json.StartObject();
  for (const auto& [what, times] : report.errors()) json.Key(what.c_str()), json.Uint64(times);
  json.EndObject();
}

void throughput(Json& json, const TrafficReport& report) {
  const double span = report.duration().seconds();
  auto rate = [&](std::uint64_t amount) {
    return span <= 0 ? 0 : static_cast<double>(amount) / span;
  };
  json.Key("duration_s"), json.Double(span);
  json.Key("input_tokens"), json.Uint64(report.input_tokens());
  json.Key("output_tokens"), json.Uint64(report.output_tokens());
  json.Key("requests_per_s"), json.Double(rate(report.count(Outcome::kOk)));
  json.Key("output_tokens_per_s"), json.Double(rate(report.output_tokens()));
  json.Key("total_tokens_per_s"), json.Double(rate(report.input_tokens() + report.output_tokens()));
  json.Key("slo"), json.String(report.plan().slo.text().c_str());
  json.Key("goodput_per_s");
  if (report.plan().slo.given()) {
    json.Double(rate(report.good()));
  } else {
    json.Null();
  }
}

void seen(Json& json, const TrafficReport& report) {
  const TrafficReport::Seen& seen = report.seen();
  const auto share = seen.cached_share();
  json.Key("usage"), json.StartObject();
  json.Key("answers"), json.Uint64(seen.answers);
  json.Key("input_tokens"), json.Uint64(seen.prompt_tokens);
  json.Key("cached_tokens"), json.Uint64(seen.cached_tokens);
  json.Key("cached_share");
  if (share) {
    json.Double(*share);
  } else {
    json.Null();
  }
  json.EndObject();
}

void notes(Json& json, const TrafficReport& report) {
  json.Key("notes"), json.StartArray();
  for (const std::string& note : report.notes()) json.String(note.c_str());
  json.EndArray();
  json.Key("broken_off");
  if (report.broken()) {
    json.String(report.broken()->message.c_str());
  } else {
    json.Null();
  }
}

void load(Json& json, const TrafficReport& report) {
  json.Key("seed"), json.Uint64(report.plan().seed);
  json.Key("concurrency_max"), json.Uint(report.plan().concurrency);
  json.Key("concurrency_peak"), json.Uint(report.peak_concurrency());
  json.Key("rate_configured"), json.Double(report.plan().request_rate);
  json.Key("rate_asked"), json.Double(report.asked_rate());
  json.Key("rate_achieved"), json.Double(report.achieved_rate());
  distribution(json, "generator_lag_ms", report.lag, 1e3);
}

void extra_fact(Json& json, const ReportLine& line) {
  if (line.key.empty()) return;
  json.Key(line.key.c_str());
  if (const auto* text = std::get_if<std::string>(&line.value)) json.String(text->c_str());
  if (const auto* whole = std::get_if<std::uint64_t>(&line.value)) json.Uint64(*whole);
  if (const auto* real = std::get_if<double>(&line.value)) json.Double(*real);
  if (const auto* list = std::get_if<std::vector<std::string>>(&line.value)) {
    json.StartArray();
    for (const auto& each : *list) json.String(each.c_str());
    json.EndArray();
  }
}

}  // namespace

std::string report_json(const TrafficReport& report, const ReportLines& extra) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.SetMaxDecimalPlaces(6);
  json.StartObject();
  outcomes(json, report);
  throughput(json, report);
  seen(json, report);
  load(json, report);
  distribution(json, "ttft_ms", report.ttft, 1e3);
  distribution(json, "ttst_ms", report.ttst, 1e3);
  distribution(json, "tpot_ms", report.tpot, 1e3);
  distribution(json, "itl_ms", report.itl, 1e3);
  distribution(json, "e2el_ms", report.e2el, 1e3);
  distribution(json, "sent_ttft_ms", report.sent_ttft, 1e3);
  distribution(json, "sent_e2el_ms", report.sent_e2el, 1e3);
  distribution(json, "isl", report.isl, 1);
  distribution(json, "osl", report.osl, 1);
  notes(json, report);
  if (!extra.empty()) {
    json.Key("simulation"), json.StartObject();
    for (const ReportLine& line : extra) extra_fact(json, line);
    json.EndObject();
  }
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace troupe
