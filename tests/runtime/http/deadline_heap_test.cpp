// Deadlines come up in order, at most late, and not for those who are gone.
#include "runtime/http/deadline_heap.hpp"

#include <gtest/gtest.h>

namespace troupe::http {
namespace {

struct Owner {
  int name = 0;
};

TEST(DeadlineHeap, ComesUpInOrderAndOnce) {
  DeadlineHeap<Owner> heap;
  std::vector<std::shared_ptr<Owner>> owners;
  for (int at : {5, 1, 4, 2, 3}) {
    owners.push_back(std::make_shared<Owner>(Owner{at}));
    heap.push(Time(at), owners.back());
  }
  std::vector<int> due;
  const auto note = [&](Owner& owner) { due.push_back(owner.name); };
  heap.pop_due(Time(0), note);
  EXPECT_TRUE(due.empty());
  heap.pop_due(Time(3), note);
  EXPECT_EQ(due, (std::vector<int>{1, 2, 3}));
  heap.pop_due(Time(9), note);
  EXPECT_EQ(due, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(heap.empty());
}

TEST(DeadlineHeap, TheGoneAreNotCalledAndNewOnesWait) {
  DeadlineHeap<Owner> heap;
  auto stays = std::make_shared<Owner>(Owner{1});
  heap.push(Time(1), stays);
  heap.push(Time(1), std::make_shared<Owner>(Owner{2}));
  int calls = 0;
  heap.pop_due(Time(1), [&](Owner& owner) {
    ++calls;
    EXPECT_EQ(owner.name, 1);
    heap.push(Time(1), stays);  // due again at once, but not within this call
  });
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(heap.empty());
}

}  // namespace
}  // namespace troupe::http
