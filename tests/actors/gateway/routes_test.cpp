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
