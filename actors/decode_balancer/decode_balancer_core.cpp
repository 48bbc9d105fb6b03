#include "actors/decode_balancer/decode_balancer_core.hpp"

namespace troupe {

namespace {
enum TimerKind : std::uint32_t { kRound, kDeadline, kAge };
constexpr TimerTag tag_of(TimerKind kind) {
  return {static_cast<std::uint32_t>(kind), 0};
}
}  // namespace

void DecodeBalancerCore::on(const Started&, Context&, Effects& out) {
  out.info("decode_balancer_started", "policy " + std::string(to_string(args_.rule)));
}

void DecodeBalancerCore::on(const DecodeInstanceJoined& joined, Context& context, Effects& out) {
  if (instances_.contains(joined.instance)) return;
  for (const auto& card : joined.ranks) {
    if (!ranks_.contains(card.rank) && card.blocks > 0 && card.rows_most > 0) continue;
    return out.warn("decode_instance_refused",
                    to_string(joined.instance) + ": rank " + to_string(card.rank) +
                        " is of another instance, or has no blocks or no rows");
  }
  Instance instance;
  for (const auto& card : joined.ranks) {
    const GpuId gpu = placer_.add_gpu(card.blocks, card.rows_most);
    instance.ranks.push_back(card.rank);
    instance.gpus.push_back(gpu);
    ranks_[card.rank] = {joined.instance, gpu};
    if (place_of_.size() <= gpu.value) place_of_.resize(gpu.value + 1);
    place_of_[gpu.value] = {card.rank, static_cast<std::uint32_t>(instance.ranks.size() - 1)};
    out.watch(card.rank);
  }
  instances_.emplace(joined.instance, std::move(instance));
  out.info("decode_instance_joined",
           to_string(joined.instance) + ", " + std::to_string(joined.ranks.size()) + " ranks");
  want_round(context, out);
}

void DecodeBalancerCore::on(const DecodeInstanceDrains& drains, Context& context, Effects& out) {
  const auto at = instances_.find(drains.instance);
  if (at == instances_.end()) return;
  for (const GpuId gpu : at->second.gpus) placer_.pool().set_draining(gpu, drains.draining);
  want_round(context, out);
}

void DecodeBalancerCore::on(const DecodeInstanceLeft& left, Context& context, Effects& out) {
  end_instance(left.instance, "left", context, out);
}

void DecodeBalancerCore::end_instance(const ActorRef& ref, const char* why, Context& context,
                                      Effects& out) {
  const auto at = instances_.find(ref);
  if (at == instances_.end()) return;
  const Instance instance = std::move(at->second);
  instances_.erase(at);
  for (const RequestId request : placer_.remove_gpus(instance.gpus, context.now)) {
    out.send(*owners_.owner_of(request), make_message<DecodeReservationLost>(request, Code::kLost));
    forget(request, out);
  }
  for (const ActorRef& rank : instance.ranks) {
    ranks_.erase(rank);
    out.unwatch(rank);
  }
  out.warn("decode_instance_ended", to_string(ref) + ": " + why);
  watch_deadlines(out);
  want_round(context, out);
}

void DecodeBalancerCore::on(const ReserveDecode& reserve, Context& context, Effects& out) {
  if (!reserve.owner) return out.warn("reserve_decode_refused", "a reservation without an owner");
  if (draining_) {
    for (const WantedPlace& row : reserve.rows) {
      refuse(row.request, reserve.owner, {Code::kUnavailable, "the decode balancer drains"}, out);
    }
    return;
  }
  Places again;
  for (const WantedPlace& row : reserve.rows) {
    const Status taken = take(row, reserve.owner, context.now, again, out);
    if (!taken.ok()) refuse(row.request, reserve.owner, taken.error(), out);
  }
  again.hand_out(out);
  if (placer_.waiting() >= args_.round_at_once) {
    run_round(context, out);
  } else {
    want_round(context, out);
  }
  watch_deadlines(out);
}

Status DecodeBalancerCore::take(const WantedPlace& row, const ActorRef& owner, Time now,
                                Places& again, Effects& out) {
  const ActorRef* known = owners_.owner_of(row.request);
  if (known != nullptr && *known == owner) {
    // Asked again: the answer is what it has got, if it has got something and has not started.
    if (const auto placed = placer_.held(row.request)) tell(*placed, again);
    return ok_status();
  }
  TROUPE_TRY(owners_.check(row.request, owner));
  const std::uint64_t tokens = row.context + output_.of(row.traffic, row.output_most);
  TROUPE_TRY(placer_.submit(row.request, tokens, now, now + row.time_left));
  if (owners_.add(row.request, owner, row.traffic)) out.watch(owner);
  return ok_status();
}

void DecodeBalancerCore::tell(const DecodePlacer::Placement& placed, Places& places) {
  const Place& place = place_of_[placed.gpu.value];
  places.of(*owners_.owner_of(placed.request))
      .rows.push_back(
          {placed.request, place.rank, placed.generation, args_.limits.hold, place.member});
}

void DecodeBalancerCore::refuse(RequestId request, const ActorRef& owner, Error error,
                                Effects& out) {
  out.send(owner, make_message<DecodeNotReserved>(request, error.code, std::move(error.message)));
}

void DecodeBalancerCore::on(const DecodeStarted& started, Context&, Effects& out) {
  for (const StartedRow& row : started.rows) {
    if (placer_.start(row.request, row.generation)) continue;
    out.info("decode_start_stale", "request " + std::to_string(row.request.value));
  }
}

void DecodeBalancerCore::on(const ReleaseDecode& release, Context& context, Effects& out) {
  bool freed = false;
  for (const ReleasedRow& row : release.rows) {
    const std::uint8_t* traffic = owners_.kept_of(row.request);
    if (traffic == nullptr) continue;
    freed = true;
    if (row.output > 0) output_.ended(*traffic, row.output);
    placer_.release(row.request);
    forget(row.request, out);
  }
  if (!freed) return;
  want_round(context, out);
  stop_if_drained(out);
}

void DecodeBalancerCore::on(const DecodeLoadReport& report, Context& context, Effects& out) {
  const auto at = ranks_.find(report.rank);
  if (at == ranks_.end()) return;
  placer_.pool().report(at->second.second, report.rows, report.tokens, context.now);
  if (!aging_) out.timer(tag_of(kAge), context.now + args_.report_stale);
  aging_ = true;
  want_round(context, out);
}

void DecodeBalancerCore::on(const TimerFired& fired, Context& context, Effects& out) {
  switch (fired.tag.kind) {
    case kRound:
      round_due_ = false;
      run_round(context, out);
      return watch_deadlines(out);
    case kDeadline:
      armed_.reset();
      run_deadlines(context, out);
      return;
    case kAge:
      aging_ = placer_.pool().age(context.now, args_.report_stale);
      if (aging_) out.timer(tag_of(kAge), context.now + args_.report_stale);
      return want_round(context, out);
    default:
      TROUPE_ASSERT(false, "a timer of our own kinds");
  }
}

void DecodeBalancerCore::on(const Down& down, Context& context, Effects& out) {
  const auto rank = ranks_.find(down.ref);
  if (rank != ranks_.end()) {
    const ActorRef instance = rank->second.first;
    return end_instance(instance, "a rank of it is down", context, out);
  }
  const std::vector<RequestId> owned = owners_.requests_of(down.ref);
  if (owned.empty()) return;
  for (const RequestId request : owned) {
    placer_.release(request);
    forget(request, out);
  }
  want_round(context, out);
  stop_if_drained(out);
}

void DecodeBalancerCore::on(const Undeliverable&, Context&, Effects&) {
  // Owners are watched: their Down, not a lost answer, ends their reservations.
}

void DecodeBalancerCore::on(const Drain&, Context&, Effects& out) {
  draining_ = true;
  stop_if_drained(out);
}

void DecodeBalancerCore::stop_if_drained(Effects& out) {
  if (draining_ && placer_.tickets() == 0) out.stop("drained");
}

void DecodeBalancerCore::forget(RequestId request, Effects& out) {
  const ActorRef owner = *owners_.owner_of(request);
  if (owners_.remove(request)) out.unwatch(owner);
}

void DecodeBalancerCore::want_round(Context& context, Effects& out) {
  if (round_due_ || placer_.waiting() == 0) return;
  round_due_ = true;
  out.timer(tag_of(kRound), context.now + args_.tick);
}

void DecodeBalancerCore::run_round(Context& context, Effects& out) {
  Places places;
  for (const auto& placed : placer_.round(context.now)) tell(placed, places);
  places.hand_out(out);
}

void DecodeBalancerCore::run_deadlines(Context& context, Effects& out) {
  for (const auto& ended : placer_.expire(context.now)) {
    const ActorRef owner = *owners_.owner_of(ended.request);
    if (ended.waiting) {
      out.send(owner, make_message<DecodeNotReserved>(
                          ended.request, Code::kDeadline,
                          "no decode GPU had room for the request in its time"));
    } else {
      out.send(owner, make_message<DecodeReservationLost>(ended.request, Code::kDeadline));
    }
    forget(ended.request, out);
  }
  want_round(context, out);
  watch_deadlines(out);
  stop_if_drained(out);
}

void DecodeBalancerCore::watch_deadlines(Effects& out) {
  // A timer that comes too early finds nothing and is set again: cheaper than one a request.
  const std::optional<Time> next = placer_.next_deadline();
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  out.timer(tag_of(kDeadline), *next);
}

std::string DecodeBalancerCore::describe() const {
  return "gpus=" + std::to_string(placer_.pool().size()) +
         " waiting=" + std::to_string(placer_.waiting()) +
         " reserved=" + std::to_string(placer_.tickets() - placer_.waiting());
}

}  // namespace troupe
