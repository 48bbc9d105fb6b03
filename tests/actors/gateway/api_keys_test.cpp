// API keys: what is written down, who is let in, and entries that are refused.
#include "actors/gateway/api_keys.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

std::array<unsigned char, kNewKeyBytes> bytes(unsigned char first) {
  std::array<unsigned char, kNewKeyBytes> random{};
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = static_cast<unsigned char>(first + i);
  return random;
}

NewKey make(const char* name, unsigned char first = 1, TenantLimits limits = {}) {
  limits.name = name;
  const auto made = make_api_key(limits, bytes(first));
  EXPECT_TRUE(made.ok());
  return *made;
}

KeyRing ring(const std::vector<std::string>& entries) {
  auto parsed = KeyRing::parse(entries);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return *parsed;
}

std::string failure(const std::vector<std::string>& entries) {
  const auto parsed = KeyRing::parse(entries);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(ApiKeys, AKeyIsFoundByItsEntryAndIsNotInIt) {
  const NewKey alice = make("alice", 1, {.requests_per_minute = 60, .priority = Priority::kHigh});
  const NewKey bob = make("bob", 77, {.concurrent = 3});
  const std::string secret = alice.key.substr(alice.key.rfind('-') + 1);
  EXPECT_EQ(secret.size(), 48u) << "192 bits";
  EXPECT_EQ(alice.entry.find(secret), std::string::npos);
  const KeyRing keys = ring({alice.entry, bob.entry});
  ASSERT_NE(keys.find(alice.key), nullptr);
  EXPECT_EQ(keys.find(alice.key)->name, "alice");
  EXPECT_EQ(keys.find(alice.key)->requests_per_minute, 60u);
  EXPECT_EQ(keys.find(alice.key)->priority, Priority::kHigh);
  EXPECT_EQ(keys.find(bob.key)->concurrent, 3u);
}

TEST(ApiKeys, EveryOtherKeyIsNobodys) {
  const NewKey alice = make("alice");
  const KeyRing keys = ring({alice.entry});
  for (std::size_t i = 0; i < alice.key.size(); ++i) {
    std::string other = alice.key;
    other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_EQ(keys.find(other), nullptr) << i;
    EXPECT_EQ(keys.find(alice.key.substr(0, i)), nullptr) << i;
  }
  EXPECT_EQ(keys.find(alice.key + "0"), nullptr);
  EXPECT_EQ(keys.find(make("alice", 2).key), nullptr);
  EXPECT_EQ(KeyRing().find(alice.key), nullptr);
}

TEST(ApiKeys, TheHashIsSha256OfSaltAndKey) {
  // Python: hashlib.sha256(bytes(range(31, 47)) + key.encode()).hexdigest()
  const NewKey made = make("n");
  EXPECT_EQ(made.key, "tk-010203040506-0708090a0b0c0d0e0f101112131415161718191a1b1c1d1e");
  EXPECT_EQ(made.entry,
            "n:010203040506:sha256:1f202122232425262728292a2b2c2d2e:"
            "ae18cdca1fcb17d215efe18993eaa13a486c64bb73ae263f33e8d07b31b0cce1");
}

TEST(ApiKeys, WrongEntriesAreRefusedByNumber) {
  const NewKey alice = make("alice");
  const std::string& entry = alice.entry;
  for (const std::string& wrong :
       {std::string(), std::string("alice"), entry.substr(0, entry.size() - 1), entry + "0",
        ":" + entry, entry + ":", entry + ":rate=0", entry + ":rate=x", entry + ":rate=10000000",
        entry + ":burst=1", entry + ":priority=urgent", "a b" + entry.substr(5)}) {
    EXPECT_NE(failure({make("bob", 9).entry, wrong}).find("entry 2: expected NAME:ID"),
              std::string::npos)
        << wrong;
  }
  EXPECT_NE(failure({entry, entry}).find("twice"), std::string::npos);
  EXPECT_NE(failure({entry, make("alice", 9).entry}).find("twice"), std::string::npos);
  EXPECT_NE(failure({entry, make("bob", 1).entry}).find("twice"), std::string::npos);
}

TEST(ApiKeys, NamesThatCannotBeWrittenAreRefused) {
  for (const char* name : {"", "a:b", "a b", "a,b"}) {
    EXPECT_FALSE(make_api_key({.name = name}, bytes(1)).ok()) << name;
  }
}

TEST(ApiKeys, PresentedAsBearerOrHeader) {
  EXPECT_EQ(presented_key({{"authorization", "Bearer k"}, {"x-api-key", "x"}}), "k");
  EXPECT_EQ(presented_key({{"authorization", "bearer k"}}), "k");
  EXPECT_EQ(presented_key({{"x-api-key", "x"}}), "x");
  EXPECT_EQ(presented_key({{"authorization", "Basic abc"}, {"x-api-key", "x"}}), "x");
  EXPECT_EQ(presented_key({{"authorization", "Bearer "}}), "");
  EXPECT_EQ(presented_key({}), "");
}

}  // namespace
}  // namespace troupe
