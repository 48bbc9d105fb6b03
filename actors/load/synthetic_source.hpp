// Requests that are drawn: lengths, sessions, shared prefixes, images.
//
// A session's first turn: the system prompt of its group, new words, perhaps images. A later turn:
// the whole prompt before, the answer that was asked for, and new words. Which contents a session
// has depends on the seed and its number alone (request_source.hpp, invariants 1 and 3): the same
// seed makes the same prompts, so that a second run finds them in a server's cache; another seed
// makes others.
//
// Pure. Without a trace only; endless unless the plan's phases end.
#pragma once

#include "actors/load/client_draws.hpp"
#include "actors/load/request_source.hpp"

namespace troupe {

class SyntheticSource final : public RequestSource {
 public:
  /// Requires: check_load(plan).
  explicit SyntheticSource(const LoadPlan& plan);

  Result<std::optional<PlannedRequest>> next() override;
  std::optional<PlannedRequest> after(const PlannedRequest& ended) override;
  bool timed() const override { return plan_.has_rate(); }

 private:
  /// Draws that are a session's own.
  struct Session {
    std::uint32_t group = 0;
    std::uint32_t turns = 1;
  };
  Session session_of(std::uint64_t number) const;
  PromptPiece prefix_of(std::uint32_t group) const;
  void add_images(PlannedRequest& request) const;
  bool has_turn(std::uint64_t session, std::uint32_t turn, const PlannedRequest& before) const;

  LoadPlan plan_;
  ClientDraws clients_;
  Distribution groups_;  ///< from 1
  Rng lengths_;
  std::uint64_t sessions_ = 0;
};

}  // namespace troupe
