#include "actors/decode_balancer/decode_placer.hpp"

#include <algorithm>
#include <string>

#include "runtime/base/rng.hpp"

namespace troupe {

namespace {
constexpr std::uint64_t kTokensOfBlock = 128;
/// A bound of what is believed: 128 G tokens.
constexpr std::uint64_t kBlocksMost = 1u << 30;
}  // namespace

GpuId DecodePlacer::add_gpu(std::uint32_t blocks, std::uint32_t rows_most) {
  const GpuId gpu = pool_.add(blocks, rows_most);
  capacities_.insert(blocks);
  return gpu;
}

std::vector<RequestId> DecodePlacer::remove_gpus(std::span<const GpuId> gpus, Time now) {
  std::vector<RequestId> lost;
  std::vector<bool> ends(pool_.ids());
  for (const GpuId gpu : gpus) ends[gpu.value] = true;
  for (auto& [request, ticket] : tickets_) {
    if (ticket.state == State::kWaiting || !ends[ticket.gpu.value]) continue;
    if (ticket.state == State::kStarted) {
      lost.push_back(request);
      continue;
    }
    pool_.release(ticket.gpu, ticket.need);
    ticket.state = State::kWaiting;
    queue_.emplace(ticket.order, request);
    set_deadline(request, ticket, std::max(ticket.until, now));
  }
  for (const RequestId request : lost) release(request);
  for (const GpuId gpu : gpus) {
    capacities_.erase(capacities_.find(pool_.at(gpu).blocks));
    pool_.remove(gpu);
  }
  for (const auto& [order, request] : queue_) {
    Ticket& ticket = *tickets_.find(request);
    if (can_never_fit(ticket.need)) set_deadline(request, ticket, now);
  }
  return lost;
}

bool DecodePlacer::can_never_fit(const DecodeNeed& need) const {
  return !capacities_.empty() && *capacities_.rbegin() < need.blocks + limits_.headroom_blocks;
}

Status DecodePlacer::submit(RequestId request, std::uint64_t tokens, Time now, Time until) {
  if (request.value == 0 || tickets_.find(request) != nullptr) {
    return Error{Code::kInvalid, "request " + std::to_string(request.value) +
                                     " has a decode reservation already, or no id"};
  }
  if (queue_.size() >= limits_.waiting_most) {
    return Error{Code::kUnavailable, "the decode queue is full (" +
                                         std::to_string(limits_.waiting_most) +
                                         " requests); try again"};
  }
  const std::uint64_t blocks = tokens / kTokensOfBlock + (tokens % kTokensOfBlock == 0 ? 0 : 1);
  Ticket ticket;
  ticket.need = {tokens, static_cast<std::uint32_t>(std::min(blocks, kBlocksMost)), request.value};
  if (blocks > kBlocksMost || can_never_fit(ticket.need)) {
    return Error{Code::kTooLarge, "no decode GPU holds " + std::to_string(tokens) +
                                      " tokens of KV; shorten the prompt or max_tokens"};
  }
  ticket.order = ++next_order_;
  ticket.since = now;
  ticket.until = until;
  Ticket& kept = tickets_.insert(request, ticket);
  queue_.emplace_hint(queue_.end(), kept.order, request);
  set_deadline(request, kept, until);
  return ok_status();
}

bool DecodePlacer::start(RequestId request, std::uint32_t generation) {
  Ticket* ticket = tickets_.find(request);
  if (ticket == nullptr || ticket->generation != generation) return false;
  if (ticket->state == State::kWaiting) return false;
  if (ticket->state == State::kHeld) ++started_;
  ticket->state = State::kStarted;
  return true;
}

std::optional<DecodePlacer::Placement> DecodePlacer::held(RequestId request) const {
  const Ticket* ticket = tickets_.find(request);
  if (ticket == nullptr || ticket->state != State::kHeld) return std::nullopt;
  return Placement{request, ticket->gpu, ticket->generation};
}

void DecodePlacer::release(RequestId request) {
  Ticket* ticket = tickets_.find(request);
  if (ticket == nullptr) return;
  if (ticket->state == State::kWaiting) {
    queue_.erase(ticket->order);
  } else {
    pool_.release(ticket->gpu, ticket->need);
  }
  if (ticket->state == State::kStarted) --started_;
  tickets_.erase(request);
}

void DecodePlacer::set_deadline(RequestId request, Ticket& ticket, Time at) {
  ticket.deadline = at;
  deadlines_.push(at, request, tickets_.size() - started_,
                  [&](const auto& entry) { return holds(entry); });
}

bool DecodePlacer::holds(const DeadlineHeap::Entry& deadline) const {
  const Ticket* ticket = tickets_.find(deadline.second);
  return ticket != nullptr && ticket->state != State::kStarted &&
         ticket->deadline == deadline.first;
}

std::optional<Time> DecodePlacer::next_deadline() {
  const auto first = deadlines_.first([&](const auto& entry) { return holds(entry); });
  if (!first) return std::nullopt;
  return first->first;
}

std::uint64_t DecodePlacer::level_of_round(std::size_t& run) const {
  std::uint64_t blocks = 0;
  std::uint64_t tokens = pool_.tokens();
  run = 0;
  for (const auto& [order, request] : queue_) {
    const DecodeNeed& need = tickets_.find(request)->need;
    blocks += need.blocks;
    if (blocks > pool_.blocks_free() || run >= pool_.rows_free()) break;
    tokens += need.tokens;
    ++run;
  }
  const double mean = static_cast<double>(tokens) / std::max(1u, pool_.size());
  return static_cast<std::uint64_t>(limits_.slack * mean);
}

bool DecodePlacer::place(RequestId request, Ticket& ticket, std::uint64_t level, Time now,
                         std::vector<Placement>& placed) {
  DecodeNeed with_headroom = ticket.need;
  with_headroom.blocks += limits_.headroom_blocks;
  const auto gpu = policy_.choose(pool_, with_headroom, level);
  if (!gpu) return false;
  pool_.reserve(*gpu, ticket.need);
  ticket.gpu = *gpu;
  ++ticket.generation;
  set_deadline(request, ticket, now + limits_.hold);
  ticket.state = State::kHeld;
  placed.push_back({request, *gpu, ticket.generation});
  return true;
}

std::vector<DecodePlacer::Placement> DecodePlacer::round(Time now) {
  std::vector<Placement> placed;
  if (queue_.empty() || pool_.size() == 0) return placed;
  std::size_t run = 0;
  const std::uint64_t level = level_of_round(run);
  while (!queue_.empty()) {
    const auto head = queue_.begin();
    Ticket& ticket = *tickets_.find(head->second);
    if (run == 0 || !place(head->second, ticket, level, now, placed)) {
      bypass(ticket, std::next(head), level, now, placed);
      break;
    }
    --run;
    queue_.erase(head);
  }
  return placed;
}

void DecodePlacer::bypass(const Ticket& head, Queue::iterator from, std::uint64_t level, Time now,
                          std::vector<Placement>& placed) {
  if (now - head.since >= limits_.bypass_age) return;
  for (std::uint32_t i = 0; i < limits_.bypass_depth && from != queue_.end(); ++i) {
    const auto at = from++;
    Ticket& ticket = *tickets_.find(at->second);
    if (ticket.need.tokens * limits_.bypass_share > head.need.tokens) continue;
    if (place(at->second, ticket, level, now, placed)) queue_.erase(at);
  }
}

std::vector<DecodePlacer::Ended> DecodePlacer::expire(Time now) {
  std::vector<Ended> ended;
  while (const auto next = next_deadline()) {
    if (*next > now) break;
    const RequestId request = deadlines_.first([](const auto&) { return true; })->second;
    ended.push_back({request, tickets_.find(request)->state == State::kWaiting});
    release(request);
  }
  return ended;
}

}  // namespace troupe
