// The seed's rule for images.
#include "actors/vision_balancer/vision_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "actors/vision_balancer/image_tokens.hpp"

namespace troupe {
namespace {

TEST(VisionPool, PatchesAreCountedWithCutOnes) {
  EXPECT_EQ(*patches_of({224, 224}, 14), 256u);
  EXPECT_EQ(*patches_of({225, 224}, 14), 272u);
  EXPECT_EQ(*patches_of({1, 1}, 14), 1u);
  EXPECT_EQ(patches_of({0, 10}, 14).error().code, Code::kInvalid);
  EXPECT_EQ(patches_of({10, 65'537}, 14).error().code, Code::kInvalid);
}

TEST(ImageTokens, ATokenIsThreePatchesASideAndEachRowHasOneMore) {
  EXPECT_EQ(image_tokens({42, 42}, 14), 4u);
  EXPECT_EQ(image_tokens({1'512, 1'134}, 14), 27u * 37 + 2);
  EXPECT_EQ(image_tokens({43, 85}, 14), 3u * 3 + 2) << "what is cut off is filled up";
  EXPECT_EQ(image_tokens({16'384, 1}, 16), 1u * 343 + 2);
}

TEST(VisionPool, OfOneMachineTheGpuWithTheFewestPatchesIsTaken) {
  VisionPool pool;
  Rng rng(1);
  const std::uint32_t machine = pool.add_machine(4);
  std::vector<EncoderId> placed;
  for (const std::uint64_t patches : {1'000u, 400u, 300u, 200u, 150u, 1u}) {
    placed.push_back(*pool.place(patches, rng));
  }
  EXPECT_EQ(placed[4], placed[3]);
  EXPECT_EQ(placed[5], placed[2]);
  pool.finish(placed[0], 1'000);
  EXPECT_EQ(*pool.place(9, rng), placed[0]);
  EXPECT_EQ(pool.patches({machine, placed[1].gpu}), 400u);
}

TEST(VisionPool, MachinesAreTakenByChanceAndEvenly) {
  VisionPool pool;
  Rng rng(4);
  for (int i = 0; i < 8; ++i) pool.add_machine(8);
  std::vector<int> images(8);
  for (int i = 0; i < 8'000; ++i) ++images[pool.place(1, rng)->machine];
  EXPECT_GT(*std::min_element(images.begin(), images.end()), 870) << "4 deviations below 1,000";
  EXPECT_LT(*std::max_element(images.begin(), images.end()), 1'130);
  EXPECT_NE(images, std::vector<int>(8, 1'000));
}

TEST(VisionPool, AFullMachineIsPassedOverAndAnIdleGpuTakesAnything) {
  VisionPool pool(100);
  Rng rng(2);
  const std::uint32_t first = pool.add_machine(1);
  const std::uint32_t second = pool.add_machine(1);
  const auto large = pool.place(5'000, rng);
  ASSERT_TRUE(large);
  const std::uint32_t other = large->machine == first ? second : first;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pool.place(10, rng)->machine, other);
  EXPECT_FALSE(pool.place(10, rng));
  pool.finish(*large, 5'000);
  EXPECT_EQ(pool.place(10, rng)->machine, large->machine);
}

TEST(VisionPool, WithoutMachinesThereIsNoPlace) {
  VisionPool pool;
  Rng rng(2);
  EXPECT_FALSE(pool.place(1, rng));
  pool.remove_machine(pool.add_machine(2));
  EXPECT_FALSE(pool.place(1, rng));
}

}  // namespace
}  // namespace troupe
