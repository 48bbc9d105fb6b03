#include "actors/responses/response_shelf.hpp"

#include <algorithm>

namespace troupe {

std::uint64_t ResponseShelf::bytes_of(const StoredResponse& response) {
  return response.id.size() + response.previous.size() + response.input.size() +
         response.body.size() + response.owner.size();
}

void ResponseShelf::erase(Entries::iterator at) {
  bytes_ -= bytes_of(*at->second.response);
  order_.erase(at->second.place);
  entries_.erase(at);
}

void ResponseShelf::use(Entry& entry, std::int64_t now) {
  entry.used = std::max(entry.used, now);
  order_.splice(order_.end(), order_, entry.place);
}

/// The last response first, so that the beginning of a conversation counts as used last.
void ResponseShelf::use_chain(const std::string& id, std::int64_t now) {
  auto at = entries_.find(id);
  for (std::size_t i = 0; i < kTurnsMax && at != entries_.end(); ++i) {
    use(at->second, now);
    at = entries_.find(at->second.response->previous);
  }
}

bool ResponseShelf::put(SharedResponse response, std::int64_t used) {
  const std::string id = response->id;
  drop(id);
  const std::uint64_t bytes = bytes_of(*response);
  if (bytes > limits_.bytes_max || limits_.count_max == 0) return false;
  bytes_ += bytes;
  const auto place = order_.insert(order_.end(), id);
  entries_[id] = Entry{std::move(response), used, place};
  use_chain(id, used);
  while (entries_.size() > limits_.count_max || bytes_ > limits_.bytes_max) {
    erase(entries_.find(order_.front()));
  }
  return true;
}

bool ResponseShelf::drop(const std::string& id) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return false;
  erase(at);
  return true;
}

void ResponseShelf::expire(std::int64_t now) {
  while (!order_.empty()) {
    const auto oldest = entries_.find(order_.front());
    Entry& entry = oldest->second;
    if (entry.used > now) {
      entry.used = now;  // once each: it is not ahead any more
      order_.splice(order_.end(), order_, entry.place);
    } else if (entry.used + limits_.ttl_seconds > now) {
      return;
    } else {
      erase(oldest);
    }
  }
}

SharedResponse ResponseShelf::find(const std::string& id, const std::string& owner) const {
  const auto at = entries_.find(id);
  if (at == entries_.end() || at->second.response->owner != owner) return nullptr;
  return at->second.response;
}

Result<std::vector<SharedResponse>> ResponseShelf::conversation(const std::string& id,
                                                                const std::string& owner,
                                                                std::int64_t now) {
  std::vector<SharedResponse> chain;
  std::uint64_t bytes = 0;
  std::string next = id;
  while (!next.empty()) {
    const SharedResponse response = find(next, owner);
    if (!response) {
      return Error{Code::kNotFound,
                   "Previous response with id '" + next.substr(0, 100) + "' not found."};
    }
    bytes += bytes_of(*response);
    if (bytes > limits_.bytes_max || chain.size() == kTurnsMax) {
      return Error{Code::kTooLarge, "the conversation up to '" + id.substr(0, 100) +
                                        "' is too long to go on; begin a new one"};
    }
    chain.push_back(response);
    next = response->previous;
  }
  use_chain(id, now);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<SharedResponse> ResponseShelf::all() const {
  std::vector<SharedResponse> responses;
  responses.reserve(order_.size());
  for (const auto& id : order_) responses.push_back(entries_.at(id).response);
  return responses;
}

}  // namespace troupe
