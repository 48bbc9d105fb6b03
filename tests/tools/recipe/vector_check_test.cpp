// Vectors run and compared, with a made-up prompt pack and no tokenizer.
#include "tools/recipe/vector_check.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/runtime/recipe/encoding/tiny_pack.hpp"
#include "tools/recipe/run_vector.hpp"

namespace troupe {
namespace {

using recipe::Protocol;

class VectorCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("troupe_vector_check_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "pack.json") << recipe::test::tiny_pack_json();
    LabOptions options;
    options.compat = recipe::Compat::kDeepseek;
    options.prompt_pack = folder_ / "pack.json";
    options.pulled = [](std::string_view model, PulledFile) {
      return "/nonexistent/" + std::string(model);
    };
    lab_ = std::make_unique<RecipeLab>(RecipeLab::open(std::move(options)).value());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// "" if the vector passes, else "where | expected | got".
  std::string check(const std::string& json) {
    VectorCheck check(*lab_);
    const Status status = check.check(Vector::parse(json, Protocol::kChat).value());
    if (!status.ok()) return to_string(status.error());
    if (check.failures().empty()) return "";
    const JsonDifference& difference = check.failures().front().difference;
    return difference.where + " | " + difference.expected + " | " + difference.got;
  }

  static std::string vector(const std::string& kind, const std::string& input,
                            const std::string& expect) {
    return R"({"id":"v","kind":")" + kind + R"(","protocol":"chat","input":)" + input +
           R"(,"expect":)" + expect + "}";
  }
  static std::string hello(const std::string& more = "") {
    return R"({"request":{"model":"DeepSeek-V4-Pro","thinking":{"type":"disabled"},)"
           R"("messages":[{"role":"user","content":"Hi"}]})" +
           more + "}";
  }

  std::filesystem::path folder_;
  std::unique_ptr<RecipeLab> lab_;
};

TEST_F(VectorCheckTest, compares_each_member_that_is_expected) {
  const std::string prompt = R"("<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>")";
  EXPECT_EQ(check(vector("encode", hello(), "{\"prompt\":" + prompt + "}")), "");
  EXPECT_EQ(check(vector("encode", hello(),
                         R"({"special_ranges_bytes":[[0,29],[29,41],)"
                         R"([43,60],[60,68]],"image_sources":[]})")),
            "");
  EXPECT_EQ(check(vector("encode", hello(), R"({"special_ranges_bytes":[[0,29],[29,42]]})")),
            "special_ranges_bytes[1][1] | 42 | 41");
  EXPECT_EQ(check(vector("encode", hello(), R"({"nothing":1})")), "nothing | 1 | nothing");
  EXPECT_NE(check(vector("encode", hello(), R"({"converted":{"model_version":"x"}})"))
                .find("converted.model_version, byte 0"),
            std::string::npos);
}

TEST_F(VectorCheckTest, refusals_are_results) {
  const std::string request = R"({"request":{"model":"unknown","messages":[]}})";
  EXPECT_EQ(check(vector("error", request, R"({"stage":"convert","status":400})")), "");
  EXPECT_NE(check(vector("error", request, R"({"stage":"parse"})")).find("stage, byte 0"),
            std::string::npos);
  EXPECT_NE(check(vector("encode", request, R"({"prompt":"x"})")).find("message | nothing | "),
            std::string::npos);
  EXPECT_NE(check(vector("error", hello(), R"({"stage":"convert"})")).find("stage | "),
            std::string::npos);
  // The wording and the status of what is no request are the parser's own.
  EXPECT_EQ(check(vector("error", R"({"request_text":"{"})",
                         R"({"stage":"parse","status":null,"message":"x","python_type":"y"})")),
            "");
}

TEST_F(VectorCheckTest, limits_are_resolved) {
  const std::string input = hello(R"(,"prompt_tokens":10,"context_limit":100)");
  EXPECT_EQ(check(vector("limits", input, R"({"max_tokens":90})")), "");
  EXPECT_EQ(check(vector("limits", input, R"({"max_tokens":91})")), "max_tokens | 91 | 90");
}

TEST_F(VectorCheckTest, streams_run_without_a_tokenizer) {
  const std::string input =
      hello(R"(,"id":"r","response_model":"m","tokenizer":null,"chunks":[{"ready":{)"
            R"("prompt_tokens":3}},{"text":"Hello","token_count":1},{"finish":"stop"}])");
  EXPECT_EQ(check(vector("stream", input,
                         R"({"finished":true,"error":null,)"
                         R"("done_data":"[DONE]"})")),
            "");
  const std::string body = check(vector("stream", input, R"({"response":{"id":"x"}})"));
  EXPECT_NE(body.find("response.id, byte 0"), std::string::npos) << body;
  EXPECT_NE(check(vector("stream", hello(R"(,"chunks":[{"text":"a"},{}])"), R"({"error":1})"))
                .find("\"chunks\" must be"),
            std::string::npos);
  EXPECT_EQ(check(vector("stream", hello(R"(,"tokenizer":null,"chunks":[{"tokens":[1]}])"),
                         R"({"error":null})"))
                .find("error | null | "),
            0u);
}

TEST_F(VectorCheckTest, says_what_keeps_a_vector_from_being_run) {
  EXPECT_NE(check(vector("encode", hello(), R"({"token_ids":[]})")).find("troupe model pull"),
            std::string::npos);
  EXPECT_NE(
      check(vector("encode", hello(R"(,"options":{"x":1})"), R"({"prompt":1})")).find("option 'x'"),
      std::string::npos);
  LabOptions options;
  options.model = "gpt";
  EXPECT_EQ(RecipeLab::open(options).error().code, Code::kInvalid);
}

TEST_F(VectorCheckTest, reports_counts_and_the_first_failures) {
  VectorCheck check(*lab_);
  const auto run = [&](const std::string& kind, const std::string& expect) {
    ASSERT_TRUE(
        check.check(Vector::parse(vector(kind, hello(), expect), Protocol::kChat).value()).ok());
  };
  run("encode", R"({"image_sources":[]})");
  run("encode", R"({"a":1})");
  run("error", R"({"b":2})");
  std::ostringstream out;
  check.report(out, 1);
  EXPECT_EQ(out.str(),
            "encode         1 passed     1 failed\n"
            "error          0 passed     1 failed\n"
            "\nv (-): a\n  expected 1\n  got      nothing\n"
            "\nand 1 more\n");
}

TEST_F(VectorCheckTest, a_vector_that_expects_nothing_has_failed) {
  const std::string nothing = "expect | members to compare | none";
  EXPECT_EQ(check(vector("encode", hello(), "{}")), nothing);
  EXPECT_EQ(check(vector("encode", hello(), "[1]")), nothing);
  EXPECT_EQ(check(R"({"kind":"tokenize","input":{"text":"a"}})"), nothing);
  VectorCheck check(*lab_);
  const auto plain = read_vectors(R"({"model":"m"})", Protocol::kChat, "x.json").value();
  ASSERT_TRUE(check.check(plain.front()).ok());
  EXPECT_EQ(check.failures().front().name, "x.json:1");
}

TEST_F(VectorCheckTest, prompts_and_events_are_shown_as_they_are) {
  const auto encode = Vector::parse(vector("encode", hello(), "{}"), Protocol::kChat).value();
  EXPECT_EQ(prompt_text(encode, *lab_, false).value(),
            "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>");
  EXPECT_TRUE(prompt_text(encode, *lab_, true)
                  .value()
                  .ends_with("\x1b[7m<｜User｜>\x1b[0mHi\x1b[7m<｜Assistant｜>\x1b[0m"
                             "\x1b[7m</think>\x1b[0m"));
  const auto stream =
      Vector::parse(vector("stream",
                           hello(R"(,"id":"r","response_model":"m","tokenizer":null,"chunks":[)"
                                 R"({"ready":{"prompt_tokens":3}},{"text":"Hello",)"
                                 R"("token_count":1},{"finish":"stop"}])"),
                           "{}"),
                    Protocol::kChat)
          .value();
  const std::string events = events_text(stream, *lab_).value();
  EXPECT_TRUE(events.starts_with("data: {\"id\":\"r\"")) << events;
  EXPECT_NE(events.find("\"content\":\"Hello\""), std::string::npos) << events;
  EXPECT_TRUE(events.ends_with("}\n\ndata: [DONE]\n\n")) << events;
}

TEST(RecipeLab, names_of_the_command_line_are_known_in_bodies) {
  LabOptions options;
  options.pulled = [](std::string_view model, PulledFile) {
    return "/nonexistent/" + std::string(model);
  };
  auto lab = RecipeLab::open(std::move(options)).value();
  const auto run = [&](const std::string& model, const std::string& more) {
    const std::string body = R"({"model":")" + model + R"(","messages":[{"role":"user",)" +
                             R"("content":"Hi"}])" + more + "}";
    return run_vector(Vector::parse(body, Protocol::kChat).value(), lab, false).value();
  };
  const auto known = run("smollm2", R"(,"seed":-1,"top_k":5)");
  ASSERT_NE(find_member(known, "converted"), nullptr);
  EXPECT_NE(find_member(known, "converted")->find(R"("seed":-1,"top_k":5)"), std::string::npos)
      << *find_member(known, "converted");
  const auto unknown = run("gpt", "");
  ASSERT_NE(find_member(unknown, "message"), nullptr);
  EXPECT_EQ(*find_member(unknown, "message"),
            R"("The model 'gpt' does not exist. Known are DeepSeek-V4-Pro, DeepSeek-V4.1-Flash, )"
            R"(deepseek-v4, deepseek-v4.1, smollm2, chatml; --model says how any other is )"
            R"(encoded.")");
}

TEST_F(VectorCheckTest, a_named_model_serves_every_request) {
  LabOptions options;
  options.model = "chatml";
  auto lab = RecipeLab::open(options).value();
  const auto vector = Vector::parse(
      R"({"model":"whatever","messages":[{"role":"user","content":"Hi"}]})", Protocol::kChat);
  const auto result = run_vector(*vector, lab, false).value();
  ASSERT_NE(find_member(result, "prompt"), nullptr);
  EXPECT_EQ(*find_member(result, "prompt"),
            R"("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")");
}

}  // namespace
}  // namespace troupe
