#include "tools/simulate/sweep_command.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>
#include <thread>

#include "tools/cli/cli.hpp"
#include "tools/simulate/plan_variants.hpp"
#include "tools/simulate/simulated_load.hpp"

namespace troupe {

namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;
using Rows = std::vector<std::vector<std::string>>;

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// Columns by their widest cell; all but the first `left` to the right.
void print_table(const Rows& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < left ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

/// "3 of 12 runs, 41 s, about 2 min left", on a terminal only.
class Progress {
 public:
  explicit Progress(std::size_t all) : all_(all) {}
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void operator()(std::size_t ended) {
    if (isatty(STDERR_FILENO) == 0) return;
    shown_ = true;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const double left = spent / static_cast<double>(ended) * static_cast<double>(all_ - ended);
    std::fprintf(stderr, "\r\033[K%zu of %zu runs, %.0f s, about %.0f s left", ended, all_, spent,
                 left);
  }

 private:
  const std::size_t all_;
  bool shown_ = false;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void put_figures(Json& json, const PlanOutcome& outcome) {
  for (const PlanFigure& figure : outcome.figures()) {
    json.Key(figure.key), json.Double(figure.value);
  }
  json.Key("problem");
  if (outcome.problem.empty()) {
    json.Null();
  } else {
    json.String(outcome.problem.c_str());
  }
}

unsigned threads_of(std::uint32_t jobs) {
  return jobs > 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
}

/// Says which runs went wrong. Returns the exit code.
int complain(const std::vector<PlanOutcome>& outcomes, const std::vector<std::string>& names) {
  int code = cli::kOk;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].problem.empty()) continue;
    code = cli::kFailure;
    std::fprintf(stderr, "troupe: %s: %s\n", names[i].c_str(), outcomes[i].problem.c_str());
  }
  return code;
}

/// Flags of `troupe simulate` itself, which runs of many have no use for.
Status check_unused(const cli::Command& simulate, const char* name) {
  const std::vector<std::string> given = simulate.given();
  if (given.empty()) return ok_status();
  return Error{Code::kInvalid, given.front() + ": not with " + name +
                                   ", which prints one line a run; look at one of them with "
                                   "`troupe simulate --config`"};
}

struct SweepOptions {
  explicit SweepOptions(cli::Command& command) : load(command) {}
  LoadOptions load;
  std::string config;
  std::vector<std::string> vary;
  double within = 0.9;
  std::uint32_t jobs = 0;
  bool json = false;
};

void print_sweep_json(const std::vector<VariedKey>& keys, const std::vector<PlanVariant>& variants,
                      const std::vector<PlanOutcome>& outcomes, const std::vector<bool>& front) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartArray();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    json.StartObject();
    json.Key("set"), json.StartObject();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      json.Key(keys[k].key.c_str()), json.String(variants[i].values[k].c_str());
    }
    json.EndObject();
    put_figures(json, outcomes[i]);
    json.Key("pareto"), json.Bool(front[i]);
    json.EndObject();
  }
  json.EndArray();
  std::printf("%s\n", buffer.GetString());
}

void print_sweep(const std::vector<VariedKey>& keys, const std::vector<PlanVariant>& variants,
                 const std::vector<PlanOutcome>& outcomes, const std::vector<bool>& front) {
  Rows rows(1);
  for (const auto& key : keys) rows[0].push_back(key.key);
  for (const auto& figure : outcomes.front().figures()) rows[0].emplace_back(figure.title);
  rows[0].emplace_back("Pareto");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    rows.push_back(variants[i].values);
    for (const auto& figure : outcomes[i].figures()) {
      rows.back().push_back(fixed(figure.value, figure.decimals));
    }
    rows.back().emplace_back(front[i] ? "*" : "");
  }
  print_table(rows, keys.size());
}

/// The plan with its load as the flags say it.
Result<PlanRun> run_of(AnyPlan any, const LoadOptions& flags) {
  auto load = std::visit(
      [&](auto& plan) -> Result<TrafficPlan> {
        TROUPE_TRY_ASSIGN(TrafficPlan given,
                          simulated_load(flags, plan.workload, plan.seed, images_taken_by(plan)));
        plan.seed = given.seed;
        return given;
      },
      any);
  TROUPE_TRY(load);
  return PlanRun{std::move(any), std::move(load).value()};
}

/// A varied key that a flag replaces would make equal runs.
Status check_varied(const VariedKey& varied, const LoadOptions& flags) {
  constexpr std::string_view kSection = "workload.";
  std::istringstream keys(varied.key);
  for (std::string key; std::getline(keys, key, ',');) {
    std::string name = key.starts_with(kSection) ? key.substr(kSection.size()) : key;
    std::replace(name.begin(), name.end(), '_', '-');
    if (!flags.given(name)) continue;
    return Error{Code::kInvalid,
                 "--" + name + " replaces the values of --vary " + key + "; leave one of them out"};
  }
  return ok_status();
}

Result<int> sweep(const SweepOptions& options) {
  std::vector<VariedKey> keys;
  for (const auto& text : options.vary) {
    TROUPE_TRY_ASSIGN(VariedKey key, parse_varied_key(text));
    TROUPE_TRY(check_varied(key, options.load));
    keys.push_back(std::move(key));
  }
  TROUPE_TRY_ASSIGN(const auto variants, vary_plan(options.config, keys));
  std::vector<PlanRun> runs;
  std::vector<std::string> names;
  for (const auto& variant : variants) {
    TROUPE_TRY_ASSIGN(auto run, run_of(variant.plan, options.load));
    runs.push_back(std::move(run));
    std::string& name = names.emplace_back();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      name += (k == 0 ? "" : " ") + keys[k].key + "=" + variant.values[k];
    }
  }
  std::vector<PlanOutcome> outcomes;
  {
    Progress progress(runs.size());
    outcomes = run_plans(runs, threads_of(options.jobs), std::ref(progress));
  }
  const std::vector<bool> front = pareto_front(outcomes, options.within);
  (options.json ? print_sweep_json : print_sweep)(keys, variants, outcomes, front);
  std::fflush(stdout);
  return complain(outcomes, names);
}

struct CompareOptions {
  explicit CompareOptions(cli::Command& command) : load(command) {}
  LoadOptions load;
  std::string a;
  std::string b;
  bool json = false;
};

Result<int> compare(const CompareOptions& options) {
  std::vector<PlanRun> runs;
  for (const std::string& file : {options.a, options.b}) {
    TROUPE_TRY_ASSIGN(AnyPlan plan, load_any_plan(file));
    TROUPE_TRY_ASSIGN(auto run, run_of(std::move(plan), options.load));
    runs.push_back(std::move(run));
  }
  std::vector<PlanOutcome> outcomes;
  {
    Progress progress(2);
    outcomes = run_plans(runs, threads_of(0), std::ref(progress));
  }
  if (options.json) {
    rapidjson::StringBuffer buffer;
    Json json(buffer);
    json.StartObject();
    json.Key("a"), json.StartObject(), put_figures(json, outcomes[0]), json.EndObject();
    json.Key("b"), json.StartObject(), put_figures(json, outcomes[1]), json.EndObject();
    json.EndObject();
    std::printf("%s\n", buffer.GetString());
  } else {
    Rows rows{{"", options.a, options.b, "B / A"}};
    const auto of_a = outcomes[0].figures(), of_b = outcomes[1].figures();
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      rows.push_back({of_a[i].title, fixed(of_a[i].value, of_a[i].decimals),
                      fixed(of_b[i].value, of_b[i].decimals),
                      of_a[i].value > 0 ? fixed(of_b[i].value / of_a[i].value, 3) : "-"});
    }
    print_table(rows, 1);
  }
  std::fflush(stdout);
  return complain(outcomes, {options.a, options.b});
}

}  // namespace

std::vector<bool> pareto_front(const std::vector<PlanOutcome>& outcomes, double within) {
  auto fits = [&](const PlanOutcome& one) {
    return one.problem.empty() && one.good_share >= within && one.error_share <= 1 - within;
  };
  auto beats = [](const PlanOutcome& a, const PlanOutcome& b) {
    return a.tokens_per_s_per_gpu >= b.tokens_per_s_per_gpu &&
           a.user_tokens_per_s >= b.user_tokens_per_s &&
           (a.tokens_per_s_per_gpu > b.tokens_per_s_per_gpu ||
            a.user_tokens_per_s > b.user_tokens_per_s);
  };
  std::vector<bool> front;
  for (const PlanOutcome& one : outcomes) {
    front.push_back(fits(one) &&
                    std::none_of(outcomes.begin(), outcomes.end(), [&](const PlanOutcome& other) {
                      return fits(other) && beats(other, one);
                    }));
  }
  return front;
}

void add_sweep_command(cli::Command& simulate) {
  cli::Command command = simulate.command("sweep", "Run a plan with other values, on all cores");
  const auto options = std::make_shared<SweepOptions>(command);
  command.option("--config", options->config, "plan of a cluster").value_name("FILE").required();
  command
      .option("--vary", options->vary,
              "a key of the plan and its values; several: all combinations; KEY,KEY=A:B,... "
              "change together")
      .value_name("KEY=VALUE,VALUE...")
      .required();
  command
      .option("--within", options->within,
              "share of the answers within the plan's SLO that a plan on the front needs")
      .between(0, 1)
      .show_default();
  command.option("--jobs", options->jobs, "runs at a time; 0: one a core").show_default();
  command.flag("--json", options->json, "print JSON instead of a table");
  command.run([options, simulate]() -> int {
    if (const Status fits = check_unused(simulate, "sweep"); !fits.ok()) {
      return cli::report(fits.error());
    }
    const Result<int> result = sweep(*options);
    return result.ok() ? *result : cli::report(result.error());
  });
}

void add_compare_command(cli::Command& simulate) {
  cli::Command command = simulate.command("compare", "Run two plans and put them side by side");
  const auto options = std::make_shared<CompareOptions>(command);
  command.option("A", options->a, "plan of a cluster").required();
  command.option("B", options->b, "the other one").required();
  command.flag("--json", options->json, "print JSON instead of a table");
  command.run([options, simulate]() -> int {
    if (const Status fits = check_unused(simulate, "compare"); !fits.ok()) {
      return cli::report(fits.error());
    }
    const Result<int> result = compare(*options);
    return result.ok() ? *result : cli::report(result.error());
  });
}

}  // namespace troupe
