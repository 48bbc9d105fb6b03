// A hash map from non-zero 64-bit keys for hot look-ups: open addressing, linear probing.
//
// Why: the simulation looks up an actor for every event; std::unordered_map chases a pointer each
// time. for_each() has no order that means anything: nothing may depend on that of a hash table.
//
// Pointers into the map are valid until the next insert or erase. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/assert.hpp"
#include "runtime/base/fetch.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

template <class Value>
class FlatMap {
 public:
  FlatMap() : cells_(16) {}

  Value* find(std::uint64_t key) {
    for (std::size_t i = home(key);; i = next(i)) {
      if (cells_[i].key == 0) return nullptr;
      if (cells_[i].key == key) return &cells_[i].value;
    }
  }

  const Value* find(std::uint64_t key) const { return const_cast<FlatMap*>(this)->find(key); }

  /// Requires: it is there.
  const Value& at(std::uint64_t key) const {
    const Value* value = find(key);
    TROUPE_ASSERT(value != nullptr, "at() needs a key that is there");
    return *value;
  }

  /// Requires: key != 0 and not present.
  Value& insert(std::uint64_t key, Value value) {
    TROUPE_ASSERT(key != 0, "key 0 marks an empty cell");
    if ((size_ + 1) * 2 > cells_.size()) grow();
    ++size_;
    return place(key, std::move(value));
  }

  bool erase(std::uint64_t key) {
    std::size_t hole = home(key);
    while (cells_[hole].key != key) {
      if (cells_[hole].key == 0) return false;
      hole = next(hole);
    }
    // Close the gap: move back every later cell of the run that may stand here.
    for (std::size_t i = next(hole); cells_[i].key != 0; i = next(i)) {
      const std::size_t distance_i = (i - home(cells_[i].key)) & mask();
      const std::size_t distance_hole = (i - hole) & mask();
      if (distance_i >= distance_hole) {
        cells_[hole] = std::move(cells_[i]);
        hole = i;
      }
    }
    cells_[hole] = Cell{};
    --size_;
    return true;
  }

  /// Begins to bring the place of a key into the cache.
  void fetch(std::uint64_t key) const { fetch_lines(&cells_[home(key)], sizeof(Cell)); }

  std::size_t size() const { return size_; }
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  /// In any order: sort what you collect.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Cell& cell : cells_) {
      if (cell.key != 0) visit(cell.key, cell.value);
    }
  }

 private:
  struct Cell {
    std::uint64_t key = 0;
    Value value{};
  };

  std::size_t mask() const { return cells_.size() - 1; }
  std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15ull >> 20) & mask(); }
  std::size_t next(std::size_t i) const { return (i + 1) & mask(); }

  Value& place(std::uint64_t key, Value value) {
    std::size_t i = home(key);
    while (cells_[i].key != 0) {
      TROUPE_ASSERT(cells_[i].key != key, "the key is already in the map");
      i = next(i);
    }
    cells_[i].key = key;
    cells_[i].value = std::move(value);
    return cells_[i].value;
  }

  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (auto& cell : old) {
      if (cell.key != 0) place(cell.key, std::move(cell.value));
    }
  }

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
};

}  // namespace troupe
