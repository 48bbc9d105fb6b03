// Conversations of Responses that are kept as texts and put together again.
#include <gtest/gtest.h>

#include "runtime/recipe/request/responses_history.hpp"
#include "tests/runtime/recipe/request/requests.hpp"

namespace troupe::recipe {
namespace {

TEST(ResponsesHistory, ThePreviousResponseIsATextThatIsNotEmpty) {
  EXPECT_EQ(previous_response_of(R"({"previous_response_id":"r1"})"), "r1");
  for (const char* body :
       {R"({"input":"x"})", R"({"previous_response_id":null})", R"({"previous_response_id":""})",
        R"({"previous_response_id":7})", R"({"input":"previous_response_id"})",
        R"(["previous_response_id"])", R"({"previous_response_id":)"}) {
    EXPECT_EQ(previous_response_of(body), std::nullopt) << body;
  }
}

TEST(ResponsesHistory, InputItemsWhateverTheirForm) {
  EXPECT_EQ(input_items_of(R"({"input":"a\"b"})"),
            R"({"type":"message","role":"user","content":[{"type":"input_text","text":"a\"b"}]})");
  EXPECT_EQ(input_items_of(R"({"input":[ {"role":"user","content":"a"}, {"n":1.50}]})"),
            R"({"role":"user","content":"a"}, {"n":1.50})");
  EXPECT_EQ(input_items_of(R"({"input":[ ]})"), "") << "spaces are no item";
  EXPECT_EQ(input_items_of(R"({"instructions":"x"})"), "");
  EXPECT_EQ(input_items_of("{"), "");
}

TEST(ResponsesHistory, EarlierItemsComeFirstAndTheRestStays) {
  const auto body = with_earlier_items(
      R"({"model":"m","previous_response_id":"r","input":"b","stream":true})", R"({"a":1})");
  EXPECT_EQ(body, R"({"input":[{"a":1},{"type":"message","role":"user","content":)"
                  R"([{"type":"input_text","text":"b"}]}],"model":"m","stream":true})");
  EXPECT_EQ(with_earlier_items(R"({"model":"m"})", R"({"a":1})"),
            R"({"input":[{"a":1}],"model":"m"})");
  EXPECT_EQ(with_earlier_items("[]", ""), std::nullopt);
}

TEST(ResponsesHistory, AToolsResultFindsItsCallOfAnEarlierResponse) {
  const std::string response =
      R"({"id":"r","output":[{"type":"function_call","id":"fc_1","call_id":"c1","name":"f",)"
      R"("arguments":"{}","status":"completed"}]})";
  const std::string tools = R"("tools":[{"type":"function","name":"f","parameters":{}}],)";
  const std::string second =
      "{\"model\":\"" + std::string(test::kV4) + "\"," + tools +
      R"("input":[{"type":"function_call_output","call_id":"c1","output":"ok"}]})";
  test::refused(Protocol::kResponses, second, test::options());
  std::string items = R"({"role":"user","content":"go"})";
  append_items(items, output_items_of(response).value());
  const auto request = test::accepted(Protocol::kResponses,
                                      with_earlier_items(second, items).value(), test::options());
  ASSERT_EQ(request.conversation.messages.size(), 3u);
  EXPECT_EQ(request.conversation.messages[1].calls.at(0).name, "f");
  EXPECT_EQ(request.conversation.messages[2].call_id, "c1");
}

TEST(ResponsesHistory, WhetherToKeepIsReadInDefaultModeOnly) {
  const auto body = [](const char* store) {
    return R"({"model":"plain","input":"x","store":)" + std::string(store) + "}";
  };
  EXPECT_EQ(test::accepted(Protocol::kResponses, body("true"), test::options()).store, true);
  EXPECT_EQ(test::accepted(Protocol::kResponses, body("false"), test::options()).store, false);
  EXPECT_EQ(test::accepted(Protocol::kResponses, body("null"), test::options()).store,
            std::nullopt);
  EXPECT_EQ(test::refused(Protocol::kResponses, body("1"), test::options()).param, "store");
}

}  // namespace
}  // namespace troupe::recipe
