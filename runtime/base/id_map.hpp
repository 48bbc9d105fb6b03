// A map from ids that are given out in sequence: requests, exchanges, children of an actor.
//
// Why: a core holds a row a request, and of ten thousands of live ones each look-up in a hash table
// is a cache miss before the row's own. Ids of the same time are neighbours. So rows lie in pages
// of 64 neighbours, and where 64 neighbouring pages are stands side by side, a chapter: a cache
// line for 256 rows. What is searched is the chapter, one of a few dozen. Requests that come
// together share lines; nobody else's row is touched when one comes or goes.
//
// Any key does; keys without neighbours take a page and a chapter each (64 times the memory of a
// row, and a kilobyte). One that stays long after its neighbours keeps its page, too.
//
// A row is far away in memory when there are many. Who knows early that it will be wanted calls
// fetch(): the line is there when it is.
//
// Order: pages as they were begun, within them by key: for ids in sequence that is their order.
// Nothing depends on a hash, so that the same events give the same order.
//
// Keys are numbers, or have a function hash_of() that gives different 64-bit numbers for keys that
// can be here together, and neighbours for neighbours. Pointers are valid until their entry is
// erased. Nothing may be erased or inserted during an iteration. Not thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/fetch.hpp"
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
  static constexpr unsigned kPageBits = 6;
  static constexpr unsigned kPage = 1u << kPageBits;

 public:
  using Item = std::pair<const Key, Value>;

 private:
  struct Page {
    Page() {}  // its items are made one by one
    Item& item(unsigned slot) { return *reinterpret_cast<Item*>(items[slot]); }
    std::uint64_t first = 0;  ///< id
    Page* before = nullptr;
    Page* after = nullptr;
    alignas(Item) std::byte items[kPage][sizeof(Item)];
  };

 public:
  IdMap() = default;
  IdMap(IdMap&& other) { *this = std::move(other); }
  IdMap& operator=(IdMap&& other) {
    clear();
    chapters_ = std::move(other.chapters_);
    pages_ = std::move(other.pages_);
    unused_ = std::move(other.unused_);
    first_ = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
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
    const Chapter* chapter = chapter_of(id);
    if (chapter == nullptr) return nullptr;
    Item* const item = chapter->of(id).find(id);
    return item == nullptr ? nullptr : &item->second;
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
  Value& insert(const Key& key, Value value) { return put(key, key, std::move(value)); }
  /// Begins to bring the row of a key into the cache, if it is there: so much of it.
  void fetch(const Key& key, std::size_t bytes = sizeof(Item)) const {
    const std::uint64_t id = hash_of(key);
    const Chapter* chapter = chapter_of(id);
    if (chapter == nullptr) return;
    // Of a page that has ended the memory is still there.
    Page* const page = chapter->of(id).page;
    if (page != nullptr) fetch_lines(&page->item(slot_of(id)), bytes);
  }
  /// The same of what erase() touches of it beside its row.
  void fetch_place(const Key& key) const {
    const std::uint64_t id = hash_of(key);
    if (const Chapter* chapter = chapter_of(id)) fetch_line(&chapter->of(id));
  }
  Value& operator[](const Key& key) {
    Value* value = find(key);
    if (value != nullptr) return *value;
    return put(key, std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>());
  }

  /// False: it was not there.
  bool erase(const Key& key) {
    const std::uint64_t id = hash_of(key);
    Chapter* const chapter = chapter_of(id);
    if (chapter == nullptr) return false;
    PagePlace& place = chapter->of(id);
    Item* const item = place.find(id);
    if (item == nullptr) return false;
    place.used &= ~(std::uint64_t{1} << slot_of(id));
    --size_;
    std::destroy_at(item);
    if (place.used == 0) end_page(*chapter, place);
    return true;
  }

  template <class Pointed>
  class Cursor {
   public:
    Cursor(const IdMap* map, Page* page) : map_(map), page_(page) { enter(); }
    Pointed& operator*() const {
      return page_->item(static_cast<unsigned>(std::countr_zero(left_)));
    }
    Pointed* operator->() const { return &**this; }
    Cursor& operator++() {
      left_ &= left_ - 1;
      if (left_ == 0) {
        page_ = page_->after;
        enter();
      }
      return *this;
    }
    friend bool operator==(const Cursor& a, const Cursor& b) {
      return a.page_ == b.page_ && a.left_ == b.left_;
    }

   private:
    void enter() { left_ = page_ == nullptr ? 0 : map_->used_of(*page_); }
    const IdMap* map_;
    Page* page_;
    std::uint64_t left_ = 0;  ///< slots of the page that are still to come
  };
  auto begin() { return Cursor<Item>(this, first_); }
  auto end() { return Cursor<Item>(this, nullptr); }
  auto begin() const { return Cursor<const Item>(this, first_); }
  auto end() const { return Cursor<const Item>(this, nullptr); }

 private:
  static constexpr unsigned kChapterBits = 6;  ///< pages of a chapter
  struct PagePlace {
    Page* page = nullptr;
    std::uint64_t used = 0;  ///< a bit a slot; 0: there is no page
    /// nullptr: nothing is there.
    Item* find(std::uint64_t id) const {
      return (used >> slot_of(id) & 1) == 0 ? nullptr : &page->item(slot_of(id));
    }
  };
  struct Chapter {
    std::array<PagePlace, 1u << kChapterBits> places{};
    std::uint32_t begun = 0;  ///< pages
    PagePlace& of(std::uint64_t id) { return places[(id >> kPageBits) % places.size()]; }
    const PagePlace& of(std::uint64_t id) const { return const_cast<Chapter*>(this)->of(id); }
  };

  template <class... Args>
  Value& put(const Key& key, Args&&... args) {
    const std::uint64_t id = hash_of(key);
    PagePlace& place = begin_page(id);
    TROUPE_ASSERT(place.find(id) == nullptr, "the key is already in the map");
    Item* made = std::construct_at(&place.page->item(slot_of(id)), std::forward<Args>(args)...);
    place.used |= std::uint64_t{1} << slot_of(id);
    fetch_lines(made + 1, sizeof(Item));  // where the next id's row will be
    ++size_;
    return made->second;
  }

  static unsigned slot_of(std::uint64_t id) { return static_cast<unsigned>(id % kPage); }
  /// 0 marks an empty cell of the index.
  static std::uint64_t chapter_key(std::uint64_t id) {
    return (id >> (kPageBits + kChapterBits)) + 1;
  }
  /// nullptr: nothing of its chapter is there.
  Chapter* chapter_of(std::uint64_t id) const {
    const std::unique_ptr<Chapter>* chapter = chapters_.find(chapter_key(id));
    return chapter == nullptr ? nullptr : chapter->get();
  }
  std::uint64_t used_of(const Page& page) const {
    return chapter_of(page.first)->of(page.first).used;
  }

  /// Where the page of an id is, which is begun if it is not there.
  PagePlace& begin_page(std::uint64_t id) {
    const std::uint64_t key = chapter_key(id);
    std::unique_ptr<Chapter>* chapter = chapters_.find(key);
    if (chapter == nullptr) chapter = &chapters_.insert(key, std::make_unique<Chapter>());
    PagePlace& place = (*chapter)->of(id);
    if (place.used != 0) return place;
    ++(*chapter)->begun;
    if (unused_.empty()) {
      pages_.emplace_back();
      unused_.push_back(&pages_.back());
    }
    Page* const page = unused_.back();
    unused_.pop_back();
    page->first = id - slot_of(id);
    page->before = last_;
    page->after = nullptr;
    (last_ == nullptr ? first_ : last_->after) = page;
    last_ = page;
    place.page = page;
    return place;
  }
  void end_page(Chapter& chapter, const PagePlace& place) {
    const Page& ended = *place.page;
    (ended.before == nullptr ? first_ : ended.before->after) = ended.after;
    (ended.after == nullptr ? last_ : ended.after->before) = ended.before;
    unused_.push_back(place.page);
    if (--chapter.begun == 0) chapters_.erase(chapter_key(ended.first));
  }
  void clear() {
    for (const Page* page = first_; page != nullptr; page = page->after) {
      const std::uint64_t used = used_of(*page);
      for (unsigned slot = 0; slot < kPage; ++slot) {
        if ((used >> slot & 1) != 0) std::destroy_at(&const_cast<Page*>(page)->item(slot));
      }
    }
  }

  FlatMap<std::unique_ptr<Chapter>> chapters_;  ///< by chapter_key()
  std::deque<Page> pages_;
  std::vector<Page*> unused_;
  Page* first_ = nullptr;  ///< of the list of pages, as they were begun
  Page* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace troupe
