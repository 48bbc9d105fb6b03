// Local ids: different for all actors, neighbours where tables of them want neighbours.
#include "runtime/actor/ref.hpp"

#include <gtest/gtest.h>

#include <set>

namespace troupe {
namespace {

ActorRef root(std::uint32_t node, std::uint64_t name) {
  return {NodeId(node), 1, root_id(NodeId(node), name), 1};
}

ActorRef child(const ActorRef& parent, std::uint64_t counter, std::uint32_t life = 1) {
  return {parent.node, parent.incarnation, child_id(parent, counter), life};
}

TEST(LocalIds, AreDifferentForRootsChildrenAndGrandchildren) {
  std::set<std::uint64_t> ids;
  std::set<std::uint64_t> hashes;
  std::size_t made = 0;
  const auto add = [&](const ActorRef& ref) {
    ids.insert(ref.local);
    hashes.insert(hash_of(ref));
    ++made;
  };
  for (std::uint32_t node = 0; node < 200; ++node) {
    for (std::uint64_t name = 1; name <= 4; ++name) {
      const ActorRef parent = root(node, name);
      add(parent);
      // More than a block of neighbours for some.
      const std::uint64_t children = node % 50 == 0 ? 10'000 : 3;
      for (std::uint64_t counter = 1; counter <= children; ++counter) {
        add(child(parent, counter));
        if (counter > 3) continue;
        add(child(child(parent, counter), 1));
        add(child(child(parent, counter), 2));
      }
    }
  }
  EXPECT_EQ(ids.size(), made);
  EXPECT_EQ(hashes.size(), made);
  EXPECT_FALSE(ids.contains(0));
  EXPECT_FALSE(hashes.contains(0));
}

TEST(LocalIds, AnotherLifeHasOtherChildrenAndAnotherHash) {
  const ActorRef first = root(3, 1);
  ActorRef second = first;
  second.life = 2;
  EXPECT_NE(hash_of(first), hash_of(second));
  EXPECT_NE(child_id(first, 1), child_id(second, 1));
  EXPECT_NE(child_id(first, 7), child_id(second, 7));
}

TEST(LocalIds, WhatComesTogetherAreNeighbours) {
  const auto block = [](std::uint64_t id) { return id / kNeighbours; };
  const ActorRef parent = root(0, 2);
  EXPECT_EQ(child_id(parent, 101), child_id(parent, 100) + 1) << "children in sequence";
  EXPECT_EQ(block(root(5, 1).local), block(root(6, 1).local)) << "roots of nodes";
  EXPECT_EQ(block(child_id(root(5, 1), 1)), block(child_id(root(6, 1), 1))) << "first children";
  EXPECT_EQ(block(hash_of(root(5, 1))), block(hash_of(root(6, 1))));
  EXPECT_EQ(block(hash_of(child(parent, 100))), block(hash_of(child(parent, 101))));
}

}  // namespace
}  // namespace troupe
