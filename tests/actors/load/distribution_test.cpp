#include "actors/load/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

namespace troupe {
namespace {

Distribution made(const std::string& text, double least = 1) {
  auto parsed = Distribution::parse(text, least);
  EXPECT_TRUE(parsed.ok()) << text;
  return std::move(parsed).value();
}

std::vector<double> drawn(const Distribution& distribution, int count = 20'000) {
  Rng rng(5);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(distribution.draw(rng));
  std::sort(values.begin(), values.end());
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(Distribution, DrawsHaveTheirShape) {
  EXPECT_EQ(drawn(made("512")).front(), 512);
  EXPECT_EQ(drawn(made("512")).back(), 512);
  EXPECT_NEAR(mean(drawn(made("exponential:6", 0))), 6, 0.2);
  EXPECT_NEAR(mean(drawn(made("normal:100:10"))), 100, 0.5);
  const auto lognormal = drawn(made("lognormal:400:0.95"));
  EXPECT_NEAR(lognormal[lognormal.size() / 2], 400, 15);  // the median
  EXPECT_NEAR(mean(lognormal), 400 * std::exp(0.95 * 0.95 / 2), 25);
}

TEST(Distribution, UniformCountsReachBothEndsAlike) {
  std::map<std::uint32_t, int> seen;
  Rng rng(1);
  const Distribution distribution = made("uniform:15:25");
  for (int i = 0; i < 11'000; ++i) ++seen[distribution.draw_count(rng)];
  EXPECT_EQ(seen.size(), 11u);
  EXPECT_EQ(seen.begin()->first, 15u);
  for (const auto& [length, times] : seen) EXPECT_NEAR(times, 1000, 150) << length;
}

TEST(Distribution, ZipfFavoursTheFirst) {
  std::map<std::uint32_t, int> seen;
  Rng rng(1);
  const Distribution distribution = made("zipf:10:13:1");
  for (int i = 0; i < 25'000; ++i) ++seen[distribution.draw_count(rng)];
  ASSERT_EQ(seen.size(), 4u);  // weights 1, 1/2, 1/3, 1/4: sum 25/12
  EXPECT_NEAR(seen[10], 12'000, 300);
  EXPECT_NEAR(seen[11], 6'000, 250);
  EXPECT_NEAR(seen[12], 4'000, 200);
  EXPECT_NEAR(seen[13], 3'000, 200);
}

TEST(Distribution, AFileIsDrawnAsItIs) {
  const std::string path = testing::TempDir() + "lengths.txt";
  std::ofstream(path) << "# lengths\n10\n10  # twice\n\n40\r\n";
  std::map<double, int> seen;
  for (const double value : drawn(made("file:" + path), 3000)) ++seen[value];
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NEAR(seen[10], 2000, 120);
  std::ofstream(path) << "10\nten\n";
  EXPECT_NE(Distribution::parse("file:" + path, 1).error().message.find("lengths.txt:2:"),
            std::string::npos);
  std::ofstream(path) << "0\n";
  EXPECT_FALSE(Distribution::parse("file:" + path, 1).ok());
  std::filesystem::remove(path);
  EXPECT_EQ(Distribution::parse("file:" + path, 1).error().code, Code::kNotFound);
}

TEST(Distribution, CountsAreAtLeastOne) {
  Rng rng(1);
  const Distribution low = made("normal:2:50");
  for (int i = 0; i < 1000; ++i) EXPECT_GE(low.draw_count(rng), 1u);
}

TEST(Distribution, WritesItselfAsItWasRead) {
  for (const char* text : {"512", "uniform:1:9", "normal:100:2.5", "lognormal:400:0.95",
                           "exponential:6", "zipf:1:100:1.2"}) {
    EXPECT_EQ(made(text).text(), text);
  }
}

TEST(Distribution, NonsenseIsRefused) {
  for (const char* text :
       {"", "x", "12x", "uniform:1", "uniform:9:1", "normal:1:-1", "normal:1:2:3", "zipf:1:9:-1",
        "zipf:1.5:9:1", "zipf:1:99999999:1", "gauss:1:2", "lognormal:0:1", "0", "-5", "nan", "1e99",
        "uniform:1:2:"}) {
    EXPECT_FALSE(Distribution::parse(text, 1).ok()) << text;
  }
}

TEST(Distribution, GammaGapsHaveMeanOneAndTheirVariance) {
  for (const double shape : {1.0, 0.25, 0.5, 4.0}) {
    Rng rng(3);
    double sum = 0, squares = 0;
    constexpr int kCount = 40'000;
    for (int i = 0; i < kCount; ++i) {
      const double gap = draw_gap(rng, shape);
      sum += gap, squares += gap * gap;
    }
    const double average = sum / kCount;
    EXPECT_NEAR(average, 1, 0.04) << shape;
    EXPECT_NEAR(squares / kCount - average * average, 1 / shape, 0.15 / shape) << shape;
  }
}

}  // namespace
}  // namespace troupe
