#include "tools/admin/actor_table.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/config/scalar.hpp"

namespace troupe {

namespace {

std::string text_of(const rapidjson::Value& object, const char* key) {
  const auto at = object.FindMember(key);
  return at != object.MemberEnd() && at->value.IsString() ? at->value.GetString() : "";
}

double number_of(const rapidjson::Value& object, const char* key) {
  const auto at = object.FindMember(key);
  return at != object.MemberEnd() && at->value.IsNumber() ? at->value.GetDouble() : 0;
}

bool comes_before(const ActorLine& a, const ActorLine& b, ActorSort sort) {
  switch (sort) {
    case ActorSort::kBusy:
      return a.busy_percent != b.busy_percent ? a.busy_percent > b.busy_percent
                                              : a.busy_ms > b.busy_ms;
    case ActorSort::kMailbox:
      return a.mailbox > b.mailbox;
    case ActorSort::kIn:
      return a.in > b.in;
    case ActorSort::kLongest:
      return a.longest_us > b.longest_us;
    case ActorSort::kKind:
      return a.kind < b.kind;
  }
  return false;
}

}  // namespace

Result<std::vector<ActorLine>> parse_actors(std::string_view json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (!document.IsObject() || !document.HasMember("actors") || !document["actors"].IsArray()) {
    return Error{Code::kCorrupt, "the node's list of actors is not what this program expects"};
  }
  std::vector<ActorLine> lines;
  for (const auto& actor : document["actors"].GetArray()) {
    if (!actor.IsObject()) continue;
    ActorLine line;
    line.id = text_of(actor, "id");
    line.kind = text_of(actor, "kind");
    line.phase = text_of(actor, "phase");
    line.parent = text_of(actor, "parent");
    line.request = text_of(actor, "request");
    line.mailbox = number_of(actor, "mailbox");
    line.in = number_of(actor, "in");
    line.out = number_of(actor, "out");
    line.busy_ms = number_of(actor, "busy_ms");
    line.longest_us = number_of(actor, "longest_us");
    lines.push_back(std::move(line));
  }
  return lines;
}

void add_rates(std::vector<ActorLine>& now, const std::vector<ActorLine>& before, double seconds) {
  std::map<std::string_view, const ActorLine*> earlier;
  for (const auto& line : before) earlier[line.id] = &line;
  for (auto& line : now) {
    const auto at = earlier.find(line.id);
    const double in_before = at == earlier.end() ? 0 : at->second->in;
    const double busy_before = at == earlier.end() ? 0 : at->second->busy_ms;
    line.in_rate = (line.in - in_before) / seconds;
    line.busy_percent = (line.busy_ms - busy_before) / (seconds * 10);
  }
}

Result<std::vector<ActorLine>> of_kind(std::vector<ActorLine> actors, const std::string& kind) {
  std::set<std::string> kinds{"request"};
  for (const ActorLine& line : actors) kinds.insert(line.kind);
  if (!kinds.contains(kind)) {
    return Error{Code::kInvalid, fmt::format("--kind: there is no actor of the kind {}; there are "
                                             "{}",
                                             config::in_quotes(kind), fmt::join(kinds, ", "))};
  }
  std::erase_if(actors, [&](const ActorLine& line) { return line.kind != kind; });
  return actors;
}

std::string format_actors(std::vector<ActorLine> actors, ActorSort sort, std::size_t count,
                          bool rates) {
  std::stable_sort(actors.begin(), actors.end(), [&](const ActorLine& a, const ActorLine& b) {
    return comes_before(a, b, sort);
  });
  if (count != 0 && actors.size() > count) actors.resize(count);
  const bool any_request = std::any_of(actors.begin(), actors.end(),
                                       [](const ActorLine& a) { return !a.request.empty(); });
  std::string out = fmt::format("{:<21} {:<9} {:<11} {:>8} {:>10} {:>10} {:>10} {:>11}", "ID",
                                "KIND", "PHASE", "MAILBOX", "IN", "OUT", "BUSY ms", "LONGEST us");
  if (rates) out += fmt::format(" {:>9} {:>7}", "IN/s", "ACTOR%");
  out += any_request ? "  REQUEST\n" : "\n";
  for (const auto& line : actors) {
    out += fmt::format("{:<21} {:<9} {:<11} {:>8.0f} {:>10.0f} {:>10.0f} {:>10.1f} {:>11.0f}",
                       line.id, line.kind, line.phase, line.mailbox, line.in, line.out,
                       line.busy_ms, line.longest_us);
    if (rates) out += fmt::format(" {:>9.0f} {:>7.1f}", line.in_rate, line.busy_percent);
    if (any_request) out += "  " + (line.request.empty() ? "-" : line.request);
    out += '\n';
  }
  return out;
}

std::string cut_lines(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    out.append(line.substr(0, width)).append(1, '\n');
  }
  return out;
}

}  // namespace troupe
