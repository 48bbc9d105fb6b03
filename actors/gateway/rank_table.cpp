#include "actors/gateway/rank_table.hpp"

#include <algorithm>

#include "runtime/recipe/text/api_error.hpp"

namespace troupe {

void RankTable::join(const RankJoined& joined) {
  ranks_[joined.rank].joined = joined;
}

bool RankTable::matches(const RankJoined& joined, std::string_view model) {
  return std::any_of(joined.models.begin(), joined.models.end(), [&](const std::string& name) {
    if (!name.ends_with("/*")) return name == model;
    return model.starts_with(std::string_view(name).substr(0, name.size() - 1));
  });
}

Result<RankTable::Place> RankTable::place(std::string_view model, std::uint32_t rows) {
  if (ranks_.empty()) return Error{Code::kUnavailable, "no rank is up; try again"};
  Rank* best = nullptr;
  bool served = false;
  std::uint32_t most = 0;
  for (auto& [ref, rank] : ranks_) {
    if (!matches(rank.joined, model)) continue;
    served = true;
    most = std::max(most, rank.joined.capacity);
    if (std::uint64_t{rank.load} + rows > rank.joined.capacity) continue;
    if (best == nullptr || rank.load < best->load ||
        (rank.load == best->load && rank.last_placed < best->last_placed)) {
      best = &rank;
    }
  }
  if (!served) {
    return Error{Code::kNotFound, model_not_found(model).message};
  }
  if (rows > 1 && rows > most) {
    return Error{Code::kInvalid, "the request asks for " + std::to_string(rows) +
                                     " answers at once; a rank takes at most " +
                                     std::to_string(most)};
  }
  if (best == nullptr) return Error{Code::kUnavailable, "all ranks are full; try again"};
  best->load += rows;
  best->last_placed = ++placements_;
  return Place{best->joined.rank, rows};
}

void RankTable::release(const Place& place) {
  const auto rank = ranks_.find(place.rank);
  if (rank != ranks_.end()) rank->second.load -= std::min(rank->second.load, place.rows);
}

std::vector<ModelEntry> RankTable::models() const {
  std::map<std::string, std::uint64_t> contexts;
  for (const auto& [ref, rank] : ranks_) {
    for (const auto& name : rank.joined.models) {
      if (!name.ends_with("/*")) contexts[name] = rank.joined.context_max;
    }
  }
  std::vector<ModelEntry> entries;
  for (const auto& [name, context] : contexts) entries.push_back({name, context});
  return entries;
}

std::optional<ModelEntry> RankTable::model(std::string_view name) const {
  for (const auto& [ref, rank] : ranks_) {
    if (matches(rank.joined, name)) return ModelEntry{std::string(name), rank.joined.context_max};
  }
  return std::nullopt;
}

std::uint64_t RankTable::capacity() const {
  std::uint64_t sum = 0;
  for (const auto& [ref, rank] : ranks_) sum += rank.joined.capacity;
  return sum;
}

}  // namespace troupe
