#include "tools/traffic/load_options.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/base/nearest.hpp"
#include "tools/config/scalar.hpp"
#include "tools/config/yaml_file.hpp"

namespace troupe {

namespace {

constexpr std::uintmax_t kLargestFile = 256u << 10;  // as yaml_file.hpp

/// One file's entry, before rows are taken in the table's order.
struct Found {
  const LoadFlag* flag;
  const config::Entry* entry;
};

Error unknown_key(const std::string& where, const std::string& key) {
  std::vector<std::string> names;
  for (const LoadFlag& flag : load_flags()) {
    std::string name = flag.name;
    std::replace(name.begin(), name.end(), '-', '_');
    names.push_back(std::move(name));
  }
  const auto near = nearest(key, names);
  return Error{Code::kInvalid, where + ": unknown key " + config::in_quotes(key) +
                                   (near ? "; the nearest is " + *near : "")};
}

Status take_texts(const LoadFlag& flag, const std::vector<std::string>& texts, TrafficPlan& plan) {
  // What is said here replaces what was said before, as with any other flag.
  if (flag.values == LoadFlag::Values::kEach) plan.phases.clear();
  for (const std::string& text : texts) TROUPE_TRY(flag.take(text, plan));
  return ok_status();
}

/// What counts of several values.
std::vector<std::string> texts_of(const LoadFlag& flag, const std::vector<std::string>& given) {
  if (flag.values == LoadFlag::Values::kEach || given.size() < 2) return given;
  if (flag.values == LoadFlag::Values::kLast) return {given.back()};
  std::string words;
  for (const std::string& word : given) words += (words.empty() ? "" : " ") + word;
  return {words};
}

/// Rates and phases are two ways to say one thing: the one that is said last counts.
void choose(const LoadFlag& flag, TrafficPlan& plan) {
  const std::string_view name = flag.name;
  if (name == "request-rate") plan.phases.clear();
  if (name == "phase") plan.request_rate = 0;
}

bool has_times(const LoadFlag& flag) {
  const std::string_view name = flag.name;
  return name == "trace" || name == "phase";
}

void forget_times(TrafficPlan& plan) {
  plan.request_rate = 0;
  plan.phases.clear();
  plan.num_requests = 0;
  plan.duration = Duration();
}

Result<std::string> read_file(const std::string& path) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  if (failure) return Error{Code::kNotFound, path + ": cannot read it: " + failure.message()};
  if (size > kLargestFile) return Error{Code::kInvalid, path + ": larger than 256 KiB"};
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return Error{Code::kIo, path + ": cannot read it"};
  return text;
}

}  // namespace

Status take_load_file(const std::string& name, const std::string& text, TrafficPlan& plan) {
  TROUPE_TRY_ASSIGN(const auto entries, config::read_yaml(name, text));
  std::vector<Found> found;
  for (const config::Entry& entry : entries) {
    const std::string where = config::at(name, entry.key_position);
    if (entry.is_section) {
      if (entry.path == "load") continue;
      return Error{Code::kInvalid, where + ": expected one section 'load:', found " +
                                       config::in_quotes(entry.path)};
    }
    const std::string key = entry.path.substr(entry.path.find('.') + 1);
    std::string flag_name = key;
    std::replace(flag_name.begin(), flag_name.end(), '_', '-');
    const LoadFlag* flag = find_load_flag(flag_name);
    if (flag == nullptr) return unknown_key(where, key);
    if (flag->values == LoadFlag::Values::kLast && entry.value.is_list) {
      return Error{Code::kInvalid, config::at(name, entry.value_position) + ": " + key +
                                       ": expected one value, found a list"};
    }
    found.push_back({flag, &entry});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.flag < b.flag; });
  if (std::any_of(found.begin(), found.end(), [](const Found& a) { return has_times(*a.flag); })) {
    forget_times(plan);
  }
  for (const auto& [flag, entry] : found) {
    choose(*flag, plan);
    const auto taken = take_texts(*flag, texts_of(*flag, entry->value.items), plan);
    if (!taken.ok()) {
      return Error{taken.error().code, config::at(name, entry->value_position) + ": " +
                                           std::string(flag->name) + ": " + taken.error().message};
    }
  }
  return ok_status();
}

void complete(TrafficPlan& plan) {
  const bool trace = !plan.trace.file.empty();
  if (plan.concurrency == 0 && !plan.has_rate() && !trace) plan.concurrency = 1;
  const bool ends = plan.duration.value > 0 || !plan.phases.empty() || trace;
  if (plan.num_requests == 0 && !ends) plan.num_requests = 100;
}

LoadOptions::LoadOptions(cli::Command& command) {
  command.option("--load", file_, "the flags below from a file, as `load: {isl: 512}`")
      .value_name("FILE")
      .group("Load");
  for (const LoadFlag& flag : load_flags()) {
    Given& given = given_.emplace_back(Given{&flag, {}});
    std::string names = std::string("--") + flag.name;
    if (flag.alias[0] != '\0') names += std::string(",--") + flag.alias;
    cli::Option option = command.option(names, given.texts, flag.about);
    option.value_name(flag.value).group("Load");
    if (flag.values == LoadFlag::Values::kWords) option.takes_words();
  }
}

Result<TrafficPlan> LoadOptions::plan(TrafficPlan plan) const {
  TROUPE_TRY(check_given());
  if (given("trace") || given("phase")) forget_times(plan);
  if (!file_.empty()) {
    TROUPE_TRY_ASSIGN(const std::string text, read_file(file_));
    TROUPE_TRY(take_load_file(file_, text, plan));
  }
  for (const Given& given : given_) {
    if (given.texts.empty()) continue;
    choose(*given.flag, plan);
    const auto taken = take_texts(*given.flag, texts_of(*given.flag, given.texts), plan);
    if (!taken.ok()) {
      return Error{taken.error().code,
                   std::string("--") + given.flag->name + ": " + taken.error().message};
    }
  }
  complete(plan);
  TROUPE_TRY(check_plan(plan));
  return plan;
}

Status LoadOptions::check_given() const {
  const auto refused = [](const char* flag, const std::string& why) {
    return Error{Code::kInvalid, std::string("--") + flag + ": " + why};
  };
  if (given("request-rate") && given("phase")) {
    return refused("phase", "phases have rates of their own; leave --request-rate out");
  }
  if (!given("trace")) {
    if (!file_.empty()) return ok_status();  // which may name one
    for (const char* flag : {"speed", "trace-block-tokens"}) {
      if (given(flag)) return refused(flag, "it is about a trace; give one with --trace");
    }
    return ok_status();
  }
  for (const char* flag :
       {"isl", "isl-stddev", "osl", "osl-stddev", "osl-spread", "turns", "turn-isl", "think-time",
        "max-context", "prefix-groups", "prefix-len", "prefix-skew", "image-share"}) {
    if (given(flag)) return refused(flag, "the trace says it; leave one of them out");
  }
  return ok_status();
}

std::vector<std::string> LoadOptions::files() const {
  std::vector<std::string> files;
  if (!file_.empty()) files.push_back(file_);
  for (const Given& given : given_) {
    if (std::string_view(given.flag->name) != "trace") continue;
    files.insert(files.end(), given.texts.begin(), given.texts.end());
  }
  return files;
}

bool LoadOptions::given(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const Given& one) {
    return one.flag->name == name && !one.texts.empty();
  });
}

std::string LoadOptions::words() const {
  std::string words = file_.empty() ? "" : " --load '" + file_ + "'";
  for (const Given& given : given_) {
    if (std::string_view(given.flag->name) == "seed") continue;
    for (const std::string& text : given.texts) {
      words += std::string(" --") + given.flag->name + " '" + text + "'";
    }
  }
  return words;
}

}  // namespace troupe
