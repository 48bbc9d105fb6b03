#include "actors/traffic/report_text.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe {

namespace {

constexpr std::size_t kWidth = 60;
constexpr std::size_t kNameWidth = 40;

std::string number(double value, int digits = 2) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void title(std::string& out, const std::string& text, char fill) {
  const std::string middle = " " + text + " ";
  const std::size_t room = kWidth - std::min(kWidth, middle.size());
  out += std::string(room / 2, fill) + middle + std::string(room - room / 2, fill) + "\n";
}

void line(std::string& out, const std::string& name, const std::string& value) {
  out += name + ":";
  out.append(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ');
  out += value + "\n";
}

void line(std::string& out, const std::string& name, std::uint64_t value) {
  line(out, name, std::to_string(value));
}

double rate(double amount, Duration over) {
  return over.value <= 0 ? 0 : amount / over.seconds();
}

void latency(std::string& out, const char* heading, const char* name, const Histogram& values) {
  title(out, heading, '-');
  if (values.count() == 0) return line(out, std::string(name) + " (ms)", "no value");
  line(out, std::string("Mean ") + name + " (ms)", number(values.mean() * 1e3));
  line(out, std::string("Median ") + name + " (ms)", number(values.percentile(50) * 1e3));
  line(out, std::string("P90 ") + name + " (ms)", number(values.percentile(90) * 1e3));
  line(out, std::string("P99 ") + name + " (ms)", number(values.percentile(99) * 1e3));
  line(out, std::string("P99.9 ") + name + " (ms)", number(values.percentile(99.9) * 1e3));
}

void load_lines(std::string& out, const TrafficReport& report) {
  const TrafficPlan& plan = report.plan();
  if (plan.concurrency > 0) line(out, "Maximum request concurrency", plan.concurrency);
  line(out, "Peak concurrent requests", report.peak_concurrency());
  if (plan.request_rate > 0) line(out, "Request rate configured (RPS)", number(plan.request_rate));
  if (plan.has_rate() || !plan.trace.file.empty()) {
    line(out, "Request rate asked (RPS)", number(report.asked_rate()));
    line(out, "Request rate achieved (RPS)", number(report.achieved_rate()));
  }
  line(out, "Generator lag mean / P99 (ms)",
       number(report.lag.mean() * 1e3) + " / " + number(report.lag.percentile(99) * 1e3));
}

void outcome_lines(std::string& out, const TrafficReport& report) {
  line(out, "Successful requests", report.count(Outcome::kOk));
  line(out, "Failed requests", report.count(Outcome::kFailed));
  line(out, "Requests without a token", report.count(Outcome::kNoToken));
  line(out, "Timed out requests", report.count(Outcome::kTimedOut));
  line(out, "Cancelled requests", report.count(Outcome::kCancelled));
}

/// What the server says of the prompts, beside what was asked for.
void seen_lines(std::string& out, const TrafficReport& report) {
  const TrafficReport::Seen& seen = report.seen();
  const std::uint64_t ok = report.count(Outcome::kOk);
  if (seen.answers == 0) return line(out, "Input tokens seen by the server", "not reported");
  std::string of;
  if (seen.answers < ok) of = "  (of " + std::to_string(seen.answers) + " answers)";
  line(out, "Input tokens seen by the server", std::to_string(seen.prompt_tokens) + of);
  const auto share = seen.cached_share();
  if (!share) return line(out, "Cached input tokens", "not reported");
  line(out, "Cached input tokens",
       std::to_string(seen.cached_tokens) + "  (" + number(*share * 100, 1) + " %)");
}

/// Latencies as a tool would see them that waits for its own lag.
void sent_lines(std::string& out, const TrafficReport& report) {
  auto both = [](const Histogram& values) {
    return number(values.percentile(50) * 1e3) + " / " + number(values.percentile(99) * 1e3);
  };
  title(out, "From the actual Send, not the intended one", '-');
  line(out, "Median / P99 TTFT (ms)", both(report.sent_ttft));
  line(out, "Median / P99 E2EL (ms)", both(report.sent_e2el));
}

void error_lines(std::string& out, const TrafficReport& report) {
  if (report.errors().empty()) return;
  title(out, "Errors", '-');
  for (const auto& [what, times] : report.errors()) {
    out += std::to_string(times) + " x " + what + "\n";
  }
}

void note_lines(std::string& out, const TrafficReport& report) {
  for (const std::string& note : report.notes()) out += "Note: " + note + "\n";
  if (report.broken()) out += "The load broke off: " + report.broken()->message + "\n";
}

/// A value that does not fit behind its name goes below it, in as many lines as it needs.
void long_line(std::string& out, const std::string& name, std::string_view value) {
  constexpr std::string_view kIndent = "  ";
  if (value.size() + kNameWidth < kWidth) return line(out, name, std::string(value));
  out += name + ":\n";
  while (!value.empty()) {
    std::size_t end = value.size();
    if (kIndent.size() + end > kWidth) {
      end = value.rfind(' ', kWidth - kIndent.size());
      // A word that is too long for the frame, such as a path, stays whole.
      if (end == std::string_view::npos) end = std::min(value.find(' '), value.size());
    }
    out.append(kIndent).append(value.substr(0, end)).append("\n");
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

void extra_lines(std::string& out, const ReportLines& extra) {
  for (const auto& [name, key, value, decimals] : extra) {
    if (name.empty()) continue;
    if (const auto* text = std::get_if<std::string>(&value)) long_line(out, name, *text);
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) line(out, name, *whole);
    if (const auto* real = std::get_if<double>(&value)) line(out, name, number(*real, decimals));
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
      int at = 0;
      for (const auto& each : *list) long_line(out, name + " " + std::to_string(++at), each);
    }
  }
}

struct Row {
  const char* name;
  const Histogram* values;
  double scale;
};

void table_row(std::string& out, const Row& row) {
  const Histogram& v = *row.values;
  char text[256];
  std::snprintf(text, sizeof text, "%-40s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f\n",
                row.name, v.mean() * row.scale, v.least() * row.scale, v.greatest() * row.scale,
                v.percentile(99) * row.scale, v.percentile(90) * row.scale,
                v.percentile(75) * row.scale, v.deviation() * row.scale);
  out += text;
}

void single_row(std::string& out, const char* name, double value) {
  char text[128];
  std::snprintf(text, sizeof text, "%-40s %10.2f\n", name, value);
  out += text;
}

}  // namespace

std::string vllm_block(const TrafficReport& report, const ReportLines& extra) {
  std::string out;
  title(out, "Serving Benchmark Result", '=');
  const Duration span = report.duration();
  outcome_lines(out, report);
  load_lines(out, report);
  line(out, "Benchmark duration (s)", number(span.seconds()));
  line(out, "Total input tokens", report.input_tokens());
  seen_lines(out, report);
  line(out, "Total generated tokens", report.output_tokens());
  const auto input = static_cast<double>(report.input_tokens());
  const auto output = static_cast<double>(report.output_tokens());
  line(out, "Request throughput (req/s)",
       number(rate(static_cast<double>(report.count(Outcome::kOk)), span)));
  if (report.plan().slo.given()) {
    line(out, "Request goodput (req/s)",
         number(rate(static_cast<double>(report.good()), span)) + "  (" + report.plan().slo.text() +
             " ms)");
  }
  line(out, "Output token throughput (tok/s)", number(rate(output, span)));
  line(out, "Total Token throughput (tok/s)", number(rate(input + output, span)));
  latency(out, "Time to First Token", "TTFT", report.ttft);
  latency(out, "Time per Output Token (excl. 1st token)", "TPOT", report.tpot);
  latency(out, "Inter-token Latency", "ITL", report.itl);
  latency(out, "End-to-end Latency", "E2EL", report.e2el);
  sent_lines(out, report);
  error_lines(out, report);
  note_lines(out, report);
  if (!extra.empty()) title(out, "Simulation", '-');
  extra_lines(out, extra);
  out += std::string(kWidth, '=') + "\n";
  return out;
}

std::string aiperf_table(const TrafficReport& report, const ReportLines& extra) {
  std::string out;
  char head[256];
  std::snprintf(head, sizeof head, "%-40s %10s %10s %10s %10s %10s %10s %10s\n", "Metric", "avg",
                "min", "max", "p99", "p90", "p75", "std");
  out += head;
  const Row rows[] = {
      {"Time to First Token (ms)", &report.ttft, 1e3},
      {"Time to Second Token (ms)", &report.ttst, 1e3},
      {"Request Latency (ms)", &report.e2el, 1e3},
      {"Inter Token Latency (ms)", &report.tpot, 1e3},
      {"Output Token Throughput Per User (tok/s)", &report.user_rate, 1},
      {"Output Sequence Length (tokens)", &report.osl, 1},
      {"Input Sequence Length (tokens)", &report.isl, 1},
  };
  for (const Row& row : rows) table_row(out, row);
  const Duration span = report.duration();
  const auto ok = static_cast<double>(report.count(Outcome::kOk));
  single_row(out, "Output Token Throughput (tok/s)",
             rate(static_cast<double>(report.output_tokens()), span));
  single_row(out, "Request Throughput (req/s)", rate(ok, span));
  if (report.plan().slo.given()) {
    single_row(out, "Goodput (req/s)", rate(static_cast<double>(report.good()), span));
  }
  single_row(out, "Request Count", ok);
  outcome_lines(out, report);
  load_lines(out, report);
  seen_lines(out, report);
  error_lines(out, report);
  note_lines(out, report);
  extra_lines(out, extra);
  return out;
}

}  // namespace troupe
