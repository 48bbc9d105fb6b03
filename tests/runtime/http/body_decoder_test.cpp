// Compressed bodies: every coding, every split, bombs, and bytes that are none of them.
#include "runtime/http/body_decoder.hpp"

#include <gtest/gtest.h>

#include "runtime/http/body_collector.hpp"
#include "tests/runtime/http/encode_body.hpp"

namespace troupe::http {
namespace {

constexpr std::size_t kMany = 1u << 30;

struct Decoded {
  int status = 200;
  std::string body;
};

Decoded decode(std::string_view coding, std::string_view bytes, std::size_t step,
               std::size_t max = kMany) {
  ByteBudget budget(kMany);
  BodyCollector collector(max, budget);
  collector.set_coding(coding);
  bool good = true;
  while (good && !bytes.empty()) {
    good = collector.append(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  if (good) good = collector.finish();
  if (!good) return {collector.refusal()->status, ""};
  return {200, collector.take_body()};
}

std::string text() {
  std::string out;
  for (int i = 0; i < 400; ++i) out += "{\"n\":" + std::to_string(i * i) + "},";
  return out;
}

struct Form {
  const char* coding;
  std::string bytes;
};

std::vector<Form> forms(std::string_view of) {
  return {{"gzip", gzip(of)},
          {"X-GZIP", gzip(of)},
          {"deflate", zlib_encoded(of, 15)},
          {"Deflate", zlib_encoded(of, -15)},
          {"zstd", zstd(of)}};
}

TEST(BodyDecoder, EverySplitGivesTheSameBody) {
  const std::string body = text();
  for (const auto& [coding, bytes] : forms(body)) {
    for (std::size_t step = 1; step <= bytes.size(); step = step < 16 ? step + 1 : step * 2) {
      const Decoded decoded = decode(coding, bytes, step);
      ASSERT_EQ(decoded.status, 200) << coding << " in steps of " << step;
      ASSERT_EQ(decoded.body, body) << coding << " in steps of " << step;
    }
  }
}

TEST(BodyDecoder, MembersAndFramesInARowAreOneBody) {
  for (std::size_t step : {1, 7, 1000}) {
    EXPECT_EQ(decode("gzip", gzip("one,") + gzip("") + gzip("two"), step).body, "one,two");
    EXPECT_EQ(decode("zstd", zstd("one,") + zstd("two"), step).body, "one,two");
  }
}

TEST(BodyDecoder, WhatIsCutOffOrFollowedByMoreIsRefused) {
  for (const auto& [coding, bytes] : forms(text())) {
    for (std::size_t size : {std::size_t{1}, bytes.size() / 2, bytes.size() - 1})
      EXPECT_EQ(decode(coding, bytes.substr(0, size), 64).status, 400) << coding << " " << size;
    EXPECT_EQ(decode(coding, bytes + "trailing", 64).status, 400) << coding;
    std::string damaged = bytes;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    damaged[damaged.size() / 2 + 1] = static_cast<char>(damaged[damaged.size() / 2 + 1] ^ 0x2a);
    EXPECT_NE(decode(coding, damaged, 64).body, text()) << coding;
    EXPECT_EQ(decode(coding, "{\"model\":\"m\"}", 64).status, 400) << coding;
    EXPECT_EQ(decode(coding, "", 64).body, "") << "no byte is an empty body";
  }
}

TEST(BodyDecoder, AnEmptyBodyMayBeEncoded) {
  for (const auto& [coding, bytes] : forms("")) EXPECT_EQ(decode(coding, bytes, 1).status, 200);
}

TEST(BodyDecoder, ABombEndsAtTheLimitOfDecodedBytes) {
  constexpr std::size_t kMax = 100'000;
  const std::string zeros(50'000'000, '\0');
  for (const auto& [coding, bytes] : forms(zeros)) {
    ASSERT_LT(bytes.size(), kMax) << "small enough to pass as it is";
    EXPECT_EQ(decode(coding, bytes, 4096, kMax).status, 413) << coding;
  }
  for (const auto& [coding, bytes] : forms(std::string(kMax, 'x')))
    EXPECT_EQ(decode(coding, bytes, 4096, kMax).body.size(), kMax) << "the limit itself";
}

TEST(BodyDecoder, AZstdWindowAbove8MiBIsRefused) {
  const std::string large(20'000'000, 'x');
  EXPECT_EQ(decode("zstd", zstd(large, 23), 4096).status, 200);
  EXPECT_EQ(decode("zstd", zstd(large, 24), 4096).status, 400);
}

TEST(BodyCollector, ATurnDecodesSoMuchAndTheRestWaits) {
  const std::string large(5'000'000, 'x');
  for (const auto& [coding, bytes] : forms(large)) {
    ByteBudget budget(kMany);
    BodyCollector collector(kMany, budget);
    collector.set_coding(coding);
    collector.begin_turn(100'000);
    for (std::size_t at = 0; at < bytes.size(); at += 100) {
      ASSERT_TRUE(collector.append(std::string_view(bytes).substr(at, 100)));
    }
    int turns = 1;
    for (; collector.is_behind(); ++turns) {
      collector.begin_turn(100'000);
      ASSERT_TRUE(collector.go_on()) << coding;
    }
    EXPECT_GE(turns, 40) << coding;
    EXPECT_TRUE(collector.finish());
    EXPECT_EQ(collector.take_body(), large) << coding;
  }
}

TEST(BodyCollector, PaysForWhatItAllocatesAndGivesItBack) {
  ByteBudget budget(256 * 1024);
  BodyCollector first(1'000'000, budget);
  ASSERT_TRUE(first.append(std::string(100, 'x')));
  EXPECT_EQ(budget.used(), ByteLease::kStep);
  ASSERT_TRUE(first.append(std::string(150'000, 'x')));
  EXPECT_GE(budget.used(), 150'000u);
  BodyCollector second(1'000'000, budget);
  EXPECT_FALSE(second.append(std::string(150'000, 'x')));
  EXPECT_EQ(second.refusal()->status, 503);
  EXPECT_EQ(find_header(second.refusal()->headers, "retry-after"), "1");
  {
    const ByteLease lease = first.take_lease();
    EXPECT_EQ(lease.held(), budget.used());
  }
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace troupe::http
