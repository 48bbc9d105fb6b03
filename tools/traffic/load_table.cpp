#include "tools/traffic/load_table.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "tools/config/scalar.hpp"

namespace troupe {

namespace {

using Text = const std::string&;

Error expected(const std::string& what, Text text) {
  return Error{Code::kInvalid, "expected " + what + ", found " + config::in_quotes(text)};
}

template <class Number>
Status take_number(Text text, double least, double most, Number& value) {
  const auto number = config::parse_real(text);
  const bool whole = !std::is_integral_v<Number> || (number.ok() && *number == std::floor(*number));
  if (!number.ok() || *number < least || *number > most || !whole) {
    return expected(std::string(std::is_integral_v<Number> ? "a whole number" : "a number") +
                        " from " + config::format(least) + " to " + config::format(most),
                    text);
  }
  value = static_cast<Number>(*number);
  return ok_status();
}

/// A bare number is seconds, as in other load generators; "250ms" is what it says.
Status take_span(Text text, Duration& value) {
  double number = 0;
  if (take_number(text, 0, 1e8, number).ok()) {
    value = from_seconds(number);
    return ok_status();
  }
  const auto span = config::parse_duration(text);
  if (!span.ok()) return expected("seconds from 0 to 1e8, or a time as 250ms", text);
  value = *span;
  return ok_status();
}

Status take_spread(Text text, double least, Distribution& value) {
  TROUPE_TRY_ASSIGN(value, Distribution::parse(text, least));
  return ok_status();
}

Status take_deviation(Text text, const char* of, Distribution& value) {
  double deviation = 0;
  TROUPE_TRY(take_number(text, 0, 1e9, deviation));
  if (!value.is_fixed()) {
    return Error{Code::kInvalid, std::string("a deviation needs a plain ") + of +
                                     "; write normal:MEAN:DEVIATION there instead"};
  }
  value = Distribution::normal(value.first(), deviation);
  return ok_status();
}

Status take_osl_spread(Text text, TrafficPlan& plan) {
  double spread = 0;
  TROUPE_TRY(take_number(text, 0, 1e9, spread));
  if (spread == 0) return ok_status();
  if (!plan.osl.is_fixed()) {
    return Error{Code::kInvalid, "a spread needs a plain osl without a deviation"};
  }
  plan.osl =
      Distribution::uniform(std::max(1.0, plan.osl.first() - spread), plan.osl.first() + spread);
  return ok_status();
}

Status take_phase(Text text, TrafficPlan& plan) {
  TROUPE_TRY_ASSIGN(RatePhase phase, parse_phase(text));
  plan.phases.push_back(phase);
  return ok_status();
}

/// "1024x768,512x512"
Status take_sizes(Text text, TrafficPlan& plan) {
  TROUPE_TRY_ASSIGN(plan.image_sizes, parse_pixel_sizes(text));
  return ok_status();
}

Status take_goodput(Text text, TrafficPlan& plan) {
  TROUPE_TRY_ASSIGN(plan.slo, parse_slo(text));
  return ok_status();
}

#define TROUPE_TAKE(call) [](Text text, TrafficPlan& plan) -> Status { return call; }

constexpr double kMost = 1e9;

constexpr LoadFlag kArrivals[] = {
    {"concurrency", "max-concurrency", "N",
     "closed loop: users; with a rate: a bound; 1 if there is no rate and no trace",
     TROUPE_TAKE(take_number(text, 0, kMost, plan.concurrency))},
    {"request-rate", "", "R", "open loop: requests a second",
     TROUPE_TAKE(take_number(text, 0, kMost, plan.request_rate))},
    {"phase", "", "PHASE",
     "instead, one after another: SECONDS:RATE, SECONDS:FROM..TO[:exponential], "
     "SECONDS:day:MEAN:SWING:PERIOD",
     take_phase, LoadFlag::Values::kEach},
    {"burstiness", "", "SHAPE", "gamma shape of the gaps; 1: Poisson, less: bursts [1]",
     TROUPE_TAKE(take_number(text, 1e-3, 1e6, plan.burstiness))},
    {"num-requests", "num-prompts", "N", "measured requests; 100 if nothing else is an end",
     TROUPE_TAKE(take_number(text, 0, 1e15, plan.num_requests))},
    {"duration", "", "S", "start none later, seconds; 0: no bound [0]",
     TROUPE_TAKE(take_span(text, plan.duration))},
    {"warmup", "num-warmups", "N", "requests before the measured ones [0]",
     TROUPE_TAKE(take_number(text, 0, kMost, plan.warmup))},
    {"seed", "", "N", "decides everything that is drawn [1]",
     TROUPE_TAKE(take_number(text, 0, 9e15, plan.seed))},
};

constexpr LoadFlag kContents[] = {
    {"isl", "random-input-len", "DIST", "prompt tokens, about [512]",
     TROUPE_TAKE(take_spread(text, 1, plan.isl))},
    {"isl-stddev", "", "D", "their deviation [0]",
     TROUPE_TAKE(take_deviation(text, "isl", plan.isl))},
    {"osl", "random-output-len", "DIST", "answer tokens [128]",
     TROUPE_TAKE(take_spread(text, 1, plan.osl))},
    {"osl-stddev", "", "D", "their deviation [0]",
     TROUPE_TAKE(take_deviation(text, "osl", plan.osl))},
    {"osl-spread", "", "D", "instead: uniform within OSL +- this [0]", take_osl_spread},
    {"turns", "", "DIST", "turns of a session [1]", TROUPE_TAKE(take_spread(text, 1, plan.turns))},
    {"turn-isl", "", "DIST", "new tokens of a later turn; 0: as isl [0]",
     TROUPE_TAKE(take_spread(text, 0, plan.turn_isl))},
    {"think-time", "", "DIST", "seconds from an answer to the next turn [0]",
     TROUPE_TAKE(take_spread(text, 0, plan.think))},
    {"max-context", "", "N", "a longer turn, answer included, ends its session; 0: no bound [0]",
     TROUPE_TAKE(take_number(text, 0, kMost, plan.context_max))},
    {"prefix-groups", "", "N", "sessions begin with one of N system prompts [0]",
     TROUPE_TAKE(take_number(text, 0, 1e6, plan.prefix_groups))},
    {"prefix-len", "", "DIST", "their tokens, beside isl",
     TROUPE_TAKE(take_spread(text, 0, plan.prefix_len))},
    {"prefix-skew", "", "X", "zipf exponent of their popularity; 0: each alike [0]",
     TROUPE_TAKE(take_number(text, 0, 100, plan.prefix_skew))},
    {"tools", "", "N", "tool definitions of each request [0]",
     TROUPE_TAKE(take_number(text, 0, 1000, plan.tools))},
    {"image-share", "", "SHARE", "share of sessions whose first turn has images [0]",
     TROUPE_TAKE(take_number(text, 0, 1, plan.image_share))},
    {"images", "", "DIST", "how many those have [1]",
     TROUPE_TAKE(take_spread(text, 1, plan.images))},
    {"image-size", "", "WxH,...", "their pixels, each size alike", take_sizes},
    {"trace", "input-file", "FILE", "recorded requests instead: Mooncake, Azure, BurstGPT",
     TROUPE_TAKE((plan.trace.file = text, ok_status()))},
    {"speed", "", "X", "play the trace so much faster [1]",
     TROUPE_TAKE(take_number(text, 1e-6, 1e6, plan.trace.speed))},
    {"trace-block-tokens", "", "N", "tokens that a hash id of the trace stands for [512]",
     TROUPE_TAKE(take_number(text, 1, 1e6, plan.trace.block_tokens))},
};

constexpr LoadFlag kClients[] = {
    {"cancel-rate", "", "SHARE", "share of requests that the client leaves [0]",
     TROUPE_TAKE(take_number(text, 0, 1, plan.cancel_rate))},
    {"cancel-delay", "", "S", "after so many seconds, at least [0]",
     TROUPE_TAKE(take_span(text, plan.cancel_delay))},
    {"cancel-delay-most", "", "S", "and at most; less: exactly then [0]",
     TROUPE_TAKE(take_span(text, plan.cancel_delay_most))},
    {"timeout", "", "S", "a client's patience, seconds; 0: endless [0]",
     TROUPE_TAKE(take_span(text, plan.timeout))},
    {"goodput", "", "SLO", "objectives, e.g. ttft:500 tpot:50, ms", take_goodput,
     LoadFlag::Values::kWords},
};

#undef TROUPE_TAKE

const std::vector<LoadFlag>& all_flags() {
  static const std::vector<LoadFlag> all = [] {
    std::vector<LoadFlag> flags;
    flags.insert(flags.end(), std::begin(kArrivals), std::end(kArrivals));
    flags.insert(flags.end(), std::begin(kContents), std::end(kContents));
    flags.insert(flags.end(), std::begin(kClients), std::end(kClients));
    return flags;
  }();
  return all;
}

}  // namespace

std::span<const LoadFlag> load_flags() {
  return all_flags();
}

const LoadFlag* find_load_flag(std::string_view name) {
  for (const LoadFlag& flag : all_flags()) {
    if (name == flag.name || (flag.alias[0] != '\0' && name == flag.alias)) return &flag;
  }
  return nullptr;
}

}  // namespace troupe
