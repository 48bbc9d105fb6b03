#include "tools/plan/plan_command.hpp"

#include <cmath>
#include <cstdio>
#include <memory>

#include "tools/cli/cli.hpp"
#include "tools/plan/plan_answer.hpp"
#include "tools/plan/plan_file.hpp"
#include "tools/plan/simulated_answer.hpp"
#include "tools/simulate/report_page.hpp"
#include "tools/simulate/simulated_load.hpp"
#include "tools/traffic/load_options.hpp"

namespace troupe {

namespace {

constexpr double kDaySeconds = 86'400;
constexpr const char* kGroup = "Cluster";

class PlanOptions {
 public:
  explicit PlanOptions(cli::Command& command) : load_(command) {
    hit_option_ = command
                      .option("--hit", hit_,
                              "share of prompt tokens that a cache has; default: "
                              "what the load's prompts share")
                      .between(0, 1)
                      .group(kGroup);
    add(command, "--tokens-per-day", tokens_per_day_,
        "the rate, as prompt and answer tokens a day");
    add(command, "--gpus", question_.gpus, "there are so many: what do they take?");
    add(command, "--prefill-gpus", question_.prefill_gpus, "so many of them prefill");
    add(command, "--batch", question_.batch, "requests a decode GPU; default: 64, or by --goodput");
    command.option("--chunk", question_.model.chunk, "most tokens of a prefill step")
        .between(1, 1e9)
        .group(kGroup);
    efficiency_option_ =
        command.option("--efficiency", question_.efficiency, "of perfectly balanced GPUs")
            .between(0.01, 1)
            .show_default()
            .group(kGroup);
    command.option("--drafts", drafts_, "draft tokens: none, five, or the best number")
        .one_of({"none", "fixed", "best"})
        .show_default()
        .group(kGroup);
    command.flag("--ep8", question_.model.ep8, "decode in groups of 8 GPUs instead of 64")
        .group(kGroup);
    add(command, "--prefill-rate", question_.prefill_rate,
        "computed prompt tokens a second of a GPU, instead of the model's");
    add(command, "--decode-rate", question_.decode_rate,
        "answer tokens a second of a GPU, instead of the model's");
    add(command, "--cost-per-gpu-hour", question_.gpu_hour_cost, "in any currency");
    command
        .flag("--simulate", simulate,
              "try it out in virtual time: the smallest pools that keep --goodput")
        .group(kGroup);
    command
        .option("--write", write,
                "with --simulate: the cluster it recommends, for troupe simulate --config")
        .value_name("FILE")
        .group(kGroup);
    command.flag("--json", json, "print one JSON object");
  }
  PlanOptions(const PlanOptions&) = delete;
  PlanOptions& operator=(const PlanOptions&) = delete;

  Result<PlanQuestion> question() const {
    TROUPE_TRY(check_flags());
    TROUPE_TRY_ASSIGN(const TrafficPlan plan, load_.plan());
    PlanQuestion question = question_;
    question.slo = plan.slo;
    question.model.policy = drafts_ == "none"    ? Drafts::kNone
                            : drafts_ == "fixed" ? Drafts::kFixed
                                                 : Drafts::kBest;
    TROUPE_TRY_ASSIGN(question.load, facts_of(plan));
    if (hit_option_->given()) question.load.hit = hit_;
    if (tokens_per_day_ > 0) {
      question.load.rate =
          tokens_per_day_ / kDaySeconds / (question.load.prompt + question.load.output);
      question.load.peak_rate = 0;
    } else if (plan.request_rate > 0) {
      question.load.rate = plan.request_rate;  // rather than what was drawn of it
      question.load.peak_rate = 0;
    }
    return question;
  }

  /// What the simulation adds to the question. Steps are as fast as the model says, unless an
  /// efficiency was given: queues and imbalance, for which the closed form has its 0.8, it has
  /// itself.
  Result<SimulatedQuestion> simulated(const PlanQuestion& question) const {
    SimulatedQuestion simulated{question, {}, hit_option_->given(), load_.given("num-requests"), 1};
    if (efficiency_option_->given()) simulated.efficiency = question.efficiency;
    TROUPE_TRY_ASSIGN(simulated.load, simulated_load(load_, Workload(), 1));
    return simulated;
  }

  bool json = false;
  bool simulate = false;
  std::string write;
  /// The load's flags, to say them again.
  std::string words() const { return load_.words(); }

 private:
  Status check_flags() const {
    for (const char* flag : {"tools", "image-share", "images", "image-size"}) {
      if (!load_.given(flag)) continue;
      return Error{Code::kInvalid,
                   std::string("--") + flag +
                       ": a plan has no text and no images; give their tokens with --isl"};
    }
    for (const auto& [name, gpus] : {std::pair("--gpus", question_.gpus),
                                     std::pair("--prefill-gpus", question_.prefill_gpus)}) {
      if (gpus == std::floor(gpus)) continue;
      return Error{Code::kInvalid, std::string(name) + ": a whole number is expected"};
    }
    if (!write.empty() && !simulate) {
      return Error{Code::kInvalid, "--write: only --simulate has a cluster to write"};
    }
    return ok_status();
  }
  static void add(cli::Command& command, const char* name, double& value, const char* about) {
    command.option(name, value, about).between(0, 1e18).group(kGroup);
  }

  PlanQuestion question_;
  double hit_ = 0;
  double tokens_per_day_ = 0;
  std::string drafts_ = "best";
  std::optional<cli::Option> hit_option_;
  std::optional<cli::Option> efficiency_option_;
  LoadOptions load_;
};

Result<int> answer_plan(const PlanOptions& options) {
  TROUPE_TRY_ASSIGN(const PlanQuestion question, options.question());
  TROUPE_TRY_ASSIGN(const PlanAnswer answer, answer_plan(question));
  if (!options.json) std::fputs(plan_text(answer).c_str(), stdout);
  std::fflush(stdout);
  std::optional<SimulatedAnswer> simulated;
  if (options.simulate) {
    TROUPE_TRY_ASSIGN(const auto asked, options.simulated(question));
    TROUPE_TRY_ASSIGN(simulated, answer_by_simulation(asked, answer.size));
  }
  if (options.json) {
    std::printf("%s\n", plan_json(answer, simulated ? &*simulated : nullptr).c_str());
  } else if (simulated) {
    std::fputs(trials_text(*simulated).c_str(), stdout);
  }
  std::fflush(stdout);
  if (simulated && !options.write.empty()) {
    TROUPE_TRY(write_report_file(options.write,
                                 plan_file(simulated->plan, simulated->load, options.words())));
    std::fprintf(stderr, "troupe: %s: run it with: troupe simulate --config '%s'%s\n",
                 options.write.c_str(), options.write.c_str(), options.words().c_str());
  }
  return simulated && !simulated->best ? cli::kFailure : cli::kOk;
}

}  // namespace

void add_plan_command(cli::Command& program) {
  cli::Command command =
      program.command("plan", "Say how many GPUs a load needs, in closed form or tried out");
  const auto options = std::make_shared<PlanOptions>(command);
  command.run([options] {
    const Result<int> result = answer_plan(*options);
    return result.ok() ? *result : cli::report(result.error());
  });
}

}  // namespace troupe
