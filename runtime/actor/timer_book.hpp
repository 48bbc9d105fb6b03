// The pending timers of one actor of a virtual world, found by their tags.
//
// Most actors have one, which stands in the book itself; an actor with a timer a request has
// ten thousands, for which there is an index. The order has no meaning. Not thread-safe.
#pragma once

#include <algorithm>
#include <memory>

#include "runtime/actor/event_queue.hpp"
#include "runtime/actor/short_list.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/flat_map.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

class TimerBook {
 public:
  struct Timer {
    TimerTag tag;
    EventHandle event;
  };

  /// Requires: no timer has this tag.
  void add(const Timer& timer) {
    list_.push_back(timer);
    if (index_ != nullptr) {
      index_->insert(key_of(timer.tag), static_cast<std::uint32_t>(list_.size() - 1));
    } else if (list_.size() > kSearched) {
      index_ = std::make_unique<FlatMap<std::uint32_t>>();
      std::uint32_t place = 0;
      for (const Timer& one : list_) index_->insert(key_of(one.tag), place++);
    }
  }

  /// nullptr if there is none. Pointers end with the next change.
  Timer* find(const TimerTag& tag) {
    if (index_ != nullptr) {
      const std::uint32_t* place = index_->find(key_of(tag));
      return place == nullptr ? nullptr : list_.begin() + *place;
    }
    Timer* const at = std::find_if(list_.begin(), list_.end(),
                                   [&](const Timer& timer) { return timer.tag == tag; });
    return at == list_.end() ? nullptr : at;
  }

  /// Requires: `at` was found.
  void erase(Timer* at) {
    if (index_ != nullptr) {
      index_->erase(key_of(at->tag));
      const Timer& last = *(list_.end() - 1);
      if (at != &last) {
        *index_->find(key_of(last.tag)) = static_cast<std::uint32_t>(at - list_.begin());
      }
    }
    list_.erase_unordered(at);
  }

  const Timer* begin() const { return list_.begin(); }
  const Timer* end() const { return list_.end(); }
  std::size_t size() const { return list_.size(); }

 private:
  static constexpr std::size_t kSearched = 16;
  static std::uint64_t key_of(const TimerTag& tag) {
    const std::uint64_t key = mix64(tag.key, tag.kind);
    return key == 0 ? 1 : key;
  }

  ShortList<Timer, 1> list_;
  std::unique_ptr<FlatMap<std::uint32_t>> index_;
};

}  // namespace troupe
