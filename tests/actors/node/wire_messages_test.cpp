// Every message that may cross a wire: out of bytes and back, whole and spoiled.
#include "actors/node/wire_messages.hpp"

#include <gtest/gtest.h>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

constexpr std::size_t kZerosMax = 4096;

std::string bytes_of(const Message& message) {
  std::string bytes;
  message.type().encode(message.payload(), bytes);
  return bytes;
}

/// The value whose fields are all zero or empty, found by giving ever more zeros.
Message zero_value(const MessageType& type) {
  for (std::size_t size = 0; size < kZerosMax; ++size) {
    if (auto decoded = type.decode(std::string(size, '\0'))) return *decoded;
  }
  return {};
}

/// Spoils `bytes` in up to four places, and sometimes makes them shorter or longer.
std::string spoiled(std::string bytes, Rng& rng) {
  for (std::uint64_t spoil = rng.below(4) + 1; spoil > 0 && !bytes.empty(); --spoil) {
    bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(rng.chance(0.7) ? 4 : 256));
  }
  if (rng.chance(0.3)) bytes.resize(rng.below(bytes.size() + 64), '\1');
  return bytes;
}

TEST(WireMessages, EachRoundTripsWhole) {
  const MessageRegistry registry = wire_messages();
  ASSERT_GE(registry.all().size(), 10u);
  for (const auto* type : registry.all()) {
    const Message zero = zero_value(*type);
    ASSERT_TRUE(zero) << type->info.name << " has no zero value";
    EXPECT_EQ(zero.kind(), type->info.kind);
    const auto again = type->decode(bytes_of(zero));
    ASSERT_TRUE(again.ok()) << type->info.name << ": " << again.error().message;
    EXPECT_EQ(again->digest(), zero.digest()) << type->info.name;
    EXPECT_FALSE(zero.describe().empty());
  }
}

TEST(WireMessages, SpoiledBytesAreRefusedOrMeanWhatTheySay) {
  const MessageRegistry registry = wire_messages();
  Rng rng(11);
  for (const auto* type : registry.all()) {
    std::string bytes = bytes_of(zero_value(*type));
    std::size_t taken = 0;
    for (int round = 0; round < 5'000; ++round) {
      const std::string bad = spoiled(bytes, rng);
      const auto decoded = type->decode(bad);
      if (!decoded) {
        EXPECT_FALSE(decoded.error().message.empty());
        continue;
      }
      ++taken;
      bytes = bytes_of(*decoded);
      EXPECT_EQ(bytes, bad) << type->info.name << ": one value, one spelling";
      if (bytes.size() > 2048) bytes = bytes_of(zero_value(*type));
    }
    EXPECT_GT(taken, 0u) << type->info.name << ": the spoiling reached no valid value";
  }
}

TEST(WireMessages, FramesCarryThemInOrder) {
  const MessageRegistry registry = wire_messages();
  std::vector<Envelope> envelopes;
  for (const auto* type : registry.all()) {
    const auto local = static_cast<std::uint32_t>(envelopes.size());
    envelopes.push_back({{NodeId(1), 2, local, 4}, {NodeId(5), 6, 7, 8}, zero_value(*type)});
  }
  const std::string frame = encode_frame(envelopes);
  const auto decoded = decode_frame(frame, registry);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  ASSERT_EQ(decoded->size(), envelopes.size());
  for (std::size_t i = 0; i < envelopes.size(); ++i) {
    EXPECT_EQ((*decoded)[i].from, envelopes[i].from);
    EXPECT_EQ((*decoded)[i].message.digest(), envelopes[i].message.digest());
  }
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(decode_frame(std::string_view(frame).substr(0, size), registry).ok())
        << "cut after " << size << " bytes";
  }
  EXPECT_FALSE(decode_frame(frame + '\0', registry).ok());
}

}  // namespace
}  // namespace troupe
