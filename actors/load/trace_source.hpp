// Requests as somebody recorded them.
//
// When: at the trace's times, divided by `speed`, the first at 0; or by the plan's rate or phases,
// if it has them. What is shared: exactly what the trace says. Rows with hash ids share the blocks
// of equal ids; rows of agentic sessions share their group's prefix and grow within their session;
// all others share nothing. Later turns are rows with times of their own, so that after() is always
// silent: a trace is played as it was, however slow the answers are.
//
// The plan's cancels and slow readers apply. This is the one part of a load that reads a file while
// it runs: a line at a time, from a buffer. It is over where the trace is; a damaged row ends it
// with an error. Equal trace, plan and seed: equal requests; the seed names the contents.
#pragma once

#include "actors/load/client_draws.hpp"
#include "actors/load/request_source.hpp"
#include "actors/load/trace_reader.hpp"

namespace troupe {

class TraceSource final : public RequestSource {
 public:
  /// Requires: check_load(plan), and that it names a trace.
  static Result<std::unique_ptr<TraceSource>> open(const LoadPlan& plan);
  /// For open(), which looks at the first row.
  TraceSource(const LoadPlan& plan, TraceReader reader);

  Result<std::optional<PlannedRequest>> next() override;
  std::optional<PlannedRequest> after(const PlannedRequest&) override { return std::nullopt; }
  bool timed() const override { return has_rate_ || first_ms_.has_value(); }
  std::string note() const override;

 private:
  PromptPieces pieces_of(const TraceRow& row) const;

  TracePlan trace_;
  std::uint64_t seed_;
  std::uint32_t tools_;
  bool has_rate_;
  ClientDraws clients_;
  TraceReader reader_;
  std::optional<TraceRow> coming_;
  std::optional<double> first_ms_;
  std::uint64_t played_ = 0;
};

/// The source that a plan asks for. Errors: the trace's.
Result<std::unique_ptr<RequestSource>> open_source(const LoadPlan& plan);

}  // namespace troupe
