#include "runtime/recipe/encoding/prompt_pack.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/recipe/encoding/tiny_pack.hpp"

namespace troupe::recipe {
namespace {

using test::tiny_pack_json;

std::string changed(const std::string& from, const std::string& to) {
  std::string json = tiny_pack_json();
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

std::string error_of(const std::string& json, ModelVersion version = ModelVersion::kDeepseekV4) {
  const auto pack = parse_prompt_pack(json, version);
  EXPECT_FALSE(pack.ok());
  if (pack.ok()) return "";
  EXPECT_EQ(pack.error().code, Code::kCorrupt);
  return pack.error().message;
}

TEST(PromptPack, has_the_texts_of_its_version) {
  const auto v4 = parse_prompt_pack(tiny_pack_json(), ModelVersion::kDeepseekV4).value();
  EXPECT_EQ(v4.effort_max.text, "(max)");
  EXPECT_EQ(v4.tools_head.text, "(tools <think>:");
  EXPECT_EQ(v4.tools_head.specials, (std::vector<ByteRange>{{7, 14}}));
  EXPECT_EQ(v4.unsupported_image, "(image)");
  EXPECT_EQ(v4.mid_system_begin + v4.mid_system_end, "(mid )");
  EXPECT_EQ(v4.apply_patch.name, "apply_patch");
  EXPECT_EQ(v4.apply_patch.description, "d");
  EXPECT_EQ(v4.apply_patch.parameters, R"({"type":"object","b":1,"a":2})");
  EXPECT_EQ(v4.apply_patch.strict, std::nullopt);
  const auto v41 = parse_prompt_pack(tiny_pack_json(), ModelVersion::kDeepseekV41).value();
  EXPECT_EQ(v41.updated_tools_head, "(new)");
}

TEST(PromptPack, says_which_member_is_missing_or_wrong) {
  EXPECT_NE(error_of(changed("\"tools_sep\"", "\"x\"")).find("\"v4.tools_sep\" is missing"),
            std::string::npos);
  EXPECT_NE(error_of(changed("\"(document)\"", "7")).find("unsupported_document_responses"),
            std::string::npos);
  EXPECT_NE(error_of(changed("[\"(mid \", \")\"]", "[\"(mid \"]")).find("messages_mid_system"),
            std::string::npos);
  EXPECT_NE(
      error_of(changed("{\"type\": \"object\", \"b\": 1, \"a\": 2}", "[]")).find("apply_patch"),
      std::string::npos);
  EXPECT_NE(error_of(changed("{\"text\": \"(high)\"", "{\"txt\": \"(high)\"")).find("effort_high"),
            std::string::npos);
}

TEST(PromptPack, ranges_lie_inside_their_text_in_order) {
  for (const char* ranges : {"[[7, 16]]", "[[7, 7]]", "[[8, 7]]", "[[7, 9], [8, 10]]", "[[-1, 2]]",
                             "[[7]]", "[7, 14]", "{}"}) {
    EXPECT_NE(error_of(changed("[[7, 14]]", ranges)).find("tools_head"), std::string::npos)
        << ranges;
  }
}

TEST(PromptPack, a_file_for_another_model_or_none_is_refused) {
  EXPECT_NE(error_of("{").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of("[]").find("no object \"v4\""), std::string::npos);
  EXPECT_NE(error_of(R"({"v4": {}})", ModelVersion::kDeepseekV41).find("no object \"v4.1\""),
            std::string::npos);
  const auto pack = load_prompt_pack("/nonexistent/pack.json", ModelVersion::kDeepseekV4);
  EXPECT_EQ(pack.error().code, Code::kNotFound);
  EXPECT_NE(pack.error().message.find("troupe model pull deepseek-v4"), std::string::npos);
}

}  // namespace
}  // namespace troupe::recipe
