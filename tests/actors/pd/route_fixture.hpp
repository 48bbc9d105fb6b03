// A route among made-up balancers, fabric and groups, and the usual words to it.
#pragma once

#include "actors/pd/route_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {

inline const ActorRef kNode = actor(90);
inline const ActorRef kPrefill = actor(91);
inline const ActorRef kDecode = actor(92);
inline const ActorRef kFabric = actor(93);
inline const ActorRef kStreams = actor(94);
inline const ActorRef kOwner = actor(95);
inline const ActorRef kEngine = actor(80, 1, 1);
inline const ActorRef kOther = actor(81, 1, 2);
inline const ActorRef kInstance = actor(82, 1, 3);
inline constexpr RequestId kRequest{7};

/// `vision`: nobody, or the vision balancer.
inline RouteCore::Args route_args(ActorRef vision = {}, bool own_caches = false) {
  auto wiring = std::make_shared<PdWiring>();
  wiring->prefill_balancer = kPrefill;
  wiring->decode_balancer = kDecode;
  wiring->fabric = kFabric;
  wiring->vision_balancer = vision;
  wiring->own_caches = own_caches;
  wiring->first_port = {PortId(0), PortId(0), PortId(4), PortId(8)};
  RouteCore::Args args;
  args.node = kNode;
  args.model = "m";
  args.context_max = 100'000;
  args.prefixes.window_miss = 0;
  args.rows_most = 2;
  args.wiring = wiring;
  return args;
}

class RouteTest : public testing::Test {
 protected:
  Turn submits(std::uint32_t length = 10'000, std::uint32_t cached = 9'000,
               RequestId request = kRequest, ActorRef owner = kOwner) {
    SimulatedWork work;
    work.output = 50;
    work.cached = cached;
    SubmitRow submit;
    submit.request = request;
    submit.owner = owner;
    submit.streams = kStreams;
    submit.prompt_length = length;
    submit.max_tokens = 60;
    submit.time_left = seconds(30);
    submit.sealed.work = work;
    return route.hears(submit, from(owner));
  }
  Turn assigned(const ActorRef& engine, std::uint32_t generation, std::uint32_t hit = 8'960) {
    return route.hears(PrefillAssigned{kRequest, engine, engine, generation, hit, 2},
                       from(kPrefill));
  }
  Turn moved(std::uint64_t move) { return route.hears(BytesMoved{move}, from(kFabric)); }
  Turn reserved(std::uint32_t generation = 1) {
    return route.hears(DecodeReserved{{{kRequest, kInstance, generation, seconds(10), 5}}},
                       from(kDecode));
  }
  Turn prefilled(bool complete = false) {
    return route.hears(PrefillEnded{{{kRequest, complete}}}, from(kEngine));
  }
  /// Up to the KV's push.
  MoveBytes pushing() {
    submits();
    moved(assigned(kEngine, 1).only<MoveBytes>(kFabric).move);
    reserved();
    return prefilled().only<MoveBytes>(kFabric);
  }

  CoreDriver<RouteCore> route{route_args()};
};

}  // namespace troupe
