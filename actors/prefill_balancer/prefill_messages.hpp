// The protocol of a prefill balancer.
//
//   node → balancer     PrefillEngineJoined, PrefillEngineLeft
//   request → balancer  SubmitPrefill, ReleasePrefill
//   balancer → owner    PrefillAssigned or PrefillRefused
//   engine → balancer   PrefillAdvanced (one a step), PrefillCurveLearned, PrefixBlocksChanged
//
// Invariants: (1) each SubmitPrefill gets a PrefillRefused, or a PrefillAssigned, unless it is
// released or its owner ends before; (2) a PrefillAssigned may come again, with a higher
// generation: the engine was lost, the older one is void, and the work begins anew; (3) the
// balancer watches the owner (of one request or of many): its end ends the work here in any state;
// (4) an engine and its ranks are named by their references, whose life and incarnation make
// messages of earlier lives harmless.
#pragma once

#include <string>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// One DP group; it serves with all of its ranks or not at all. An actor that is all of them (a
/// simulated engine) stands in the list once for each.
struct PrefillEngineJoined {
  static constexpr MessageInfo info{0x0810, "prefill_engine_joined"};
  ActorRef engine;
  std::vector<ActorRef> ranks;
  bool announces_blocks = false;  ///< it will tell what its own prefix cache holds
  static void fields(auto& self, auto&& visit) {
    visit("engine", self.engine);
    visit("ranks", self.ranks);
    visit("announces_blocks", self.announces_blocks);
  }
};

struct PrefillEngineLeft {
  static constexpr MessageInfo info{0x0811, "prefill_engine_left"};
  ActorRef engine;
  static void fields(auto& self, auto&& visit) { visit("engine", self.engine); }
};

struct SubmitPrefill {
  static constexpr MessageInfo info{0x0812, "submit_prefill"};
  RequestId request;
  ActorRef owner;                    ///< holds the lease; gets the answers
  std::uint32_t length = 0;          ///< tokens of the prompt
  std::uint32_t hit = 0;             ///< of them in the shared store (kv hit policy)
  std::uint64_t affinity = 0;        ///< hash of its session, or of its first blocks; 0: none
  std::vector<std::uint64_t> chain;  ///< block hashes; may be empty where engines have no cache
  Duration time_left;                ///< how long it may wait for an engine
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("owner", self.owner);
    visit("length", self.length);
    visit("hit", self.hit);
    visit("affinity", self.affinity);
    visit("chain", self.chain);
    visit("time_left", self.time_left);
  }
};

/// The engine has taken it: the fetch of its hit may begin.
struct PrefillAssigned {
  static constexpr MessageInfo info{0x0813, "prefill_assigned"};
  RequestId request;
  ActorRef engine;
  ActorRef rank;
  std::uint32_t generation = 0;
  std::uint32_t hit = 0;     ///< tokens that need not be computed, as far as the balancer knows
  std::uint32_t member = 0;  ///< the rank's place among those that the engine joined with
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("engine", self.engine);
    visit("rank", self.rank);
    visit("generation", self.generation);
    visit("hit", self.hit);
    visit("member", self.member);
  }
};

struct PrefillRefused {
  static constexpr MessageInfo info{0x0814, "prefill_refused"};
  RequestId request;
  Code code = Code::kUnavailable;
  std::string message;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("code", self.code);
    visit("message", self.message);
  }
};

/// What ended in a step goes together.
struct ReleasePrefill {
  static constexpr MessageInfo info{0x0815, "release_prefill"};
  std::vector<RequestId> requests;
  static void fields(auto& self, auto&& visit) { visit("requests", self.requests); }
};

struct PrefillRow {
  RequestId request;
  std::uint32_t generation = 0;
  std::uint32_t computed = 0;  ///< tokens of the prompt, its hit included; its length: it is done
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("generation", self.generation);
    visit("computed", self.computed);
  }
};

/// What a step of an engine did, on all of its ranks. Counts are absolute, so that one that gets
/// lost is made up for by the next.
struct PrefillAdvanced {
  static constexpr MessageInfo info{0x0816, "prefill_advanced"};
  ActorRef engine;
  std::vector<PrefillRow> rows;
  static void fields(auto& self, auto&& visit) {
    visit("engine", self.engine);
    visit("rows", self.rows);
  }
};

/// What the engines' online fit has learned (runtime/cost/cost_fit.hpp).
struct PrefillCurveLearned {
  static constexpr MessageInfo info{0x0817, "prefill_curve_learned"};
  double a = 0;  ///< ns a step
  double b = 0;  ///< ns a token
  double g = 0;  ///< ns a token²
  static void fields(auto& self, auto&& visit) {
    visit("a", self.a);
    visit("b", self.b);
    visit("g", self.g);
  }
};

/// Of an engine's own prefix cache.
struct PrefixBlocksChanged {
  static constexpr MessageInfo info{0x0818, "prefix_blocks_changed"};
  ActorRef engine;
  std::vector<std::uint64_t> stored;
  std::vector<std::uint64_t> evicted;
  static void fields(auto& self, auto&& visit) {
    visit("engine", self.engine);
    visit("stored", self.stored);
    visit("evicted", self.evicted);
  }
};

using PrefillBalancerProtocol =
    Protocol<Started, PrefillEngineJoined, PrefillEngineLeft, SubmitPrefill, ReleasePrefill,
             PrefillAdvanced, PrefillCurveLearned, PrefixBlocksChanged, TimerFired, Down,
             Undeliverable, Drain>;

}  // namespace troupe
