#include "tools/recipe/vector.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

using recipe::Protocol;

std::string error_of(std::string_view json) {
  const auto vector = Vector::parse(json, Protocol::kChat);
  return vector.ok() ? "" : vector.error().message;
}

TEST(Vector, says_what_goes_in_and_what_must_come_out) {
  const auto vector =
      Vector::parse(R"({"id":"v1","kind":"encode","protocol":"messages","model":"M",)"
                    R"("input":{"request":{"model":"m","n":1.50,"t":"é"}},"expect":{"x":1}})",
                    Protocol::kChat)
          .value();
  EXPECT_EQ(vector.kind(), VectorKind::kEncode);
  EXPECT_EQ(vector.protocol(), Protocol::kMessages);
  EXPECT_EQ(vector.id(), "v1");
  EXPECT_EQ(vector.model(), "M");
  EXPECT_EQ(vector.request_model(), "m");
  EXPECT_EQ(vector.body(), R"({"model":"m","n":1.5,"t":"é"})");
  EXPECT_NE(vector.tape().find(vector.expect(), "x"), JsonTape::kNone);
  EXPECT_EQ(vector.input("chunks"), JsonTape::kNone);
}

TEST(Vector, a_request_text_is_sent_as_it_is) {
  const auto vector = Vector::parse(R"({"kind":"error","protocol":"chat",)"
                                    R"("input":{"request_text":"{\"a\":1,"}})",
                                    Protocol::kChat)
                          .value();
  EXPECT_EQ(vector.body(), R"({"a":1,)");
  EXPECT_EQ(vector.request_model(), "");
  EXPECT_EQ(vector.expect(), JsonTape::kNone);
}

TEST(Vector, a_body_of_responses_has_an_input_and_is_a_request) {
  const auto vector = Vector::parse(R"({"model":"m","input":"hi"})", Protocol::kResponses).value();
  EXPECT_EQ(vector.kind(), VectorKind::kEncode);
  EXPECT_EQ(vector.body(), R"({"model":"m","input":"hi"})");
}

TEST(Vector, anything_without_a_kind_is_a_request) {
  const auto vector =
      Vector::parse(R"({"model":"m","messages":[],"id":7})", Protocol::kResponses).value();
  EXPECT_EQ(vector.kind(), VectorKind::kEncode);
  EXPECT_EQ(vector.protocol(), Protocol::kResponses);
  EXPECT_EQ(vector.body(), R"({"model":"m","messages":[],"id":7})");
  EXPECT_EQ(vector.id(), "");
  EXPECT_EQ(vector.request_model(), "m");
}

TEST(Vector, refusals_name_the_member) {
  EXPECT_NE(error_of("[1]").find("no object"), std::string::npos);
  EXPECT_NE(error_of("{").find("no JSON"), std::string::npos);
  EXPECT_NE(error_of(R"({"input":{},"kind":"x"})").find("\"kind\" is 'x'"), std::string::npos);
  EXPECT_NE(error_of(R"({"input":{"request":{}},"kind":"encode","protocol":"p"})").find("'p'"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"input":{},"kind":"encode","protocol":"chat"})").find("\"request\""),
            std::string::npos);
  EXPECT_NE(error_of(R"({"input":{},"kind":"tokenize"})").find("\"text\""), std::string::npos);
}

TEST(Vectors, are_read_from_lines_one_value_or_a_list) {
  const std::string line = R"({"kind":"tokenize","input":{"text":"a"}})";
  const auto count = [](std::string_view text) {
    return read_vectors(text, Protocol::kChat).value().size();
  };
  EXPECT_EQ(count(line), 1u);
  EXPECT_EQ(count("{\n  \"model\": \"m\"\n}\n"), 1u);
  EXPECT_EQ(count(line + "\n\n" + line + "\r\n"), 2u);
  EXPECT_EQ(count("[" + line + ",\n" + line + "]"), 2u);
  const auto bad = read_vectors(line + "\n\n{", Protocol::kChat, "x.jsonl");
  EXPECT_EQ(bad.error().code, Code::kInvalid);
  EXPECT_TRUE(bad.error().message.starts_with("x.jsonl:3: ")) << bad.error().message;
  for (const char* empty : {"", "[]", "\n \n"}) {
    const auto none = read_vectors(empty, Protocol::kChat);
    ASSERT_FALSE(none.ok()) << empty;
    EXPECT_EQ(none.error().code, Code::kInvalid);
    EXPECT_TRUE(none.error().message.starts_with("stdin:1: expected")) << none.error().message;
  }
}

TEST(Vectors, are_named_by_their_id_and_place) {
  const std::string input = R"("kind":"tokenize","input":{"text":"a"}})";
  const auto lines =
      read_vectors("{" + input + "\n\n{\"id\":\"v\"," + input, Protocol::kChat, "x.jsonl").value();
  EXPECT_EQ(lines[0].name(), "x.jsonl:1");
  EXPECT_EQ(lines[1].name(), "v (x.jsonl:3)");
  const auto list = read_vectors("[{" + input + ",{" + input + "]", Protocol::kChat, "x").value();
  EXPECT_EQ(list[1].name(), "x[1]");
}

}  // namespace
}  // namespace troupe
