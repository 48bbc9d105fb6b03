// Rules that are looked at after each event, and sums that are looked at now and then.
#include "tools/simulate/pd_invariants.hpp"

#include "actors/decode_balancer/decode_balancer_core.hpp"
#include "actors/gateway/gateway_core.hpp"
#include "actors/pd/fabric_core.hpp"
#include "actors/pd/route_core.hpp"
#include "actors/prefill_balancer/prefill_balancer_core.hpp"
#include "actors/stream_table/stream_table_core.hpp"
#include "actors/traffic/traffic_core.hpp"

namespace troupe {

PdInvariants::PdInvariants(const ClusterPlan& plan, const PdActors& actors, const PdFaults& faults)
    : plan_(plan), actors_(actors), faults_(faults) {}

void PdInvariants::tell_unequal(const char* what, std::uint64_t found, std::uint64_t expected) {
  judge_.equal(std::string(what) + " at " + std::to_string(actors_.world->now().seconds()) + " s",
               found, expected);
}

void PdInvariants::tell_too_many(const char* what, std::uint64_t found, std::uint64_t most) {
  judge_.say(std::string(what) + " at " + std::to_string(actors_.world->now().seconds()) +
             " s: " + std::to_string(found) + ", at most " + std::to_string(most));
}

void PdInvariants::after(const Envelope& envelope, Actor* actor) {
  ++looked_at_;
  if (actor == nullptr) return;
  const ActorRef& touched = envelope.to;
  if (touched.node.value > 0) return check_group(envelope, *actor);
  if (touched.local != actors_.streams.local) return check_front(touched, *actor);
  if (const auto* batch = envelope.message.as<TokenBatch>()) check_tokens(*batch);
  at_most("rows in the stream table", core_of<StreamTableCore>(*actor).rows(), plan_.requests_max);
}

void PdInvariants::check_front(const ActorRef& touched, Actor& actor) {
  if (touched.local == actors_.traffic.local) return check_outcomes(core_of<TrafficCore>(actor));
  if (touched.local == actors_.decode_balancer.local) {
    return check_tickets(core_of<DecodeBalancerCore>(actor));
  }
  if (touched.local == actors_.fabric.local) return check_transfers(core_of<FabricCore>(actor));
  if (touched.local == actors_.route.local) {
    at_most("flows", core_of<RouteCore>(actor).flows(), plan_.requests_max);
  } else if (touched.local == actors_.prefill_balancer.local) {
    const auto& balancer = core_of<PrefillBalancerCore>(actor);
    at_most("prompts that wait for an engine", balancer.policy().waiting(), plan_.requests_max);
    equal("owners of prompts", balancer.owners().size(), balancer.pool().jobs());
  } else if (touched.local == actors_.gateway.local) {
    at_most("requests in the gateway", core_of<GatewayCore>(actor).live_requests(),
            plan_.requests_max);
  } else if (touched.local == actors_.vision_balancer.local) {
    check_images();
  }
}

void PdInvariants::check_outcomes(const TrafficCore& traffic) {
  const std::uint64_t known = traffic.report().total() + traffic.live();
  // Requests of the warm-up are live, too, and end before the first measured one starts.
  if (traffic.started() == 0) return;
  equal("outcomes and live requests", known, traffic.started());
}

void PdInvariants::check_tickets(const DecodeBalancerCore& balancer) {
  const DecodePlacer& placer = balancer.placer();
  equal("rows that the decode balancer counts", placer.pool().rows(),
        placer.tickets() - placer.waiting());
  equal("owners of decode tickets", balancer.owners().size(), placer.tickets());
  at_most("requests that wait for a decode GPU", placer.waiting(), plan_.requests_max);
}

void PdInvariants::check_transfers(const FabricCore& fabric) {
  at_most("transfers that somebody waits for", fabric.asked(),
          fabric.links().flows() + fabric.not_begun());
}

void PdInvariants::check_tokens(const TokenBatch& batch) {
  for (const RowTokens& row : batch.rows) {
    std::uint32_t* known = tokens_.find(row.request);
    const std::uint32_t had = known == nullptr ? 0 : *known;
    const bool failed = row.finish == Finish::kFailed;
    // Of a request that began anew because nobody knew that its first token had arrived.
    if (row.first + row.count() <= had && row.finish == Finish::kNone) continue;
    if (row.first != had && !failed) {
      ++torn_;
      if (!faults_.drop_anything()) {
        equal("first new token of an answer", row.first, had);
      }
    }
    if (row.finish != Finish::kNone) {
      tokens_.erase(row.request);
      continue;
    }
    const std::uint32_t now = row.first + static_cast<std::uint32_t>(row.count());
    if (known == nullptr) {
      tokens_.insert(row.request, now);
    } else {
      *known = now;
    }
  }
}

void PdInvariants::check_group(const Envelope& envelope, Actor& actor) {
  const std::uint32_t index = envelope.to.node.value - 1;
  const auto engines = static_cast<std::uint32_t>(actors_.engines.size());
  if (index < engines) {
    // Its host touches nothing that is counted.
    if (envelope.to == actors_.engines[index]) return;
    const auto& engine = core_of<PrefillEngineCore>(actor);
    return at_most("prompts in an engine's FIFOs", engine.queued(), engine.jobs());
  }
  if (index - engines >= actors_.instances.size()) return;  // encoders: looked at by the sweep
  if (envelope.to == actors_.instances[index - engines]) return;
  const auto* start = envelope.message.as<StartDecode>();
  if (start == nullptr) return;
  const auto& instance = core_of<DecodeInstanceCore>(actor);
  at_most("rows of a decode GPU", instance.rows_of(start->member), instance.rows_most());
}

void PdInvariants::sweep() {
  if (const auto* traffic = actors_.find<TrafficCore>(actors_.traffic)) check_outcomes(*traffic);
  if (const auto* balancer = actors_.find<DecodeBalancerCore>(actors_.decode_balancer)) {
    check_tickets(*balancer);
  }
  if (const auto* fabric = actors_.find<FabricCore>(actors_.fabric)) check_transfers(*fabric);
  check_sums();
  check_groups();
  check_encoders();
  if (++sweeps_ % kOrphansEvery == 0) check_orphans();
}

void PdInvariants::check_sums() {
  if (const auto* balancer = actors_.find<DecodeBalancerCore>(actors_.decode_balancer)) {
    const DecodePool& pool = balancer->placer().pool();
    std::uint64_t rows = 0;
    for (std::uint32_t i = 0; i < pool.ids(); ++i) {
      const DecodeGpu& gpu = pool.at(GpuId(i));
      rows += gpu.rows;
      at_most("rows reserved on a GPU", gpu.rows, gpu.there ? gpu.rows_most : 0);
      at_most("blocks reserved on a GPU", gpu.blocks_used, gpu.there ? gpu.blocks : 0);
    }
    equal("rows of all decode GPUs", rows, pool.rows());
  }
  if (const auto* balancer = actors_.find<PrefillBalancerCore>(actors_.prefill_balancer)) {
    const PrefillPool& pool = balancer->pool();
    Duration load;
    for (const EngineId engine : pool.engines()) {
      for (std::uint32_t rank = 0; rank < pool.ranks_of(engine); ++rank) {
        load += pool.rank_load(engine, rank);
      }
    }
    equal("quota of all ranks (ns)", static_cast<std::uint64_t>(load.value),
          static_cast<std::uint64_t>(pool.total_load().value));
  }
}

void PdInvariants::check_groups() {
  for (const ActorRef& host : actors_.instances) {
    const auto* instance = actors_.group<DecodeInstanceCore>(host);
    if (instance == nullptr) continue;
    std::uint64_t rows = 0;
    for (std::uint32_t i = 0; i < instance->members(); ++i) rows += instance->rows_of(i);
    equal("rows of an instance's members", rows, instance->rows());
  }
}

void PdInvariants::note_orphan(const char* what, const char* where, std::uint64_t id) {
  const Orphan orphan{where, id};
  const auto known = orphans_.find(orphan);
  const Time now = actors_.world->now();
  const Time since = known == orphans_.end() ? now : known->second;
  found_.emplace(orphan, since);
  const Duration most = faults_.may_hold_up() ? kLossyOrphanMost : kOrphanMost;
  if (now - since <= most) return;
  judge_.say(std::string(what) + " " + std::to_string(id) + " has ended, but " + where +
             " has had it for " + std::to_string((now - since).seconds()) + " s since");
}

void PdInvariants::check_orphans() {
  const auto* route = actors_.find<RouteCore>(actors_.route);
  if (route == nullptr) return;
  const auto look = [&](const char* where) {
    return [this, route, where](RequestId request) {
      if (!route->has(request)) note_orphan("request", where, request.value);
    };
  };
  if (const auto* balancer = actors_.find<DecodeBalancerCore>(actors_.decode_balancer)) {
    balancer->owners().for_each(look("the decode balancer"));
  }
  if (const auto* balancer = actors_.find<PrefillBalancerCore>(actors_.prefill_balancer)) {
    balancer->owners().for_each(look("the prefill balancer"));
  }
  std::size_t index = 0;
  for (const ActorRef& host : actors_.engines) {
    const auto* engine = actors_.group<PrefillEngineCore>(host);
    if (engine != nullptr && !faults_.silent(index)) {
      engine->for_each_request(look("a prefill engine"));
    }
    ++index;
  }
  for (const ActorRef& host : actors_.instances) {
    const auto* instance = actors_.group<DecodeInstanceCore>(host);
    if (instance != nullptr && !faults_.silent(index)) {
      instance->for_each_request(look("a decode instance"));
    }
    ++index;
  }
  check_image_orphans(*route);
  orphans_.swap(found_);
  found_.clear();
}

}  // namespace troupe
