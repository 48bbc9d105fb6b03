// Who owns which request at a balancer: the lease book of its core.
//
// Why: what a balancer holds for a request ends with the request's actor, which is told as a Down
// of that actor; messages name the request.
//
// Invariant: an owner has at most one request here, and a request one owner. Pure; one owner.
#pragma once

#include "runtime/actor/ref.hpp"
#include "runtime/base/flat_map.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"

namespace troupe {

class OwnerTable {
 public:
  /// kInvalid: there is no owner or no id, or one of both is here already.
  Status check(RequestId request, const ActorRef& owner) const {
    if (request.value == 0 || !owner) return Error{Code::kInvalid, "no request id, or no owner"};
    if (owners_.find(request.value) != nullptr || requests_.find(hash_of(owner)) != nullptr) {
      return Error{Code::kInvalid, "the request, or its owner, is here already"};
    }
    return ok_status();
  }
  /// Requires: check() is ok.
  void add(RequestId request, const ActorRef& owner) {
    owners_.insert(request.value, owner);
    requests_.insert(hash_of(owner), request);
  }
  void remove(RequestId request) {
    const ActorRef* owner = owners_.find(request.value);
    if (owner == nullptr) return;
    requests_.erase(hash_of(*owner));
    owners_.erase(request.value);
  }
  /// nullptr if it is not here.
  const ActorRef* owner_of(RequestId request) const { return owners_.find(request.value); }
  const RequestId* request_of(const ActorRef& owner) const {
    return requests_.find(hash_of(owner));
  }
  std::size_t size() const { return owners_.size(); }

 private:
  FlatMap<ActorRef> owners_;
  FlatMap<RequestId> requests_;  ///< by hash_of() of the owner
};

}  // namespace troupe
