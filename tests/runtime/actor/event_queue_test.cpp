#include "runtime/actor/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/actor/system_messages.hpp"

namespace troupe {
namespace {

Event event(std::uint64_t key) {
  return Event{{}, EventKind::kDone, 0, key};
}

TEST(EventQueue, PopsByTimeThenBySequence) {
  EventQueue queue(0);
  queue.push(Time(5), event(1));
  queue.push(Time(3), event(2));
  queue.push(Time(5), event(3));
  queue.push(Time(3), event(4));
  std::vector<std::uint64_t> order;
  while (!queue.empty()) order.push_back(queue.pop().key);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 4, 1, 3}));
}

TEST(EventQueue, RemoveAgreesWithASortedList) {
  Rng rng(3);
  EventQueue queue(0);
  std::vector<std::pair<std::int64_t, std::uint64_t>> model;
  std::vector<std::pair<EventHandle, std::uint64_t>> handles;
  std::int64_t now = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    // Ties, and all distances up to seconds: soon, in fine buckets, in coarse ones.
    const std::int64_t due = now + (static_cast<std::int64_t>(rng.below(1000)) << rng.below(25));
    handles.emplace_back(queue.push(Time(due), event(i)), i);
    model.emplace_back(due, i);
    // Time goes on, so that keys move from bucket to bucket while their handles say where they
    // were.
    if (rng.chance(0.2)) {
      const auto first = std::min_element(model.begin(), model.end());
      now = first->first;
      const std::uint64_t key = first->second;
      ASSERT_EQ(queue.pop().key, key);
      model.erase(first);
      std::erase_if(handles, [&](const auto& handle) { return handle.second == key; });
    }
    if (rng.chance(0.4) && !handles.empty()) {
      const std::size_t victim = rng.below(handles.size());
      queue.remove(handles[victim].first);
      const std::uint64_t key = handles[victim].second;
      std::erase_if(model, [&](const auto& entry) { return entry.second == key; });
      handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  std::sort(model.begin(), model.end());
  ASSERT_EQ(queue.size(), model.size());
  for (const auto& [due, key] : model) {
    EXPECT_EQ(queue.next_due(), Time(due));
    ASSERT_EQ(queue.pop().key, key);
  }
}

TEST(EventQueue, CancelledDeadlinesTakeNoMemory) {
  Rng rng(5);
  EventQueue queue(0);
  std::vector<EventHandle> handles;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto due = static_cast<std::int64_t>(10'000'000'000 + rng.below(1'000'000'000));
    handles.push_back(queue.push(Time(due), event(i)));
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (i % 1'000 == 0) {
      handles[left++] = handles[i];
    } else {
      queue.remove(handles[i]);
    }
  }
  EXPECT_EQ(queue.size(), left);
  EXPECT_LE(queue.keys(), 4 * left) << "a bucket is at most three quarters marks";
  for (std::size_t i = 0; i < left; ++i) queue.remove(handles[i]);
  EXPECT_EQ(queue.size(), 0u) << "handles hold although their keys have moved";
  EXPECT_EQ(queue.keys(), 0u);
}

TEST(EventQueue, MessagesInLanesAgreeWithASortedList) {
  using Travel = EventQueue::Travel;
  for (const std::uint64_t explore : {0, 5}) {
    Rng rng(7);
    EventQueue queue(explore);
    EventQueue plain(explore);
    std::int64_t now = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      // As a world sends: mostly in order, bursts of one sender, and some that come much earlier.
      const bool remote = rng.chance(0.3);
      std::int64_t due = now + (remote ? 50'000 : 1'000);
      if (rng.chance(0.2)) due += static_cast<std::int64_t>(rng.below(100));
      if (rng.chance(0.02)) due = now + 1 + static_cast<std::int64_t>(rng.below(500));
      if (rng.chance(0.1)) {
        queue.push(Time(due), event(i));
      } else {
        queue.push_message(Time(due), remote ? Travel::kRemote : Travel::kLocal, event(i));
      }
      plain.push(Time(due), event(i));
      ASSERT_EQ(queue.size(), plain.size());
      if (!rng.chance(0.5)) continue;
      ASSERT_EQ(queue.next_due(), plain.next_due());
      now = queue.next_due().value;
      ASSERT_EQ(queue.pop().key, plain.pop().key);
    }
    while (!queue.empty()) {
      ASSERT_EQ(queue.first().due, plain.next_due());
      ASSERT_EQ(queue.take(queue.first()).key, plain.pop().key);
    }
    EXPECT_TRUE(plain.empty());
  }
}

TEST(EventQueue, ExploredTiesChangeOrderButNotTime) {
  auto order = [](std::uint64_t seed) {
    EventQueue queue(seed);
    for (std::uint64_t i = 0; i < 50; ++i) queue.push(Time(1), event(i));
    queue.push(Time(2), event(99));
    std::vector<std::uint64_t> keys;
    while (!queue.empty()) keys.push_back(queue.pop().key);
    return keys;
  };
  EXPECT_EQ(order(7), order(7));
  EXPECT_NE(order(7), order(8));
  EXPECT_EQ(order(7).back(), 99u);
}

}  // namespace
}  // namespace troupe
