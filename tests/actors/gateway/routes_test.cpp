// What a gateway answers by itself: health, models, version, and paths that are not there.
#include "tests/actors/gateway/gateway_driver.hpp"

namespace troupe {
namespace {

int status(GatewayDriver& gateway, const char* method, const char* path) {
  return gateway.answer(gateway.asks(method, path)).status;
}

TEST(GatewayRoutes, LiveWheneverItAnswers) {
  GatewayDriver gateway;
  for (const char* path : {"/live", "/liveness", "/ping"}) {
    EXPECT_EQ(status(gateway, "GET", path), 200) << path;
  }
}

TEST(GatewayRoutes, ReadyOnlyWithARank) {
  GatewayDriver gateway;
  for (const char* path : {"/ready", "/readiness", "/health/ready", "/health"}) {
    const SessionRespond waiting = gateway.answer(gateway.asks("GET", path));
    EXPECT_EQ(waiting.status, 503) << path;
    EXPECT_EQ(header(waiting, "retry-after"), "1");
  }
  gateway.joins(51);
  for (const char* path : {"/ready", "/readiness", "/health/ready", "/health"}) {
    EXPECT_EQ(status(gateway, "GET", path), 200) << path;
  }
  gateway.driver.hears_of_end(actor(51));
  EXPECT_EQ(status(gateway, "GET", "/ready"), 503);
}

TEST(GatewayRoutes, ADrainIsNotReadyButHealthyAndLive) {
  GatewayDriver gateway;
  gateway.ready().request();
  gateway.driver.hears(Drain{seconds(5)});
  EXPECT_EQ(status(gateway, "GET", "/ready"), 503);
  EXPECT_EQ(status(gateway, "GET", "/health"), 200);
  EXPECT_EQ(status(gateway, "GET", "/live"), 200);
}

TEST(GatewayRoutes, HeadIsAnsweredAsGet) {
  GatewayDriver gateway;
  EXPECT_EQ(status(gateway, "HEAD", "/live"), 200);
}

TEST(GatewayRoutes, VersionAndModels) {
  GatewayDriver gateway;
  gateway.joins(51);
  gateway.joins(52, 4, "script/*");
  EXPECT_NE(gateway.answer(gateway.asks("GET", "/version")).body.find("1.2.3"), std::string::npos);
  const std::string models = gateway.answer(gateway.asks("GET", "/v1/models")).body;
  EXPECT_NE(models.find(R"("m")"), std::string::npos) << models;
  EXPECT_EQ(models.find("script"), std::string::npos) << "patterns are no names";
}

TEST(GatewayRoutes, TheListOfModelsHasTheClientsShape) {
  GatewayDriver gateway;
  gateway.joins(51);
  EXPECT_EQ(gateway.answer(gateway.asks("GET", "/v1/models")).body,
            R"({"object":"list","data":[{"id":"m","object":"model","created":0,)"
            R"("owned_by":"troupe","max_model_len":4096}]})");
  const HeaderList anthropic{{"anthropic-version", "2023-06-01"}};
  EXPECT_EQ(gateway.answer(gateway.asks("GET", "/v1/models", anthropic)).body,
            R"({"data":[{"type":"model","id":"m","display_name":"m",)"
            R"("created_at":"1970-01-01T00:00:00Z"}],)"
            R"("has_more":false,"first_id":"m","last_id":"m"})");
}

TEST(GatewayRoutes, OneModelByItsNameHoweverItIsSpelled) {
  GatewayDriver gateway;
  gateway.joins(51, 4, "deepseek-ai/DeepSeek-V4");
  gateway.joins(52, 4, "script/*");
  for (const char* path : {"/v1/models/deepseek-ai%2FDeepSeek-V4",
                           "/v1/models/deepseek-ai/DeepSeek-V4", "/v1/models/script%2fhello"}) {
    const SessionRespond found = gateway.answer(gateway.asks("GET", path));
    EXPECT_EQ(found.status, 200) << path;
    EXPECT_EQ(found.body.rfind(R"({"id":")", 0), 0u) << found.body;
  }
  const HeaderList anthropic{{"anthropic-version", "2023-06-01"}};
  const SessionRespond shaped =
      gateway.answer(gateway.asks("GET", "/v1/models/script/a", anthropic));
  EXPECT_EQ(shaped.body.rfind(R"({"type":"model","id":"script/a")", 0), 0u) << shaped.body;
}

TEST(GatewayRoutes, AModelThatIsNotServedIsNotFoundInTheClientsShape) {
  GatewayDriver gateway;
  gateway.joins(51);
  const SessionRespond openai = gateway.answer(gateway.asks("GET", "/v1/models/nobody"));
  EXPECT_EQ(openai.status, 404);
  EXPECT_NE(openai.body.find("model_not_found"), std::string::npos) << openai.body;
  const HeaderList anthropic{{"anthropic-version", "2023-06-01"}};
  const SessionRespond other = gateway.answer(gateway.asks("GET", "/v1/models/nobody", anthropic));
  EXPECT_EQ(other.status, 404);
  EXPECT_NE(other.body.find("not_found_error"), std::string::npos) << other.body;
  EXPECT_EQ(status(gateway, "GET", "/v1/models/%zz"), 400);
  EXPECT_EQ(status(gateway, "GET", "/v1/models/m%2"), 400);
}

TEST(GatewayRoutes, LoadCountsTheRequestsUnderWay) {
  GatewayDriver gateway;
  gateway.ready().request();
  gateway.request();
  EXPECT_EQ(gateway.answer(gateway.asks("GET", "/load")).body, R"({"server_load":2})");
}

TEST(GatewayRoutes, WhatNeedsNoRankIsARequestLikeAnyOther) {
  GatewayDriver gateway;
  gateway.ready();
  for (const char* path : {"/v1/messages/count_tokens", "/v1/chat/completions/render", "/tokenize",
                           "/v1/tokenize", "/detokenize", "/v1/detokenize"}) {
    EXPECT_EQ(gateway.asks("POST", path).all<effect::Spawn>().size(), 1u) << path;
    EXPECT_EQ(status(gateway, "GET", path), 405) << path;
  }
}

TEST(GatewayRoutes, KeptResponsesNeedNoRankAndTakeNobodysPlace) {
  GatewayDriver gateway(1);
  EXPECT_EQ(gateway.asks("GET", "/v1/responses/resp_1").all<effect::Spawn>().size(), 1u);
  gateway.ready();
  for (const char* method : {"GET", "DELETE"}) {
    const Turn turn = gateway.asks(method, "/v1/responses/resp_1");
    ASSERT_EQ(turn.all<effect::Spawn>().size(), 1u) << method;
    EXPECT_FALSE(turn.metric("troupe_requests_live").has_value());
    EXPECT_EQ(gateway.answer(gateway.asks("GET", "/load")).body, R"({"server_load":0})");
    gateway.driver.hears_of_end(turn.all<effect::Spawn>()[0].ref, EndReason::kStopped);
  }
  EXPECT_EQ(gateway.asks("GET", "/v1/responses/r/input_items").all<effect::Spawn>().size(), 1u);
  EXPECT_EQ(status(gateway, "DELETE", "/v1/responses/r/input_items"), 405);
  EXPECT_EQ(status(gateway, "GET", "/v1/responses/r/others"), 404);
  EXPECT_EQ(gateway.chats().all<effect::Spawn>().size(), 1u) << "the one place is free";
}

TEST(GatewayRoutes, QuestionsAboutKeptResponsesAreBounded) {
  GatewayDriver gateway;
  std::size_t begun = 0;
  while (begun < 1000 && !gateway.asks("GET", "/v1/responses/r").all<effect::Spawn>().empty())
    ++begun;
  EXPECT_EQ(begun, 256u);
  EXPECT_EQ(status(gateway, "GET", "/v1/responses/r"), 503);
}

TEST(GatewayRoutes, UnknownPathsHaveTheErrorsOfTheirFamily) {
  GatewayDriver gateway;
  const SessionRespond unknown = gateway.answer(gateway.asks("POST", "/v1/messages/nothing"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body.rfind(R"({"type":"error")", 0), 0u) << unknown.body;
}

TEST(GatewayRoutes, UnknownPathsAndWrongMethodsSayWhat) {
  GatewayDriver gateway;
  const SessionRespond unknown = gateway.answer(gateway.asks("GET", "/v2/nothing"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.body.find("/v2/nothing"), std::string::npos);
  EXPECT_EQ(status(gateway, "GET", "/v1/chat/completions"), 405);
  EXPECT_EQ(status(gateway, "POST", "/health"), 405);
}

}  // namespace
}  // namespace troupe
