#include "actors/traffic/traffic_plan.hpp"

#include "runtime/base/finite_number.hpp"

namespace troupe {

namespace {

Error invalid(std::string message) {
  return Error{Code::kInvalid, std::move(message)};
}

std::string entry(const char* name, const std::optional<Duration>& limit) {
  if (!limit) return {};
  std::string number = std::to_string(limit->milliseconds());
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return std::string(name) + ":" + number + " ";
}

}  // namespace

std::string Slo::text() const {
  std::string all = entry("ttft", ttft) + entry("tpot", tpot) + entry("e2el", e2el);
  if (!all.empty()) all.pop_back();
  return all;
}

Result<Slo> parse_slo(std::string_view text) {
  Slo slo;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string word(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    const std::size_t colon = word.find(':');
    const std::string name = word.substr(0, colon);
    std::optional<Duration>* limit = name == "ttft"   ? &slo.ttft
                                     : name == "tpot" ? &slo.tpot
                                     : name == "e2el" ? &slo.e2el
                                                      : nullptr;
    const std::string number = colon == std::string::npos ? "" : word.substr(colon + 1);
    const std::optional<double> ms = finite_number(number);
    if (limit == nullptr || !ms || *ms <= 0 || *ms > 1e9) {
      return invalid("'" + word + "' is no objective; write ttft:MS, tpot:MS or e2el:MS");
    }
    *limit = from_seconds(*ms / 1000);
  }
  return slo;
}

Status check_plan(const TrafficPlan& plan) {
  const bool trace = !plan.trace.file.empty();
  if (plan.concurrency == 0 && !plan.has_rate() && !trace) {
    return invalid("say how much load: a concurrency, a request rate, phases or a trace");
  }
  if (plan.num_requests == 0 && plan.duration.value <= 0 && plan.phases.empty() && !trace) {
    return invalid("say when to end: a number of requests, a duration, phases or a trace");
  }
  return check_load(plan);
}

}  // namespace troupe
