#include "tools/simulate/report_page.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tools/simulate/report_assets.hpp"

namespace troupe {

namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

void text(Json& json, const char* key, const std::string& value) {
  json.Key(key), json.String(value.c_str(), static_cast<rapidjson::SizeType>(value.size()));
}

/// JSON has no NaN: a point that says nothing is null.
void point(Json& json, double value) {
  if (std::isfinite(value)) {
    json.Double(value);
  } else {
    json.Null();
  }
}

void points(Json& json, const char* key, const std::vector<double>& values) {
  json.Key(key), json.StartArray();
  for (const double value : values) point(json, value);
  json.EndArray();
}

void charts(Json& json, const RunSeries& series) {
  points(json, "times", series.times());
  json.Key("charts"), json.StartArray();
  for (const RunChart& chart : series.charts()) {
    json.StartObject();
    text(json, "title", chart.title), text(json, "unit", chart.unit);
    json.Key("logarithmic"), json.Bool(chart.logarithmic);
    json.Key("lines"), json.StartArray();
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
      json.StartObject();
      text(json, "name", chart.lines[i]), points(json, "points", chart.points[i]);
      json.EndObject();
    }
    json.EndArray(), json.EndObject();
  }
  json.EndArray();
}

void marks(Json& json, const FaultMarks* faults) {
  json.Key("marks"), json.StartArray();
  for (const FaultMarks::Mark& mark : faults ? faults->all() : std::vector<FaultMarks::Mark>()) {
    json.StartObject();
    json.Key("time"), json.Double(mark.at.seconds()), text(json, "text", mark.text);
    json.EndObject();
  }
  json.EndArray();
  json.Key("marks_left_out"), json.Uint64(faults ? faults->left_out() : 0);
}

void distribution(Json& json, const char* title, const char* unit, const Histogram& values,
                  double scale) {
  if (values.count() == 0) return;
  // Finer where the tail is.
  constexpr std::array kPercents = {0.0,  1.0,  5.0,  10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0,
                                    80.0, 85.0, 90.0, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9, 100.0};
  json.StartObject();
  text(json, "title", title), text(json, "unit", unit);
  json.Key("percents"), json.StartArray();
  for (const double percent : kPercents) json.Double(percent);
  json.EndArray();
  json.Key("values"), json.StartArray();
  for (const double percent : kPercents) json.Double(values.percentile(percent) * scale);
  json.EndArray(), json.EndObject();
}

void distributions(Json& json, const TrafficReport& report) {
  json.Key("distributions"), json.StartArray();
  distribution(json, "Time to first token", "ms", report.ttft, 1e3);
  distribution(json, "Time per output token", "ms", report.tpot, 1e3);
  distribution(json, "Whole latency", "s", report.e2el, 1);
  distribution(json, "Speed that a user sees", "tokens/s", report.user_rate, 1);
  json.EndArray();
}

void tile(Json& json, const char* name, double value, const char* unit) {
  json.StartObject();
  text(json, "name", name), json.Key("value"), point(json, value), text(json, "unit", unit);
  json.EndObject();
}

void tiles(Json& json, const TrafficReport& report) {
  const double span = report.duration().seconds();
  auto rate = [&](std::uint64_t amount) { return static_cast<double>(amount) / span; };
  const std::uint64_t ok = report.count(Outcome::kOk);
  json.Key("tiles"), json.StartArray();
  tile(json, "requests answered", static_cast<double>(ok), "");
  tile(json, "failed, timed out or empty", report.error_share() * 100, "%");
  tile(json, "requests", rate(ok), "/s");
  tile(json, "output tokens", rate(report.output_tokens()), "/s");
  tile(json, "time to first token, p50", report.ttft.percentile(50) * 1e3, "ms");
  tile(json, "time to first token, p99", report.ttft.percentile(99) * 1e3, "ms");
  tile(json, "time per output token, p50", report.tpot.percentile(50) * 1e3, "ms");
  tile(json, "time per output token, p99", report.tpot.percentile(99) * 1e3, "ms");
  if (report.plan().slo.given()) {
    tile(json, "within the SLO", rate(report.good()), "/s");
  }
  json.EndArray();
}

/// Milliseconds in each phase up to the first token.
std::array<double, kRequestPhases> to_first_token(const RequestTimeline& one) {
  std::array<double, kRequestPhases> sums{};
  const Time begin = one.parts.front().begin;
  const Time end = one.first_token > Duration() ? begin + one.first_token : one.ended;
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    const Time until = i + 1 < one.parts.size() ? one.parts[i + 1].begin : one.ended;
    const Duration part = std::min(until, end) - one.parts[i].begin;
    if (part > Duration()) {
      sums[static_cast<std::size_t>(one.parts[i].phase)] += part.seconds() * 1e3;
    }
  }
  return sums;
}

void slowest(Json& json, const std::vector<RequestTimeline>& timelines) {
  json.Key("phases"), json.StartArray();
  for (std::size_t i = 0; i < kRequestPhases; ++i) {
    json.String(phase_name(static_cast<RequestPhase>(i)));
  }
  json.EndArray();
  json.Key("slowest"), json.StartArray();
  for (const RequestTimeline& one : timelines) {
    json.StartObject();
    text(json, "name", "request " + std::to_string(one.request & 0xffffffff));
    text(json, "about",
         std::to_string(one.prompt_tokens) + " tokens" +
             (one.hit_tokens ? ", " + std::to_string(*one.hit_tokens) + " of them hit" : "") +
             "; " + std::to_string(one.output_tokens) + " came" +
             (one.client_left ? "; its client left" : ""));
    json.Key("milliseconds"), json.StartArray();
    for (const double part : to_first_token(one)) json.Double(part);
    json.EndArray(), json.EndObject();
  }
  json.EndArray();
}

void fact(Json& json, const ReportLine& line) {
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          json.String(value.c_str());
        } else if constexpr (std::is_same_v<Value, double>) {
          point(json, value);
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
          json.Uint64(value);
        } else {
          json.StartArray();
          for (const auto& one : value) json.String(one.c_str());
          json.EndArray();
        }
      },
      line.value);
}

void facts(Json& json, const ReportLines& lines) {
  json.Key("warnings"), json.StartArray();
  for (const ReportLine& line : lines) {
    // In capitals: what a reader must know before believing a figure.
    const bool loud = line.title == "EXTRAPOLATION" || line.title == "MEMORY";
    if (!loud) continue;
    const auto* what = std::get_if<std::string>(&line.value);
    if (what != nullptr) json.String((line.title + ": " + *what).c_str());
  }
  json.EndArray();
  json.Key("facts"), json.StartArray();
  for (const ReportLine& line : lines) {
    if (line.title.empty()) continue;
    json.StartArray(), json.String(line.title.c_str()), fact(json, line), json.EndArray();
  }
  json.EndArray();
}

std::string data_of(const ReportPage& page) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  text(json, "title", page.title), text(json, "about", page.command);
  tiles(json, *page.traffic);
  charts(json, *page.series);
  marks(json, page.marks);
  distributions(json, *page.traffic);
  slowest(json, page.slowest);
  facts(json, page.facts);
  json.EndObject();
  return buffer.GetString();
}

/// "</script" or "<!--" in a string would end or hide the element that holds the data.
std::string harmless(const std::string& json) {
  std::string safe;
  for (const char one : json) {
    if (one == '<') {
      safe += "\\u003c";
    } else {
      safe += one;
    }
  }
  return safe;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  TROUPE_ASSERT(at != std::string::npos, "the page has a place for it");
  page.replace(at, mark.size(), text);
}

}  // namespace

std::string html_of(const ReportPage& page) {
  std::string html(report_page_html());
  put(html, "/*DATA*/", harmless(data_of(page)));
  put(html, "/*CHART_JS*/", chart_js());
  return html;
}

Status write_report_file(const std::string& path, const std::string& text) {
  // What is there and no file of ours (a device, a pipe) is written to, not replaced.
  std::error_code ignored;
  const auto there = std::filesystem::status(path, ignored);
  const bool replace = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
  const std::string fresh = replace ? path + ".part" : path;
  std::FILE* file = std::fopen(fresh.c_str(), "wb");
  bool good = file != nullptr;
  if (good) {
    good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    good = std::fflush(file) == 0 && good;
    if (!good) errno = errno == 0 ? EIO : errno;
    const int why = errno;
    good = std::fclose(file) == 0 && good;
    if (!good) errno = why;
  }
  if (good && replace) good = std::rename(fresh.c_str(), path.c_str()) == 0;
  if (good) return ok_status();
  const std::string why = std::strerror(errno);
  if (replace) std::remove(fresh.c_str());
  return Error{Code::kInvalid, "cannot write " + path + ": " + why};
}

}  // namespace troupe
