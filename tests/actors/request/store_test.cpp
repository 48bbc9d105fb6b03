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
    EXPECT_EQ(ask.unix_seconds, 1'000'000);
    ResponseAnswered answer;
    answer.found = true;
    answer.body = "{\"a\":1}";
    const Turn end = request.driver.hears(answer, from(request.store));
    EXPECT_EQ(end.only<SessionRespond>(request.session).body, "{\"a\":1}");
    EXPECT_EQ(request.release(end), (Release{.status = 200, .stops = true}));
  }
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
