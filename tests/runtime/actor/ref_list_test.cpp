// Lists of references and of timers, short and long: the same answers as a plain list gives.
#include "runtime/actor/ref_list.hpp"

#include <gtest/gtest.h>

#include "runtime/actor/timer_book.hpp"

namespace troupe {
namespace {

ActorRef ref_of(std::uint64_t local, std::uint32_t life = 1) {
  return ActorRef{NodeId(0), 1, local, life};
}

std::vector<ActorRef> sorted(std::vector<ActorRef> refs) {
  std::sort(refs.begin(), refs.end());
  return refs;
}

TEST(RefList, HoldsWhatWasAdded) {
  RefList<4> list;
  RefList<4> same;
  std::vector<ActorRef> expected;
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const ActorRef ref = ref_of(1 + rng.below(200), 1 + static_cast<std::uint32_t>(rng.below(2)));
    const auto at = std::find(expected.begin(), expected.end(), ref);
    // More is added than erased in the first half, so that the list grows long and short again.
    if (rng.chance(i < 10'000 ? 0.6 : 0.3)) {
      EXPECT_EQ(list.add(ref), at == expected.end());
      same.add(ref);
      if (at == expected.end()) expected.push_back(ref);
    } else {
      EXPECT_EQ(list.erase(ref), at != expected.end());
      same.erase(ref);
      if (at != expected.end()) expected.erase(at);
    }
    ASSERT_EQ(list.size(), expected.size());
    if (i % 97 == 0) {
      ASSERT_EQ(sorted(list.all()), sorted(expected));
      ASSERT_EQ(list.all(), same.all()) << "the order depends on the calls alone";
    }
  }
}

TEST(TimerBook, FindsByTag) {
  TimerBook book;
  std::map<TimerTag, std::uint32_t> expected;
  Rng rng(2);
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const TimerTag tag{static_cast<std::uint32_t>(rng.below(3)), rng.below(40)};
    TimerBook::Timer* found = book.find(tag);
    const auto at = expected.find(tag);
    ASSERT_EQ(found != nullptr, at != expected.end());
    if (found == nullptr) {
      if (!rng.chance(i < 10'000 ? 0.8 : 0.2)) continue;
      book.add({tag, {i}});
      expected[tag] = i;
    } else {
      ASSERT_EQ(found->event.slot, at->second);
      if (rng.chance(0.5)) continue;
      book.erase(found);
      expected.erase(at);
    }
    ASSERT_EQ(book.size(), expected.size());
  }
  for (const auto& timer : book) EXPECT_EQ(expected.at(timer.tag), timer.event.slot);
}

}  // namespace
}  // namespace troupe
