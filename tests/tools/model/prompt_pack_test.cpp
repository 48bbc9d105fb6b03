// The pulled prompt packs against the constants that were taken from the reference beside the SPEC.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <fstream>
#include <sstream>

#include "tests/runtime/recipe/deepseek_files.hpp"

namespace troupe {
namespace {

void read(const std::string& path, rapidjson::Document& out) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  out.Parse(text.str().c_str());
  ASSERT_FALSE(out.HasParseError()) << path;
}

class PulledPack : public testing::TestWithParam<const char*> {};

TEST_P(PulledPack, holds_what_the_reference_writes) {
  const std::string pulled = test::deepseek_pack_path(GetParam());
  const std::string constants = test::shared_path("recipe/constants.json");
  TROUPE_NEEDS_FILE(pulled);
  TROUPE_NEEDS_FILE(constants);
  rapidjson::Document pack;
  rapidjson::Document expected;
  read(pulled, pack);
  read(constants, expected);
  if (HasFatalFailure()) return;
  for (const auto* version : {"v4", "v4.1"}) {
    ASSERT_TRUE(pack.HasMember(version));
    ASSERT_GE(expected[version].MemberCount(), 15u);
    for (const auto& member : expected[version].GetObject()) {
      const auto found = pack[version].FindMember(member.name);
      ASSERT_NE(found, pack[version].MemberEnd()) << version << " " << member.name.GetString();
      EXPECT_TRUE(found->value == member.value) << version << " " << member.name.GetString();
    }
    EXPECT_EQ(pack[version].MemberCount(), expected[version].MemberCount());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PulledPack, testing::Values("deepseek-v4", "deepseek-v4.1"),
                         [](const auto& named) {
                           return std::string(named.param) == "deepseek-v4" ? "v4" : "v41";
                         });

}  // namespace
}  // namespace troupe
