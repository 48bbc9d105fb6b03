#include "runtime/http/shard.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"
#include "runtime/http/connection.hpp"

namespace troupe::http {
namespace {

/// Exchange numbers are unique in the process; a shard takes so many at a time.
constexpr std::uint64_t kNumbersTaken = 4096;
std::atomic<std::uint64_t> next_numbers{1};

}  // namespace

Shard::Shard(ServerShared& shared, std::uint64_t index)
    : shared_(shared), index_(index), random_(mix64(shared.trace_seed, index)) {
  TROUPE_ASSERT(index < kShardsMax, "a session id has room for so many shards");
}

Shard::~Shard() {
  loop.stop();
}

void Shard::start() {
  loop.start({.after_batch =
                  [this] {
                    for (const auto& connection : dirty_) connection->flush();
                    dirty_.clear();
                  },
              .on_tick =
                  [this](Time now) {
                    deadlines_.pop_due(now, [now](Connection& due) { due.on_due(now); });
                  },
              .wants_tick = [this] { return !deadlines_.empty(); }});
}

void Shard::adopt(boost::asio::ip::tcp::socket socket) {
  const Limits& limits = shared_.limits;
  const auto refusing = shared_.connections_refusing.load();
  const bool full = shared_.connections_open.load() - refusing >= limits.connections_max;
  shared_.connections_total.fetch_add(1);
  if (full) {
    shared_.connections_rejected.fetch_add(1);
    if (refusing >= kRefusingMax) return;
    shared_.connections_refusing.fetch_add(1);
  }
  shared_.connections_open.fetch_add(1);
  auto connection = std::make_shared<Connection>(*this, std::move(socket));
  connections_.emplace(connection.get(), connection);
  if (!full) return connection->start();
  connection->start_refused({503,
                             "too_many_connections",
                             "the server has too many connections: try again",
                             {{"retry-after", "1"}}});
}

void Shard::queue_deadline(Connection& connection, Time at) {
  deadlines_.push(at, connection.weak_from_this());
  loop.ensure_tick();
}

std::vector<std::shared_ptr<Connection>> Shard::all() const {
  std::vector<std::shared_ptr<Connection>> list;
  list.reserve(connections_.size());
  for (const auto& [key, connection] : connections_) list.push_back(connection);
  return list;
}

void Shard::drain() {
  for (const auto& connection : all()) connection->drain();
}

void Shard::close_all() {
  for (const auto& connection : all()) connection->force_close();
  TROUPE_ASSERT(connections_.empty() && exchanges_.empty(), "all connections were closed");
}

std::shared_ptr<Connection> Shard::find(SessionId session) const {
  const auto exchange = exchanges_.find(session);
  if (exchange == exchanges_.end()) return nullptr;
  return connections_.at(exchange->second);
}

std::uint64_t Shard::next_exchange_number() {
  if (next_number_ == numbers_end_) {
    next_number_ = next_numbers.fetch_add(kNumbersTaken, std::memory_order_relaxed);
    numbers_end_ = next_number_ + kNumbersTaken;
  }
  return next_number_++;
}

SessionId Shard::open_exchange(Connection& connection) {
  const SessionId session(next_exchange_number() * kShardsMax + index_);
  exchanges_.emplace(session, &connection);
  counters_.exchanges_open.add(1);
  counters_.requests.add(1);
  return session;
}

void Shard::close_exchange(SessionId session) {
  const auto erased = exchanges_.erase(session);
  TROUPE_ASSERT(erased == 1, "an exchange ends once");
  counters_.exchanges_open.subtract(1);
}

TraceContext Shard::trace_of(const Request& head) {
  if (shared_.trace_seed == 0) return {};
  const auto named = [](const auto& field) { return field.first == "traceparent"; };
  const auto& headers = head.headers;
  const auto first = std::find_if(headers.begin(), headers.end(), named);
  // Two of them are as invalid as a broken one.
  const bool one = first != headers.end() && std::none_of(first + 1, headers.end(), named);
  const auto caller = one ? parse_traceparent(first->second) : std::nullopt;
  const std::uint64_t span = random_.next() | 1;  // not 0
  if (caller) return child_of(*caller, span);
  return {random_.next(), random_.next() | 1, span, 0, false};
}

void Shard::mark_dirty(Connection& connection) {
  dirty_.push_back(connection.shared_from_this());
}

void Shard::remove(Connection& connection, bool refused) {
  if (refused) shared_.connections_refusing.fetch_sub(1);
  connections_.erase(&connection);
  if (shared_.connections_open.fetch_sub(1) == 1) {
    const std::lock_guard lock(shared_.mutex);
    shared_.all_closed.notify_all();
  }
}

}  // namespace troupe::http
