// How a live node ends: refuse, drain, end everybody, join. Each stage has a deadline.
#include <chrono>

#include "runtime/actor/live_node.hpp"

namespace troupe {

namespace {

/// How long pool and engine get to join after everybody has ended, and how often the ends are
/// ordered again (a root that was being started when the shutdown began).
constexpr Duration kJoin = milliseconds(500);
constexpr Duration kRound = milliseconds(20);

std::chrono::steady_clock::time_point point(Time at) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at.value));
}

}  // namespace

void leave_behind(std::shared_ptr<void> object) {
  static std::mutex mutex;
  static auto* const left = new std::vector<std::shared_ptr<void>>;
  std::lock_guard lock(mutex);
  left->push_back(std::move(object));
}

void LiveNode::drain_roots(Time until) {
  std::vector<ActorRef> draining;
  for (const auto& [ref, host] : table_.all()) {
    if (host->actor().parent() || !host->actor().drains()) continue;
    draining.push_back(ref);
    send({{}, ref, make_message<Drain>(until - now())});
  }
  std::unique_lock lock(ending_mutex_);
  while (!draining.empty() && now() < until) {
    std::erase_if(draining, [this](const ActorRef& ref) { return !table_.contains(ref); });
    if (!draining.empty()) ending_.wait_until(lock, point(std::min(until, now() + kRound)));
  }
}

bool LiveNode::end_everybody(Time until) {
  auto all_gone = [this] { return hosts_.load() == 0 && launches_->in_flight() == 0; };
  for (;;) {
    for (const auto& [ref, host] : table_.all()) {
      if (host->actor().parent()) continue;
      host->actor().order_end(EndReason::kStopped, "the system is shutting down");
    }
    std::unique_lock lock(ending_mutex_);
    if (ending_.wait_until(lock, point(std::min(until, now() + kRound)), all_gone)) return true;
    if (now() >= until) return hosts_.load() == 0;
  }
}

Status LiveNode::hung() const {
  std::string who;
  for (const auto& [ref, host] : table_.all()) {
    if (!who.empty()) who += ", ";
    who += host->actor().observed().kind;
    who += ' ';
    who += to_string(ref);
  }
  return Error{Code::kHung, "these did not end in time: " + (who.empty() ? "compute jobs" : who)};
}

Status LiveNode::shutdown(Duration drain, Duration force) {
  std::lock_guard one(shutdown_mutex_);
  if (closed_) return ok_status();
  refusing_.store(true);
  if (drain.value > 0) drain_roots(now() + drain);
  const bool ended = end_everybody(now() + force);
  const bool idle = pool_.stop(now() + kJoin);
  if (!ended || !idle) return hung();
  timers_->stop();
  engine_.reset();
  closed_ = true;
  return ok_status();
}

}  // namespace troupe
