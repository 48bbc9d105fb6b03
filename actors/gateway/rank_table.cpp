#include "actors/gateway/rank_table.hpp"

#include <algorithm>

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

Result<ActorRef> RankTable::place(const ActorRef& owner, std::string_view model) {
  if (ranks_.empty()) return Error{Code::kUnavailable, "no rank is up; try again"};
  Rank* best = nullptr;
  bool served = false;
  for (auto& [ref, rank] : ranks_) {
    if (!matches(rank.joined, model)) continue;
    served = true;
    if (rank.load >= rank.joined.capacity) continue;
    if (best == nullptr || rank.load < best->load ||
        (rank.load == best->load && rank.last_placed < best->last_placed)) {
      best = &rank;
    }
  }
  if (!served) {
    return Error{Code::kNotFound, "the model '" + std::string(model.substr(0, 200)) +
                                      "' does not exist; GET /v1/models lists those that do"};
  }
  if (best == nullptr) return Error{Code::kUnavailable, "all ranks are full; try again"};
  ++best->load;
  best->last_placed = ++placements_;
  placed_[owner] = best->joined.rank;
  return best->joined.rank;
}

void RankTable::release(const ActorRef& owner) {
  const auto at = placed_.find(owner);
  if (at == placed_.end()) return;
  const auto rank = ranks_.find(at->second);
  if (rank != ranks_.end() && rank->second.load > 0) --rank->second.load;
  placed_.erase(at);
}

std::vector<ModelEntry> RankTable::models() const {
  std::map<std::string, std::uint64_t> contexts;
  for (const auto& [ref, rank] : ranks_) {
    for (const auto& name : rank.joined.models) {
      if (!name.ends_with("/*")) contexts[name] = rank.joined.context_max;
    }
  }
  std::vector<ModelEntry> entries;
  for (const auto& [name, context] : contexts) entries.push_back({name, 0, context});
  return entries;
}

std::optional<ModelEntry> RankTable::model(std::string_view name) const {
  for (const auto& [ref, rank] : ranks_) {
    if (matches(rank.joined, name))
      return ModelEntry{std::string(name), 0, rank.joined.context_max};
  }
  return std::nullopt;
}

std::uint64_t RankTable::capacity() const {
  std::uint64_t sum = 0;
  for (const auto& [ref, rank] : ranks_) sum += rank.joined.capacity;
  return sum;
}

}  // namespace troupe
