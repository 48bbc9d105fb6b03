// Who gets in, where they are placed, and that their end gives the place back.
#include <map>

#include "tests/actors/gateway/gateway_driver.hpp"

namespace troupe {
namespace {

/// A 503 that says when to come again and names the reason.
void expect_refused(GatewayDriver& gateway, const Turn& turn, const char* reason) {
  const SessionRespond answer = gateway.answer(turn);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(header(answer, "retry-after"), "2");
  EXPECT_NE(answer.body.find(reason), std::string::npos) << answer.body;
  EXPECT_TRUE(turn.all<effect::Spawn>().empty());
  EXPECT_EQ(turn.metric("troupe_requests_refused_total"), 1.0);
}

RequestCore::Args born(const Turn& turn) {
  return *static_cast<const RequestCore::Args*>(turn.all<effect::Spawn>().at(0).args.get());
}

TEST(GatewayAdmission, ARequestGetsAnActorThatTellsItsSession) {
  GatewayDriver gateway;
  const Turn turn = gateway.ready().chats();
  const auto spawned = turn.all<effect::Spawn>();
  ASSERT_EQ(spawned.size(), 1u);
  EXPECT_STREQ(spawned[0].type->kind, "request");
  const RequestCore::Args args = born(turn);
  ASSERT_EQ(args.headers.size(), 1u);
  EXPECT_EQ(args.headers[0].first, "x-request-id");
  EXPECT_TRUE(args.headers[0].second.starts_with("chatcmpl-")) << args.headers[0].second;
  EXPECT_EQ(args.streams, gateway.streams);
  EXPECT_EQ(args.arrived->exchange, gateway.exchange);
  EXPECT_EQ(args.timeout, seconds(600));
}

TEST(GatewayAdmission, RequestIdsAreNewInEveryLifeAndFitJson) {
  std::set<RequestId> ids;
  for (const std::uint32_t life : {1, 2, 3}) {
    ActorRef self = actor(1);
    self.life = life;
    GatewayDriver gateway(8, self);
    gateway.ready();
    for (int i = 0; i < 2; ++i) {
      const RequestId id = born(gateway.chats()).id;
      EXPECT_LT(id.value, std::uint64_t{1} << 53);
      EXPECT_TRUE(ids.insert(id).second) << id.value;
    }
  }
}

TEST(GatewayAdmission, WithoutARankOrAStreamTableItRefuses) {
  GatewayDriver gateway;
  gateway.driver.hears(StreamsStarted{gateway.streams}, from(gateway.node));
  expect_refused(gateway, gateway.chats(), "no rank");
  GatewayDriver other;
  other.joins(51);
  expect_refused(other, other.chats(), "stream table");
}

TEST(GatewayAdmission, AStreamTableThatEndedIsNotGivenToNewRequests) {
  GatewayDriver gateway;
  gateway.ready();
  gateway.driver.hears_of_end(gateway.streams);
  expect_refused(gateway, gateway.chats(), "stream table");
  const ActorRef next = actor(30, 2);
  EXPECT_TRUE(gateway.driver.hears(StreamsStarted{next}, from(gateway.node)).watches(next));
  EXPECT_EQ(born(gateway.chats()).streams, next);
}

TEST(GatewayAdmission, AtTheLimitItRefusesUntilARequestEnds) {
  GatewayDriver gateway(2);
  const ActorRef first = gateway.ready().request();
  gateway.request();
  expect_refused(gateway, gateway.chats(), "2 requests are under way");
  gateway.driver.hears_of_end(first);
  EXPECT_EQ(gateway.driver.core().live_requests(), 1u);
  EXPECT_TRUE(gateway.request());
}

TEST(GatewayAdmission, ADrainRefusesAndEndsWithItsLastRequest) {
  GatewayDriver gateway;
  const ActorRef last = gateway.ready().request();
  EXPECT_FALSE(gateway.driver.hears(Drain{seconds(5)}).stops());
  expect_refused(gateway, gateway.chats(), "draining");
  const Turn out_of_time = gateway.driver.hears(Drain{Duration()});
  EXPECT_EQ(out_of_time.only<Drain>(last).within, Duration());
  EXPECT_TRUE(gateway.driver.hears_of_end(last).stops());
  GatewayDriver idle;
  EXPECT_TRUE(idle.driver.hears(Drain{seconds(5)}).stops());
}

TEST(GatewayPlacement, TheLeastLoadedRankIsNext) {
  GatewayDriver gateway;
  gateway.ready().joins(52);
  std::map<ActorRef, int> load;
  std::map<ActorRef, ActorRef> by_request;
  for (int i = 0; i < 4; ++i) {
    const ActorRef request = gateway.request();
    by_request[request] = gateway.placed(request);
    ++load[by_request[request]];
  }
  EXPECT_EQ(load, (std::map<ActorRef, int>{{actor(51), 2}, {actor(52), 2}}));
  for (const auto& [request, rank] : by_request) {
    if (rank == actor(52)) gateway.driver.hears_of_end(request);
  }
  EXPECT_EQ(gateway.placed(gateway.request()), actor(52));
  EXPECT_EQ(gateway.placed(gateway.request()), actor(52));
}

TEST(GatewayPlacement, FullRanksTakeNoMore) {
  GatewayDriver gateway;
  gateway.driver.hears(StreamsStarted{gateway.streams}, from(gateway.node));
  gateway.joins(51, 1);
  const ActorRef first = gateway.request();
  EXPECT_EQ(gateway.placed(first), actor(51));
  const ActorRef second = gateway.request();
  EXPECT_EQ(gateway.places(second).only<NotPlaced>(second).code, Code::kUnavailable);
  gateway.driver.hears_of_end(first);
  EXPECT_EQ(gateway.placed(second), actor(51));
}

TEST(GatewayPlacement, AnUnknownModelIsNotFoundAndNamed) {
  GatewayDriver gateway;
  const ActorRef request = gateway.ready().request();
  const NotPlaced refused = gateway.places(request, "nobody").only<NotPlaced>(request);
  EXPECT_EQ(refused.code, Code::kNotFound);
  EXPECT_NE(refused.message.find("nobody"), std::string::npos);
}

TEST(GatewayPlacement, APatternServesAllNamesBelowIt) {
  GatewayDriver gateway;
  gateway.ready().joins(52, 4, "script/*");
  EXPECT_EQ(gateway.placed(gateway.request(), "script/hello"), actor(52));
  EXPECT_EQ(gateway.placed(gateway.request(), "m"), actor(51));
  EXPECT_FALSE(gateway.placed(gateway.request(), "scripted"));
}

TEST(GatewayPlacement, RanksThatEndOrLeaveAreNotChosen) {
  GatewayDriver gateway;
  gateway.ready();
  EXPECT_TRUE(gateway.joins(52).watches(actor(52)));
  gateway.driver.hears_of_end(actor(51));
  EXPECT_EQ(gateway.placed(gateway.request()), actor(52));
  EXPECT_EQ(gateway.placed(gateway.request()), actor(52));
  EXPECT_TRUE(gateway.driver.hears(RankLeft{actor(52)}, from(gateway.node)).unwatches(actor(52)));
  expect_refused(gateway, gateway.chats(), "no rank");
}

TEST(GatewayPlacement, EachChoiceOfARequestCountsAsOne) {
  GatewayDriver gateway(6);
  gateway.ready();
  const ActorRef request = gateway.request();
  const Placed placed = gateway.places(request, "m", 3).only<Placed>(request);
  ASSERT_EQ(placed.more_rows.size(), 2u);
  EXPECT_NE(placed.more_rows[0], placed.more_rows[1]);
  EXPECT_NE(placed.more_rows[0], gateway.ids.at(request));
  // One of four places at the rank is left, and three of six here.
  const ActorRef other = gateway.request();
  EXPECT_EQ(gateway.places(other, "m", 2).only<NotPlaced>(other).code, Code::kUnavailable);
  EXPECT_EQ(gateway.placed(other), actor(51));
  gateway.request();
  gateway.request();
  expect_refused(gateway, gateway.chats(), "6 requests are under way");
  gateway.driver.hears_of_end(request);
  EXPECT_TRUE(gateway.request());
}

TEST(GatewayPlacement, MoreChoicesThanAnyoneTakesAreTheClientsFault) {
  GatewayDriver gateway(6);
  const ActorRef request = gateway.ready().request();
  EXPECT_EQ(gateway.places(request, "m", 5).only<NotPlaced>(request).code, Code::kInvalid);
  EXPECT_EQ(gateway.places(request, "m", 7).only<NotPlaced>(request).code, Code::kInvalid);
  EXPECT_EQ(gateway.placed(request), actor(51));
}

TEST(GatewayStore, RequestsAreToldOfTheStoreThatLives) {
  GatewayDriver gateway(16);
  gateway.ready();
  EXPECT_FALSE(born(gateway.chats()).store);
  const ActorRef store = actor(60);
  EXPECT_TRUE(gateway.driver.hears(ResponsesStarted{store}, from(gateway.node)).watches(store));
  EXPECT_EQ(born(gateway.chats()).store, store);
  EXPECT_EQ(born(gateway.asks("GET", "/v1/responses/resp_1")).store, store);
  EXPECT_EQ(born(gateway.asks("DELETE", "/v1/responses/resp_1")).store, store);
  gateway.driver.hears_of_end(store);
  EXPECT_FALSE(born(gateway.chats()).store);
  EXPECT_EQ(gateway.answer(gateway.asks("POST", "/v1/responses/resp_1")).status, 405);
}

TEST(GatewayClients, OneThatLeftBeforeItsAdoptionEndsItsRequest) {
  GatewayDriver gateway;
  const ActorRef first = gateway.ready().request();
  const std::uint64_t exchange = gateway.exchange;
  gateway.request();
  const Turn turn = gateway.driver.hears(SessionGone{exchange}, from(gateway.session));
  EXPECT_EQ(turn.only<SessionGone>(first).exchange, exchange);
  EXPECT_TRUE(gateway.driver.hears(SessionGone{exchange}, from(actor(21))).silent());
}

TEST(GatewayClients, AnOperatorsCancelReachesTheRequest) {
  GatewayDriver gateway;
  const Turn admitted = gateway.ready().chats();
  const ActorRef request = admitted.all<effect::Spawn>().at(0).ref;
  const RequestId id = born(admitted).id;
  const Turn turn = gateway.driver.hears(CancelRequest{id, "operator"});
  EXPECT_EQ(turn.only<CancelRequest>(request).why, "operator");
  EXPECT_TRUE(gateway.driver.hears(CancelRequest{RequestId(1), "x"}).silent());
  const ActorRef asker = actor(22);
  const Turn found = gateway.driver.hears(CancelRequest{id, "operator"}, from(asker));
  EXPECT_TRUE(found.only<CancelAnswered>(asker).found);
  const Turn unknown = gateway.driver.hears(CancelRequest{RequestId(1), "x"}, from(asker));
  EXPECT_FALSE(unknown.only<CancelAnswered>(asker).found);
}

}  // namespace
}  // namespace troupe
