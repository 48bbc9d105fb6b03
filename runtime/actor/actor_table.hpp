// Who is alive on a live node: local id → host, in shards so that senders rarely meet.
//
// Invariant: an id has at most one live life. Threads: any. No call leaves this class under a lock.
#pragma once

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/actor/hosted_actor.hpp"

namespace troupe {

class ActorTable {
 public:
  /// False: an actor with this id is still alive.
  [[nodiscard]] bool insert(const ActorRef& ref, HostPtr host) {
    Shard& shard = shard_of(ref);
    std::lock_guard lock(shard.mutex);
    return shard.hosts.emplace(ref.local, Row{ref, std::move(host)}).second;
  }

  /// Empty: nobody in that life.
  HostPtr find(const ActorRef& ref) const {
    const Shard& shard = shard_of(ref);
    std::lock_guard lock(shard.mutex);
    const auto row = shard.hosts.find(ref.local);
    if (row == shard.hosts.end() || row->second.ref.life != ref.life) return {};
    return row->second.host;
  }

  bool contains(const ActorRef& ref) const {
    const Shard& shard = shard_of(ref);
    std::lock_guard lock(shard.mutex);
    const auto row = shard.hosts.find(ref.local);
    return row != shard.hosts.end() && row->second.ref.life == ref.life;
  }

  /// Whatever its life.
  HostPtr find_any_life(const ActorRef& ref) const {
    const Shard& shard = shard_of(ref);
    std::lock_guard lock(shard.mutex);
    const auto row = shard.hosts.find(ref.local);
    return row == shard.hosts.end() ? HostPtr{} : row->second.host;
  }

  void erase(const ActorRef& ref) {
    HostPtr dropped;  // released outside of the lock
    Shard& shard = shard_of(ref);
    std::lock_guard lock(shard.mutex);
    const auto row = shard.hosts.find(ref.local);
    if (row == shard.hosts.end()) return;
    dropped = std::move(row->second.host);
    shard.hosts.erase(row);
  }

  /// Everybody, by reference.
  std::vector<std::pair<ActorRef, HostPtr>> all() const {
    std::vector<std::pair<ActorRef, HostPtr>> rows;
    for (const auto& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      for (const auto& [local, row] : shard.hosts) rows.emplace_back(row.ref, row.host);
    }
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return rows;
  }

  std::size_t size() const {
    std::size_t total = 0;
    for (const auto& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      total += shard.hosts.size();
    }
    return total;
  }

 private:
  struct Row {
    ActorRef ref;
    HostPtr host;
  };
  struct Shard {
    alignas(64) mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, Row> hosts;
  };
  static constexpr std::size_t kShards = 64;

  Shard& shard_of(const ActorRef& ref) { return shards_[ref.local % kShards]; }
  const Shard& shard_of(const ActorRef& ref) const { return shards_[ref.local % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace troupe
