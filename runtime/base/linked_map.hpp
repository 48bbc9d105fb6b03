// A map in the order of insertion, found by hash: where a tree's order is not needed, but a fixed
// one is.
//
// Why: a core that holds a row a request looks each of them up several times. In a tree of ten
// thousand entries each look-up is six cache misses; here it is two. Nothing depends on the order
// of a hash table: iteration follows insertion, so that the same events give the same order.
//
// Keys are numbers, or have a function hash_of() that gives different 64-bit numbers for keys that
// can be here together. Pointers and iterators are valid until their entry is erased. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/flat_map.hpp"
#include "runtime/base/strong.hpp"

namespace troupe {

template <class Number>
requires std::is_integral_v<Number>
constexpr std::uint64_t hash_of(Number number) {
  return number;
}
template <class Tag, class Number>
constexpr std::uint64_t hash_of(const Strong<Tag, Number>& id) {
  return id.value;
}

template <class Key, class Value>
class LinkedMap {
 public:
  using Item = std::pair<const Key, Value>;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    std::optional<Item> item;
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };
  template <class Map, class Pointed>
  class Cursor {
   public:
    Cursor(Map* map, std::uint32_t at) : map_(map), at_(at) {}
    Pointed& operator*() const { return *map_->nodes_[at_].item; }
    Pointed* operator->() const { return &**this; }
    Cursor& operator++() {
      at_ = map_->nodes_[at_].after;
      return *this;
    }
    friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }

   private:
    friend LinkedMap;
    Map* map_;
    std::uint32_t at_;
  };

 public:
  using iterator = Cursor<LinkedMap, Item>;
  using const_iterator = Cursor<const LinkedMap, const Item>;

  iterator begin() { return {this, first_}; }
  iterator end() { return {this, kNone}; }
  const_iterator begin() const { return {this, first_}; }
  const_iterator end() const { return {this, kNone}; }
  std::size_t size() const { return index_.size(); }
  bool empty() const { return size() == 0; }

  iterator find(const Key& key) { return {this, place_of(key)}; }
  const_iterator find(const Key& key) const { return {this, place_of(key)}; }
  bool contains(const Key& key) const { return place_of(key) != kNone; }
  /// Requires: it is there.
  Value& at(const Key& key) {
    const std::uint32_t place = place_of(key);
    TROUPE_ASSERT(place != kNone, "at() needs a key that is there");
    return nodes_[place].item->second;
  }

  /// Requires: it is not there.
  Value& emplace(const Key& key, Value value) {
    std::uint32_t place;
    if (unused_.empty()) {
      place = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      place = unused_.back();
      unused_.pop_back();
    }
    index_.insert(hash_of(key), place);
    Node& node = nodes_[place];
    node.item.emplace(key, std::move(value));
    node.before = last_;
    node.after = kNone;
    (last_ == kNone ? first_ : nodes_[last_].after) = place;
    last_ = place;
    return node.item->second;
  }
  Value& operator[](const Key& key) {
    const std::uint32_t place = place_of(key);
    return place == kNone ? emplace(key, Value()) : nodes_[place].item->second;
  }

  void erase(iterator at) {
    Node& node = nodes_[at.at_];
    index_.erase(hash_of(node.item->first));
    (node.before == kNone ? first_ : nodes_[node.before].after) = node.after;
    (node.after == kNone ? last_ : nodes_[node.after].before) = node.before;
    node.item.reset();
    unused_.push_back(at.at_);
  }
  bool erase(const Key& key) {
    const iterator at = find(key);
    if (at == end()) return false;
    erase(at);
    return true;
  }

 private:
  std::uint32_t place_of(const Key& key) const {
    const std::uint32_t* place = index_.find(hash_of(key));
    if (place == nullptr) return kNone;
    TROUPE_ASSERT(nodes_[*place].item->first == key, "keys that are here have different hashes");
    return *place;
  }

  FlatMap<std::uint32_t> index_;
  std::deque<Node> nodes_;
  std::vector<std::uint32_t> unused_;
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
};

}  // namespace troupe
