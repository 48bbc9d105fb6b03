// Requests that ask the store of responses: to show one, to delete one, to go on with one.
#include "tests/actors/request/request_driver.hpp"

namespace troupe {
namespace {

RequestDriver shows(const char* method = "GET", bool with_store = true) {
  return RequestDriver(RequestDriver::kPreparing, "", method, "/v1/responses/resp_1", with_store);
}

TEST(RequestStore, ShowAndDeleteAskTheStoreAndPassItsAnswerOn) {
  for (const bool drop : {false, true}) {
    RequestDriver request = shows(drop ? "DELETE" : "GET");
    EXPECT_TRUE(request.started.all<effect::Compute>().empty());
    EXPECT_TRUE(request.started.watches(request.store));
    const AskResponse ask = request.started.only<AskResponse>(request.store);
    EXPECT_EQ(ask.id, "resp_1");
    EXPECT_EQ(ask.drop, drop);
    EXPECT_EQ(ask.owner, "alice");
    EXPECT_EQ(request.started.order().front(), "session_adopted") << "no answer overtakes it";
    EXPECT_EQ(ask.unix_seconds, 1'000'000);
    ResponseAnswered answer;
    answer.found = true;
    answer.body = "{\"a\":1}";
    const Turn end = request.driver.hears(answer, from(request.store));
    EXPECT_EQ(end.only<SessionRespond>(request.session).body, "{\"a\":1}");
    EXPECT_EQ(request.release(end), (Release{.status = 200, .stops = true}));
  }
}

/// What a page of the items of one response says.
std::string items(const std::string& query, const std::string& input) {
  RequestDriver request(RequestDriver::kPreparing, "", "GET", "/v1/responses/resp_1/input_items",
                        true, query.c_str());
  if (request.started.count<AskResponse>() == 0) {
    return request.started.only<SessionRespond>(request.session).body;
  }
  ResponseAnswered answer;
  answer.found = true;
  answer.one.responses = {std::make_shared<const StoredResponse>(
      StoredResponse{"resp_1", "", 0, input, "{}", "alice"})};
  const Turn page = request.prepares(request.driver.hears(answer, from(request.store)));
  return page.only<SessionRespond>(request.session).body;
}

const std::string kThree =
    R"({"role":"user","content":"one"},{"type":"message","id":"msg_b","role":"assistant",)"
    R"("content":[{"type":"output_text","text":"two"}]},)"
    R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})";

TEST(RequestStore, InputItemsComeInPagesTheLastFirst) {
  EXPECT_EQ(items("limit=1&order=asc", kThree),
            R"({"object":"list","data":[{"id":"item_0_resp_1","type":"message","role":"user",)"
            R"("content":[{"type":"input_text","text":"one"}]}],"first_id":"item_0_resp_1",)"
            R"("last_id":"item_0_resp_1","has_more":true})");
  const std::string all = items("", kThree);
  EXPECT_LT(all.find("item_2_resp_1"), all.find("msg_b"));
  EXPECT_LT(all.find("msg_b"), all.find("item_0_resp_1"));
  EXPECT_NE(all.find(R"("has_more":false)"), std::string::npos) << all;
  const std::string rest = items("after=msg%5fb", kThree);
  EXPECT_EQ(rest.find("msg_b"), std::string::npos) << rest;
  EXPECT_NE(rest.find(R"("first_id":"item_0_resp_1")"), std::string::npos) << rest;
  EXPECT_EQ(items("after=item_0_resp_1", kThree),
            R"({"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false})");
}

TEST(RequestStore, AQueryThatSaysNothingKnownIsRefusedByName) {
  for (const char* query : {"limit=0", "limit=101", "limit=x", "limit=1x", "order=up", "limit=-1",
                            "after=nobody", "limit=%zz"}) {
    const std::string body = items(query, kThree);
    const std::string name = std::string(query).substr(0, std::string(query).find('='));
    EXPECT_NE(body.find("\"param\":\"" + name + "\""), std::string::npos) << query << body;
  }
  RequestDriver streamed(RequestDriver::kPreparing, "", "GET", "/v1/responses/resp_1", true,
                         "stream=true");
  EXPECT_EQ(streamed.release(streamed.started), (Release{.status = 400, .stops = true}));
}

TEST(RequestStore, AnUnknownResponseIs404) {
  RequestDriver request = shows();
  ResponseAnswered answer;
  answer.message = "Response with id 'resp_1' not found.";
  const Turn end = request.driver.hears(answer, from(request.store));
  EXPECT_EQ(request.release(end), (Release{.status = 404, .stops = true}));
  RequestDriver none = shows("GET", false);
  EXPECT_EQ(none.release(none.started), (Release{.status = 404, .stops = true}));
}

TEST(RequestStore, GoingOnFetchesTheConversationAndPreparesAgain) {
  RequestDriver request(RequestDriver::kPreparing, "goes on");
  const Turn asking = request.prepares();
  EXPECT_EQ(asking.only<FetchConversation>(request.store).id, "resp_1");
  EXPECT_STREQ(request.driver.core().phase(), "asking");
  ConversationFetched fetched;
  fetched.found = true;
  const Turn again = request.driver.hears(fetched, from(request.store));
  EXPECT_EQ(request.prepares(again).count<PlaceRequest>(), 1u);
  EXPECT_EQ(request.is_placed().only<OpenRow>(request.streams).store, request.store);
}

TEST(RequestStore, AMissingConversationIsTheVendorsError) {
  for (const bool with_store : {true, false}) {
    RequestDriver request(RequestDriver::kPreparing, "goes on", "POST", "/v1/responses",
                          with_store);
    Turn end = request.prepares();
    if (with_store) end = request.driver.hears(ConversationFetched{}, from(request.store));
    EXPECT_EQ(request.release(end), (Release{.status = 400, .stops = true}));
    const std::string body = end.only<SessionRespond>(request.session).body;
    EXPECT_NE(body.find(R"("param":"previous_response_id","code":"previous_response_not_found")"),
              std::string::npos)
        << body;
  }
}

TEST(RequestStore, AStoreThatEndsOrStaysSilentIsAnError) {
  RequestDriver lost = shows();
  const Turn end = lost.driver.hears_of_end(lost.store);
  EXPECT_EQ(lost.release(end), (Release{.status = 503, .stops = true}));
  RequestDriver silent = shows();
  const Turn late = silent.driver.timer_fires(RequestDriver::kDeadline);
  EXPECT_EQ(silent.release(late), (Release{.status = 504, .stops = true}));
  RequestDriver gone = shows();
  EXPECT_TRUE(gone.driver.hears(SessionGone{6}, from(gone.session)).stops());
}

TEST(RequestStore, ItsEndDoesNotEndARequestThatRuns) {
  RequestDriver request(RequestDriver::kPreparing, "goes on");
  request.prepares();
  ConversationFetched fetched;
  fetched.found = true;
  request.prepares(request.driver.hears(fetched, from(request.store)));
  request.is_placed();
  EXPECT_FALSE(request.driver.hears_of_end(request.store).stops());
}

}  // namespace
}  // namespace troupe
