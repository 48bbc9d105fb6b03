#include "actors/load/trace_source.hpp"

#include <algorithm>

#include "actors/load/synthetic_source.hpp"

namespace troupe {

namespace {

// What a name is for: contents of different kinds never meet.
enum TraceContent : std::uint64_t { kBlock = 0x20, kGroup, kGrowing, kAlone };

/// 100 years: a clock of nanoseconds can tell 292.
constexpr double kLongestSeconds = 3.15576e9;

std::uint64_t content_of(std::uint64_t seed, TraceContent kind, std::uint64_t id) {
  return mix64(mix64(seed, kind), id);
}

}  // namespace

TraceSource::TraceSource(const LoadPlan& plan, TraceReader reader)
    : trace_(plan.trace),
      seed_(plan.seed),
      tools_(plan.tools),
      has_rate_(plan.has_rate()),
      clients_(plan),
      reader_(std::move(reader)) {}

Result<std::unique_ptr<TraceSource>> TraceSource::open(const LoadPlan& plan) {
  TROUPE_TRY_ASSIGN(TraceReader reader,
                    TraceReader::open(plan.trace.file, plan.trace.block_tokens));
  auto source = std::make_unique<TraceSource>(plan, std::move(reader));
  TROUPE_TRY_ASSIGN(source->coming_, source->reader_.next());
  if (!source->coming_) {
    return Error{Code::kInvalid, plan.trace.file + ": there is no row with tokens in it"};
  }
  source->first_ms_ = source->coming_->at_ms;
  return source;
}

PromptPieces TraceSource::pieces_of(const TraceRow& row) const {
  PromptPieces pieces;
  if (row.grows) {
    const std::uint32_t shared = std::min(row.group_tokens, row.input_tokens);
    if (shared > 0) pieces.push_back({content_of(seed_, kGroup, row.group), shared});
    if (row.input_tokens > shared) {
      pieces.push_back({content_of(seed_, kGrowing, *row.session), row.input_tokens - shared});
    }
    return pieces;
  }
  if (row.hash_ids.empty()) {
    pieces.push_back({content_of(seed_, kAlone, played_), row.input_tokens});
    return pieces;
  }
  std::uint32_t left = row.input_tokens;
  for (const std::uint64_t id : row.hash_ids) {
    const std::uint32_t tokens = std::min(left, trace_.block_tokens);
    pieces.push_back({content_of(seed_, kBlock, id), tokens});
    left -= tokens;
  }
  return pieces;
}

Result<std::optional<PlannedRequest>> TraceSource::next() {
  if (!coming_) return std::optional<PlannedRequest>();
  PlannedRequest request;
  if (has_rate_) {
    const auto at = clients_.next_arrival();
    if (!at) return std::optional<PlannedRequest>();
    request.at = *at;
  } else if (first_ms_) {
    const double after = (*coming_->at_ms - *first_ms_) / 1e3 / trace_.speed;
    if (!(after <= kLongestSeconds)) {
      return Error{Code::kInvalid, trace_.file + ": at this --speed it lasts longer than " +
                                       "100 years; mend its times, or raise --speed"};
    }
    request.at = from_seconds(after);
  }
  ++played_;
  request.session = coming_->session.value_or(played_);
  request.in_session = coming_->session.has_value();
  request.turn = coming_->turn;
  request.prompt = pieces_of(*coming_);
  request.output_tokens = coming_->output_tokens;
  if (coming_->grows) request.answer = content_of(seed_, kGrowing, *coming_->session);
  request.tools = tools_;
  clients_.behave(request);
  TROUPE_TRY_ASSIGN(coming_, reader_.next());
  return std::optional(std::move(request));
}

std::string TraceSource::note() const {
  const std::uint64_t skipped = reader_.left_out();
  if (skipped == 0) return {};
  return std::to_string(skipped) + " rows of the trace have no token in or out and were left out";
}

Result<std::unique_ptr<RequestSource>> open_source(const LoadPlan& plan) {
  if (plan.trace.file.empty()) {
    return std::unique_ptr<RequestSource>(std::make_unique<SyntheticSource>(plan));
  }
  TROUPE_TRY_ASSIGN(auto source, TraceSource::open(plan));
  return std::unique_ptr<RequestSource>(std::move(source));
}

}  // namespace troupe
