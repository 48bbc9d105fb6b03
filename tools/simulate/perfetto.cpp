#include "tools/simulate/perfetto.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace troupe {

namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr int kRequestsProcess = 1;
constexpr int kCountersProcess = 2;

double microseconds_of(Time at) {
  return static_cast<double>(at.value) / 1e3;
}

void event(Json& json, const char* phase, const char* name, int process, std::uint32_t track,
           double at) {
  json.StartObject();
  json.Key("ph"), json.String(phase);
  json.Key("name"), json.String(name);
  json.Key("pid"), json.Int(process);
  json.Key("tid"), json.Uint(track);
  json.Key("ts"), json.Double(at);
}

void name_process(Json& json, int process, const char* name) {
  event(json, "M", "process_name", process, 0, 0);
  json.Key("args"), json.StartObject(), json.Key("name"), json.String(name), json.EndObject();
  json.EndObject();
}

void slice(Json& json, const char* name, std::uint32_t track, Time begin, Time end) {
  event(json, "X", name, kRequestsProcess, track, microseconds_of(begin));
  json.Key("dur"), json.Double(microseconds_of(end) - microseconds_of(begin));
}

void put_request(Json& json, const RequestTimeline& one, std::uint32_t track) {
  slice(json, ("request " + std::to_string(one.request)).c_str(), track, one.parts.front().begin,
        one.ended);
  json.Key("args"), json.StartObject();
  json.Key("prompt_tokens"), json.Uint(one.prompt_tokens);
  if (one.hit_tokens) json.Key("hit_tokens"), json.Uint(*one.hit_tokens);
  json.Key("output_tokens"), json.Uint(one.output_tokens);
  json.Key("client_left"), json.Bool(one.client_left);
  json.EndObject(), json.EndObject();
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    const Time end = i + 1 < one.parts.size() ? one.parts[i + 1].begin : one.ended;
    slice(json, phase_name(one.parts[i].phase), track, one.parts[i].begin, end);
    json.EndObject();
  }
}

void put_requests(Json& json, std::vector<const RequestTimeline*> requests) {
  std::sort(requests.begin(), requests.end(), [](const auto* a, const auto* b) {
    return a->parts.front().begin < b->parts.front().begin;
  });
  using Busy = std::pair<Time, std::uint32_t>;  // until when, which track
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t tracks = 0;
  for (const RequestTimeline* one : requests) {
    while (!busy.empty() && busy.top().first <= one->parts.front().begin) {
      free.push(busy.top().second);
      busy.pop();
    }
    if (free.empty()) free.push(++tracks);
    const std::uint32_t track = free.top();
    free.pop();
    busy.emplace(one->ended, track);
    put_request(json, *one, track);
  }
}

void put_counters(Json& json, const RunSeries& series) {
  for (const RunChart& chart : series.charts()) {
    for (std::size_t at = 0; at < series.times().size(); ++at) {
      event(json, "C", chart.title.c_str(), kCountersProcess, 0, series.times()[at] * 1e6);
      json.Key("args"), json.StartObject();
      for (std::size_t line = 0; line < chart.lines.size(); ++line) {
        if (!std::isfinite(chart.points[line][at])) continue;
        json.Key(chart.lines[line].c_str()), json.Double(chart.points[line][at]);
      }
      json.EndObject(), json.EndObject();
    }
  }
}

void put_marks(Json& json, const FaultMarks& marks) {
  for (const FaultMarks::Mark& mark : marks.all()) {
    event(json, "i", mark.text.c_str(), kCountersProcess, 0, microseconds_of(mark.at));
    json.Key("s"), json.String("g");  // a line over all tracks
    json.EndObject();
  }
}

}  // namespace

std::string perfetto_trace(const std::vector<RequestTimeline>& requests, const RunSeries& series,
                           const FaultMarks* marks) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  json.Key("displayTimeUnit"), json.String("ms");
  json.Key("traceEvents"), json.StartArray();
  name_process(json, kRequestsProcess, "requests");
  name_process(json, kCountersProcess, "cluster");
  std::vector<const RequestTimeline*> pointers;
  for (const RequestTimeline& one : requests) pointers.push_back(&one);
  put_requests(json, std::move(pointers));
  put_counters(json, series);
  if (marks != nullptr) put_marks(json, *marks);
  json.EndArray(), json.EndObject();
  return buffer.GetString();
}

}  // namespace troupe
