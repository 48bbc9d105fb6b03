// Who owns which request at a balancer: the lease book of its core.
//
// Why: what a balancer holds for a request ends with the request's owner, which is told as a Down
// of that actor; messages name the request. An owner is the request's own actor, or one that speaks
// for many of them (actors/pd/route_core.hpp).
//
// Beside the owner stands what else the balancer keeps of a request.
//
// Invariant: a request has one owner. Pure; one owner of the table itself.
#pragma once

#include <vector>

#include "runtime/actor/ref.hpp"
#include "runtime/base/id_map.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"

namespace troupe {

template <class Kept>
class OwnerTable {
 public:
  /// kInvalid: there is no owner or no id, or the request is here already.
  Status check(RequestId request, const ActorRef& owner) const {
    if (request.value == 0 || !owner) return Error{Code::kInvalid, "no request id, or no owner"};
    if (owners_.contains(request)) return Error{Code::kInvalid, "the request is here already"};
    return ok_status();
  }
  /// True: it is the owner's first here, which is to be watched from now on. Requires: check() is
  /// ok.
  bool add(RequestId request, const ActorRef& owner, Kept kept) {
    owners_.insert(request, {owner, std::move(kept)});
    return ++counts_[owner] == 1;
  }
  /// True: it was the owner's last. Requires: it is here.
  bool remove(RequestId request) {
    const ActorRef owner = owners_.at(request).owner;
    owners_.erase(request);
    if (--counts_.at(owner) > 0) return false;
    counts_.erase(owner);
    return true;
  }
  /// nullptr if it is not here.
  const ActorRef* owner_of(RequestId request) const {
    const Row* row = owners_.find(request);
    return row == nullptr ? nullptr : &row->owner;
  }
  /// The same.
  const Kept* kept_of(RequestId request) const {
    const Row* row = owners_.find(request);
    return row == nullptr ? nullptr : &row->kept;
  }
  /// In the order in which they came. Looks at all requests: for ends of owners only.
  std::vector<RequestId> requests_of(const ActorRef& owner) const {
    std::vector<RequestId> found;
    if (!counts_.contains(owner)) return found;
    for (const auto& [request, row] : owners_) {
      if (row.owner == owner) found.push_back(request);
    }
    return found;
  }
  /// Begins to bring what is known of it into the cache.
  void fetch(RequestId request) const { owners_.fetch(request); }
  std::size_t size() const { return owners_.size(); }
  /// All requests, in the order in which they came.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [request, owner] : owners_) visit(request);
  }

 private:
  struct Row {
    ActorRef owner;
    Kept kept;
  };
  IdMap<RequestId, Row> owners_;
  IdMap<ActorRef, std::uint32_t> counts_;  ///< of requests
};

}  // namespace troupe
