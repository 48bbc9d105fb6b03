// Places requests on decode GPUs: the queue, the rounds, and the reservations.
//
// A round takes the longest run of waiting requests, first come first served, that would fit if all
// free memory and all free rows were one piece; from it and from what is there follows the level
// Z = 1.05 x mean of tokens a GPU; then each of the run is placed in turn by the policy (ALGOS 1.3,
// from DualPath). So a round costs what it places, however long the queue is.
//
// A request that fits on no GPU holds back those behind it, except much smaller ones (an eighth of
// it), and these only until it has waited for `bypass_age`: a large request waits for one GPU to
// empty, and is not starved by small ones that would fill the gaps.
//
// States of a ticket: waiting → held → started; it ends by release, by its deadline (waiting: not
// placed in time; held: nobody came to start it), or by the end of its GPU. Of a GPU that ends, the
// held tickets wait again at their old places (their KV is still at the prefill side); the started
// ones are lost, their KV with them.
//
// Invariants
// 1. A ticket is in the queue, or has a GPU, whose load contains its need from the decision to the
//    end of the ticket.
// 2. Each ticket that is not started has a deadline.
// 3. A ticket's generation grows with each placement: answers to an older one have no effect.
//
// Cost: 1.5 to 2 µs a request, from submit to release, at 512 GPUs (docs/balancers.md). Pure; one
// owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "actors/balance/deadline_heap.hpp"
#include "actors/decode_balancer/decode_policy.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

struct DecodeLimits {
  double slack = 1.05;                      ///< Z over the mean of tokens (DualPath)
  std::uint32_t waiting_most = 65'536;      ///< tickets in the queue
  std::uint32_t headroom_blocks = 2;        ///< left free on a GPU: rows grow while others arrive
  std::uint32_t bypass_share = 8;           ///< a bypass needs at most 1/8 of the head's tokens
  std::uint32_t bypass_depth = 32;          ///< how many behind the head are looked at
  Duration bypass_age = milliseconds(500);  ///< the head's age, from where nobody passes it
  Duration hold = seconds(10);              ///< from the placement to the start on the GPU
};

class DecodePlacer {
 public:
  struct Placement {
    RequestId request;
    GpuId gpu;
    std::uint32_t generation;
  };
  struct Ended {
    RequestId request;
    bool waiting;  ///< it was never placed; else its reservation ran out, or was lost
  };

  explicit DecodePlacer(DecodeRule rule, const DecodeLimits& limits = {})
      : limits_(limits), policy_(rule) {}

  GpuId add_gpu(std::uint32_t blocks, std::uint32_t rows_most);
  /// Their started tickets end and are returned; their held ones wait again. What no GPU that is
  /// left could ever hold ends with the next expire(). Looks at all tickets.
  std::vector<RequestId> remove_gpus(std::span<const GpuId> gpus, Time now);
  DecodePool& pool() { return pool_; }
  const DecodePool& pool() const { return pool_; }

  /// kInvalid: the id is 0 or taken. kUnavailable: the queue is full. kTooLarge: no GPU could ever
  /// hold it. `until`: when it is given up if it has no place.
  Status submit(RequestId request, std::uint64_t tokens, Time now, Time until);
  /// False: that ticket, or that generation of it, is not held any more.
  bool start(RequestId request, std::uint32_t generation);
  /// Where a ticket is held; nothing: it waits, has started, or is not here.
  std::optional<Placement> held(RequestId request) const;
  /// Begins to bring what start() and release() touch into the cache.
  void fetch(RequestId request) const { tickets_.fetch(request); }
  /// Ends a ticket in any state; an unknown one is ignored.
  void release(RequestId request);

  std::vector<Placement> round(Time now);
  /// Ends all tickets whose deadline has come.
  std::vector<Ended> expire(Time now);
  std::optional<Time> next_deadline();

  std::size_t waiting() const { return queue_.size(); }
  std::size_t tickets() const { return tickets_.size(); }

 private:
  enum class State : std::uint8_t { kWaiting, kHeld, kStarted };
  struct Ticket {
    DecodeNeed need;
    std::uint64_t order = 0;  ///< its place in the queue, kept for its life
    Time since;
    Time until;     ///< of waiting
    Time deadline;  ///< of the state that it is in
    GpuId gpu;
    std::uint32_t generation = 0;
    State state = State::kWaiting;
  };
  using Queue = std::map<std::uint64_t, RequestId>;

  bool can_never_fit(const DecodeNeed& need) const;
  std::uint64_t level_of_round(std::size_t& run) const;
  bool place(RequestId request, Ticket& ticket, std::uint64_t level, Time now,
             std::vector<Placement>& placed);
  void bypass(const Ticket& head, Queue::iterator from, std::uint64_t level, Time now,
              std::vector<Placement>& placed);
  void set_deadline(RequestId request, Ticket& ticket, Time at);
  bool holds(const DeadlineHeap::Entry& deadline) const;

  DecodeLimits limits_;
  DecodePolicy policy_;
  DecodePool pool_;
  IdMap<RequestId, Ticket> tickets_;
  Queue queue_;
  DeadlineHeap deadlines_;
  std::size_t started_ = 0;  ///< tickets without a deadline
  std::uint64_t next_order_ = 0;
  std::multiset<std::uint32_t> capacities_;  ///< blocks of each GPU
};

}  // namespace troupe
