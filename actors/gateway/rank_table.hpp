// The ranks that a gateway knows, and which of them gets the next request.
//
// Policy: among the ranks that serve the model and have room, the one with the fewest requests that
// this gateway has placed there; on a tie the one that got a request longest ago. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "actors/gateway/gateway_messages.hpp"
#include "actors/gateway/model_list.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

class RankTable {
 public:
  /// Repeated introductions of the same life keep its load.
  void join(const RankJoined& joined);
  void leave(const ActorRef& rank) { ranks_.erase(rank); }

  struct Place {
    ActorRef rank;  ///< nobody: none is taken
    std::uint32_t rows = 0;
  };
  /// A rank for a request, whose load it counts until release(). Errors: kNotFound (no rank serves
  /// the model), kUnavailable (all are full, or none is up).
  /// All rows of a request go to one rank; kInvalid: no rank could ever take so many.
  Result<Place> place(std::string_view model, std::uint32_t rows = 1);
  void release(const Place& place);

  /// Names to list: no patterns.
  std::vector<ModelEntry> models() const;
  /// The same of one name, which may fit a pattern. Nothing if no rank serves it.
  std::optional<ModelEntry> model(std::string_view name) const;
  std::size_t size() const { return ranks_.size(); }
  std::uint64_t capacity() const;

 private:
  struct Rank {
    RankJoined joined;
    std::uint32_t load = 0;
    std::uint64_t last_placed = 0;
  };
  static bool matches(const RankJoined& joined, std::string_view model);

  std::map<ActorRef, Rank> ranks_;
  std::uint64_t placements_ = 0;
};

}  // namespace troupe
