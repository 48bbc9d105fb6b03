#include "tests/runtime/recipe/request/vectors.hpp"

#include "runtime/recipe/encoding/prompt_pack.hpp"
#include "runtime/recipe/request/error_body.hpp"

namespace troupe::recipe::vectors_test {
namespace {

using test::Vector;

std::shared_ptr<const PromptPack> pack(ModelVersion version) {
  auto loaded = load_prompt_pack(test::shared_path("recipe/constants.json"), version);
  EXPECT_TRUE(loaded.ok());
  return std::make_shared<const PromptPack>(std::move(*loaded));
}

ConversionOptions options_of(const Vector& vector) {
  static const auto v4 = pack(ModelVersion::kDeepseekV4);
  static const auto v41 = pack(ModelVersion::kDeepseekV41);
  ConversionOptions options;
  options.compat = Compat::kDeepseek;
  options.pack_v4 = v4;
  options.pack_v41 = v41;
  const Vector given = vector["input"]["options"];
  const auto rejects = [&](const char* name, bool otherwise) {
    const std::string text = given[name].text();
    return text.empty() ? otherwise : text == "Reject";
  };
  if (given["default_thinking_mode"].is_there()) {
    options.default_thinking = given["default_thinking_mode"].is_true();
  }
  options.reject_missing_reasoning = rejects("reasoning_content_behavior", false);
  options.responses_web_search_rejected = rejects("responses_web_search", false);
  options.messages_web_search_rejected = rejects("messages_web_search", true);
  return options;
}

std::variant<ConversationRequest, RequestError> converted(const Vector& vector) {
  return convert_request(vector.protocol(), vector.body(), options_of(vector));
}

const char* name_of(ModelVersion version) {
  return version == ModelVersion::kDeepseekV4 ? "DeepseekV4Pro" : "DeepseekV41Flash";
}

const char* name_of(ToolChoice choice) {
  static constexpr const char* kNames[] = {"none", "auto", "required"};
  return kNames[static_cast<int>(choice)];
}

const char* name_of(FormatKind kind) {
  static constexpr const char* kNames[] = {"text", "json_object", "json_schema", "regex"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(Effort effort) {
  static constexpr const char* kNames[] = {"low", "high", "xhigh", "max"};
  return kNames[static_cast<int>(effort)];
}

const char* name_of(InitialStage stage) {
  static constexpr const char* kNames[] = {"", "ContentContinuation", "ReasoningStart",
                                           "ReasoningContinuation"};
  return kNames[static_cast<int>(stage)];
}

template <class Number>
void expect_optional(const std::optional<Number>& got, const Vector& want) {
  ASSERT_EQ(got.has_value(), !want.is_null());
  if (got) {
    EXPECT_EQ(std::uint64_t{*got}, want.number());
  }
}

void expect_sampling(const Sampling& got, const Vector& want) {
  expect_optional(got.tokens_max, want["max_tokens"]);
  EXPECT_EQ(double{got.temperature.value()}, want["temperature"].real());
  EXPECT_EQ(double{got.top_p.value()}, want["top_p"].real());
  EXPECT_EQ(got.logprobs, want["logprobs"].is_true());
  expect_optional(got.top_logprobs, want["top_logprobs"]);
  expect_optional(got.seed, want["seed"]);
  const Vector constraint = want["output_constraint"];
  ASSERT_EQ(got.constraint.has_value(), !constraint.is_null());
  if (!got.constraint) return;
  EXPECT_EQ(got.constraint->kind, constraint["kind"].text());
  EXPECT_EQ(got.constraint->schema, constraint["schema"].text());
}

void expect_parsing(const ConversationRequest& got, const Vector& want) {
  EXPECT_EQ(got.parsing.tools, want["parse_tool_calls"].is_true());
  EXPECT_EQ(got.parsing.starts_in_tools, want["starts_in_tool_calls"].is_true());
  EXPECT_EQ(got.parsing.json, want["parse_json_output"].is_true());
  EXPECT_EQ(name_of(got.parsing.initial), want["thinking_initial_stage"].text());
  std::vector<std::string> stops;
  want["stop_sequences"].each([&](const Vector& stop) { stops.push_back(stop.text()); });
  EXPECT_EQ(got.parsing.stops, stops);
}

void expect_converted(const ConversationRequest& got, const Vector& want) {
  EXPECT_EQ(name_of(got.version), want["model_version"].text());
  EXPECT_EQ(got.stream, want["stream"].is_true());
  EXPECT_EQ(got.conversation.thinking, want["thinking"].is_true());
  EXPECT_EQ(got.answer.thinking, want["thinking"].is_true());
  if (got.conversation.thinking) {
    EXPECT_EQ(name_of(got.conversation.effort), want["reasoning_effort"].text());
  }
  EXPECT_EQ(name_of(got.conversation.tool_choice), want["tool_choice"].text());
  EXPECT_EQ(name_of(got.conversation.format.kind), want["response_format"].text());
  expect_sampling(got.sampling, want);
  expect_parsing(got, want);
}

TEST(RequestVectors, every_request_is_converted_as_by_the_reference) {
  const std::string path = test::shared_path("recipe/vectors/encode.jsonl");
  TROUPE_NEEDS_SHARED(path);
  const std::size_t count = test::each_vector(path, [](const Vector& vector) {
    SCOPED_TRACE(vector["id"].text());
    const auto result = converted(vector);
    if (const auto* error = std::get_if<RequestError>(&result)) {
      ADD_FAILURE() << error->message;
    } else {
      expect_converted(std::get<ConversationRequest>(result), vector["expect"]["converted"]);
    }
  });
  EXPECT_GT(count, 0u);
}

TEST(RequestVectors, every_error_is_found_with_the_words_of_the_reference) {
  const std::string path = test::shared_path("recipe/vectors/error.jsonl");
  TROUPE_NEEDS_SHARED(path);
  const std::size_t count = test::each_vector(path, [](const Vector& vector) {
    SCOPED_TRACE(vector["id"].text());
    const auto result = converted(vector);
    const auto* error = std::get_if<RequestError>(&result);
    if (error == nullptr) {
      ADD_FAILURE() << "accepted; wanted " << vector["expect"]["message"].text();
      return;
    }
    const Vector want = vector["expect"];
    EXPECT_EQ(error->status, 400);
    EXPECT_EQ(error->stage == RequestError::Stage::kParse, want["stage"].text() == "parse");
    if (want["stage"].text() == "parse") return;
    EXPECT_EQ(error->message, want["message"].text());
    EXPECT_EQ(error_body(vector.protocol(), Compat::kDeepseek, *error), want["body"].json());
  });
  EXPECT_GT(count, 0u);
}

TEST(RequestVectors, limits_are_resolved_as_by_the_reference) {
  const std::string path = test::shared_path("recipe/vectors/limits.jsonl");
  TROUPE_NEEDS_SHARED(path);
  const std::size_t count = test::each_vector(path, [](const Vector& vector) {
    SCOPED_TRACE(vector["id"].text());
    const auto result = converted(vector);
    ASSERT_TRUE(std::holds_alternative<ConversationRequest>(result));
    const auto limit = resolve_max_tokens(std::get<ConversationRequest>(result),
                                          vector["input"]["prompt_tokens"].number(),
                                          vector["input"]["context_limit"].number());
    const Vector want = vector["expect"];
    if (const auto* tokens = std::get_if<std::uint32_t>(&limit)) {
      EXPECT_EQ(*tokens, want["max_tokens"].number());
      EXPECT_TRUE(want["max_tokens"].is_there());
    } else {
      EXPECT_EQ(std::get<RequestError>(limit).message, want["message"].text());
    }
  });
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace troupe::recipe::vectors_test
