// References, found and erased without a search.
//
// Why: whoever watches every request of a large cluster has ten thousands of them; to look through
// all of them at each end would cost more than everything else that the simulation does.
//
// A short list is searched; a long one is a map, and stays one until it is empty. Invariants: (1)
// each reference is there at most once; (2) for_each sees them in an order that depends on nothing
// but the calls before: as added, with the last in the place of an erased one; in a map by parents'
// children (base/id_map.hpp). Not thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/actor/ref.hpp"
#include "runtime/actor/short_list.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

/// kInside: how many stand in the object itself.
template <std::size_t kInside>
class RefList {
 public:
  /// False: it is there already.
  bool add(const ActorRef& ref) {
    if (many_ != nullptr) {
      if (many_->contains(ref)) return false;
      many_->insert(ref, {});
      return true;
    }
    if (std::find(few_.begin(), few_.end(), ref) != few_.end()) return false;
    few_.push_back(ref);
    if (few_.size() > kSearched) turn_many();
    return true;
  }

  /// False: it is not there.
  bool erase(const ActorRef& ref) {
    if (many_ == nullptr) return few_.erase(ref);
    if (!many_->erase(ref)) return false;
    if (many_->empty()) many_.reset();
    return true;
  }

  /// Begins to bring what erase() touches into the cache.
  void fetch(const ActorRef& ref) const {
    if (many_ != nullptr) many_->fetch_place(ref);
  }

  std::size_t size() const { return many_ != nullptr ? many_->size() : few_.size(); }

  template <class Visit>
  void for_each(Visit&& visit) const {
    if (many_ == nullptr) {
      for (const ActorRef& ref : few_) visit(ref);
    } else {
      for (const auto& [ref, nothing] : *many_) visit(ref);
    }
  }

  std::vector<ActorRef> all() const {
    std::vector<ActorRef> refs;
    refs.reserve(size());
    for_each([&](const ActorRef& ref) { refs.push_back(ref); });
    return refs;
  }

 private:
  static constexpr std::size_t kSearched = 16;
  struct Nothing {};

  void turn_many() {
    many_ = std::make_unique<IdMap<ActorRef, Nothing>>();
    for (const ActorRef& ref : few_) many_->insert(ref, {});
    few_.clear();
  }

  ShortList<ActorRef, kInside> few_;
  std::unique_ptr<IdMap<ActorRef, Nothing>> many_;
};

}  // namespace troupe
