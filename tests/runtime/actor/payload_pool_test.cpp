#include "runtime/actor/payload_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "runtime/actor/short_list.hpp"
#include "runtime/actor/system_messages.hpp"

namespace troupe {
namespace {

TEST(PayloadPool, PayloadsCrossThreadsAndOutliveThem) {
  constexpr int kMany = 20'000;  // more than a list keeps
  std::vector<Message> made;
  std::thread maker([&] {
    for (int i = 0; i < kMany; ++i) {
      made.push_back(make_message<TimerFired>(TimerTag{1, static_cast<std::uint64_t>(i)}));
    }
  });
  maker.join();
  for (int i = 0; i < kMany; ++i) {
    ASSERT_EQ(made[static_cast<std::size_t>(i)].as<TimerFired>()->tag.key,
              static_cast<std::uint64_t>(i));
  }
  std::thread taker([&] { made.clear(); });
  taker.join();
  EXPECT_EQ(make_message<TimerFired>(TimerTag{2, 3}).as<TimerFired>()->tag.key, 3u);
}

TEST(PayloadPool, BlocksOfEverySizeAreApart) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t size = 1; size <= 2 * PayloadPool::kLargest; size += 7) {
      auto* const block = static_cast<unsigned char*>(PayloadPool::take(size));
      std::fill(block, block + size, static_cast<unsigned char>(size));
      blocks.emplace_back(block, size);
    }
    for (const auto& [block, size] : blocks) {
      ASSERT_TRUE(std::all_of(block, block + size, [s = size](unsigned char byte) {
        return byte == static_cast<unsigned char>(s);
      }));
      PayloadPool::give(block, size);
    }
    blocks.clear();
  }
}

TEST(ShortList, AgreesWithASetThroughItsMoveOutside) {
  Rng rng(5);
  ShortList<int, 2> list;
  std::vector<int> model;
  for (int i = 0; i < 5000; ++i) {
    if (model.empty() || (model.size() < 6 && rng.chance(0.5))) {
      list.push_back(i);
      model.push_back(i);
    } else {
      const int victim = model[rng.below(model.size())];
      std::erase(model, victim);
      list.erase_unordered(std::find(list.begin(), list.end(), victim));
    }
    std::vector<int> have(list.begin(), list.end());
    std::sort(have.begin(), have.end());
    ASSERT_EQ(have, model);
  }
}

}  // namespace
}  // namespace troupe
