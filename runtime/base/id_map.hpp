// A map from ids that are given out in sequence: requests, exchanges, children of an actor.
//
// Why: a core holds a row a request, and of ten thousands of live ones each look-up in a hash table
// is a cache miss before the row's own. Ids of the same time are neighbours. So rows lie in pages
// of kPage neighbours, and what is searched is the page: a table that is sixteen times smaller and
// stays in the cache. Requests that come together share lines; nobody else's row is touched when
// one comes or goes.
//
// Any key does; keys without neighbours take a page each (sixteen times the memory of a row).
//
// Order: pages as they were begun, within them by key: for ids in sequence that is their order.
// Nothing depends on a hash, so that the same events give the same order.
//
// Keys are numbers, or have a function hash_of() that gives different 64-bit numbers for keys that
// can be here together, and neighbours for neighbours. Pointers are valid until their entry is
// erased. Nothing may be erased or inserted during an iteration. Not thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
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
class IdMap {
 public:
  using Item = std::pair<const Key, Value>;

  IdMap() = default;
  IdMap(IdMap&& other) { *this = std::move(other); }
  IdMap& operator=(IdMap&& other) {
    clear();
    index_ = std::move(other.index_);
    pages_ = std::move(other.pages_);
    links_ = std::move(other.links_);
    unused_ = std::move(other.unused_);
    first_ = std::exchange(other.first_, kNone);
    last_ = std::exchange(other.last_, kNone);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~IdMap() { clear(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(const Key& key) const { return find(key) != nullptr; }

  /// nullptr: it is not there.
  Value* find(const Key& key) {
    const std::uint64_t id = hash_of(key);
    const PageAt* at = index_.find(page_key(id));
    if (at == nullptr || (at->used >> slot_of(id) & 1) == 0) return nullptr;
    return &item(at->page, slot_of(id)).second;
  }
  const Value* find(const Key& key) const { return const_cast<IdMap*>(this)->find(key); }
  /// Requires: it is there.
  Value& at(const Key& key) {
    Value* value = find(key);
    TROUPE_ASSERT(value != nullptr, "at() needs a key that is there");
    return *value;
  }
  const Value& at(const Key& key) const { return const_cast<IdMap*>(this)->at(key); }

  /// Requires: it is not there.
  Value& insert(const Key& key, Value value) {
    const std::uint64_t id = hash_of(key);
    PageAt* at = index_.find(page_key(id));
    if (at == nullptr) at = &begin_page(page_key(id));
    const unsigned slot = slot_of(id);
    TROUPE_ASSERT((at->used >> slot & 1) == 0, "the key is already in the map");
    Item* made = std::construct_at(&item(at->page, slot), key, std::move(value));
    at->used = static_cast<std::uint16_t>(at->used | 1u << slot);
    ++size_;
    return made->second;
  }
  Value& operator[](const Key& key) {
    Value* value = find(key);
    return value == nullptr ? insert(key, Value()) : *value;
  }

  /// False: it was not there.
  bool erase(const Key& key) {
    const std::uint64_t id = hash_of(key);
    PageAt* at = index_.find(page_key(id));
    const unsigned slot = slot_of(id);
    if (at == nullptr || (at->used >> slot & 1) == 0) return false;
    at->used = static_cast<std::uint16_t>(at->used & ~(1u << slot));
    const std::uint32_t page = at->page;
    if (at->used == 0) end_page(*at, page_key(id));
    --size_;
    std::destroy_at(&item(page, slot));
    return true;
  }

  template <class Map, class Pointed>
  class Cursor {
   public:
    Cursor(Map* map, std::uint32_t page) : map_(map), page_(page) { enter(); }
    Pointed& operator*() const {
      return map_->item(page_, static_cast<unsigned>(std::countr_zero(left_)));
    }
    Pointed* operator->() const { return &**this; }
    Cursor& operator++() {
      left_ = static_cast<std::uint16_t>(left_ & (left_ - 1));
      if (left_ == 0) {
        page_ = map_->links_[page_].after;
        enter();
      }
      return *this;
    }
    friend bool operator==(const Cursor& a, const Cursor& b) {
      return a.page_ == b.page_ && a.left_ == b.left_;
    }

   private:
    void enter() { left_ = page_ == kNone ? 0 : map_->index_.find(map_->links_[page_].key)->used; }
    Map* map_;
    std::uint32_t page_;
    std::uint16_t left_ = 0;  ///< slots of the page that are still to come
  };
  auto begin() { return Cursor<IdMap, Item>(this, first_); }
  auto end() { return Cursor<IdMap, Item>(this, kNone); }
  auto begin() const { return Cursor<const IdMap, const Item>(this, first_); }
  auto end() const { return Cursor<const IdMap, const Item>(this, kNone); }

 private:
  static constexpr unsigned kPageBits = 4;
  static constexpr unsigned kPage = 1u << kPageBits;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct PageAt {
    std::uint32_t page = 0;
    std::uint16_t used = 0;  ///< a bit a slot; never 0 between calls
  };
  struct Links {
    std::uint64_t key = 0;
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };
  struct Page {
    Page() {}  // its items are made one by one
    alignas(Item) std::byte items[kPage][sizeof(Item)];
  };

  /// 0 marks an empty cell of the index.
  static std::uint64_t page_key(std::uint64_t id) { return (id >> kPageBits) + 1; }
  static unsigned slot_of(std::uint64_t id) { return static_cast<unsigned>(id % kPage); }
  Item& item(std::uint32_t page, unsigned slot) {
    return *reinterpret_cast<Item*>(pages_[page].items[slot]);
  }
  const Item& item(std::uint32_t page, unsigned slot) const {
    return const_cast<IdMap*>(this)->item(page, slot);
  }

  PageAt& begin_page(std::uint64_t key) {
    std::uint32_t page;
    if (unused_.empty()) {
      page = static_cast<std::uint32_t>(pages_.size());
      pages_.emplace_back();
      links_.emplace_back();
    } else {
      page = unused_.back();
      unused_.pop_back();
    }
    links_[page] = {key, last_, kNone};
    (last_ == kNone ? first_ : links_[last_].after) = page;
    last_ = page;
    return index_.insert(key, {page, 0});
  }
  void end_page(const PageAt& at, std::uint64_t key) {
    const std::uint32_t page = at.page;
    const Links& ended = links_[page];
    (ended.before == kNone ? first_ : links_[ended.before].after) = ended.after;
    (ended.after == kNone ? last_ : links_[ended.after].before) = ended.before;
    unused_.push_back(page);
    index_.erase(key);
  }
  void clear() {
    for (std::uint32_t page = first_; page != kNone; page = links_[page].after) {
      const std::uint16_t used = index_.find(links_[page].key)->used;
      for (unsigned slot = 0; slot < kPage; ++slot) {
        if ((used >> slot & 1) != 0) std::destroy_at(&item(page, slot));
      }
    }
  }

  FlatMap<PageAt> index_;  ///< by page_key()
  std::deque<Page> pages_;
  std::vector<Links> links_;  ///< of each page
  std::vector<std::uint32_t> unused_;
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
  std::size_t size_ = 0;
};

}  // namespace troupe
