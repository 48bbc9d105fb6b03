// The root of a node: what it starts, starts again, introduces, and in which order it drains.
#include "actors/node/node_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kFront = actor(90);
const ActorRef kPeer = actor(1, 1, 2);
const ActorRef kRemoteRank = actor(77, 1, 2);

NodeCore::Args node_args(bool with_gateway = true, std::size_t ranks = 1) {
  NodeCore::Args args;
  args.with_gateway = with_gateway;
  args.front = kFront;
  RankSpec rank;
  rank.args.device.slot_count = 4;
  rank.args.device.context_max = 4096;
  rank.args.limits.max_num_seqs = 10;
  rank.args.limits.queue_max = 5;
  rank.models = {"m"};
  args.ranks.assign(ranks, rank);
  return args;
}

RankJoined joined(const ActorRef& rank) {
  RankJoined message;
  message.rank = rank;
  message.models = {"remote"};
  return message;
}

class NodeTest : public testing::Test {
 protected:
  explicit NodeTest(const NodeCore::Args& args = node_args()) : node(args), started(node.starts()) {
    streams = child(started, "streams");
    gateway = child(started, "gateway");
    rank = child(started, "rank");
  }

  /// The last child of a kind that a turn started; nobody if none.
  static ActorRef child(const Turn& turn, std::string_view kind) {
    ActorRef found;
    for (const auto& spawn : turn.all<effect::Spawn>()) {
      if (kind == spawn.type->kind) found = spawn.ref;
    }
    return found;
  }
  /// It crashes, and its back-off passes.
  Turn crashes_and_returns(const ActorRef& ref) {
    const auto timers = node.hears_of_end(ref).all<effect::Timer>();
    EXPECT_EQ(timers.size(), 1u);
    node.passes(seconds(1));
    return node.timer_fires(timers.at(0).tag);
  }
  static std::vector<ActorRef> ranks_told(const Turn& turn, const ActorRef& to) {
    std::vector<ActorRef> ranks;
    for (const auto& one : turn.sent<RankJoined>(to)) ranks.push_back(one.rank);
    return ranks;
  }
  static ActorRef next_life(ActorRef ref) {
    ++ref.life;
    return ref;
  }

  CoreDriver<NodeCore> node;
  Turn started;
  ActorRef streams, gateway, rank;
};

TEST_F(NodeTest, ItStartsItsRolesAndIntroducesThem) {
  EXPECT_EQ(started.all<effect::Spawn>().size(), 3u);
  EXPECT_EQ(started.only<StreamsStarted>(gateway).streams, streams);
  EXPECT_EQ(started.only<GatewayStarted>(kFront).gateway, gateway);
  const RankJoined introduced = started.only<RankJoined>(gateway);
  EXPECT_EQ(introduced.rank, rank);
  EXPECT_EQ(introduced.models, std::vector<std::string>{"m"});
  EXPECT_EQ(introduced.capacity, 15u);  // runs 10, queues 5
  EXPECT_EQ(introduced.context_max, 4096u);
}

TEST_F(NodeTest, ARankNodeHasNoGateway) {
  CoreDriver<NodeCore> ranks(node_args(false, 2));
  const Turn turn = ranks.starts();
  EXPECT_EQ(turn.all<effect::Spawn>().size(), 2u);
  EXPECT_TRUE(turn.silent());
  const ActorRef one = turn.all<effect::Spawn>().at(0).ref;
  EXPECT_NE(one, turn.all<effect::Spawn>().at(1).ref);
  EXPECT_EQ(ranks.hears_of_end(one).all<effect::Timer>().size(), 1u);
}

TEST_F(NodeTest, ARankThatCrashedReturnsAsItsNextLife) {
  const Turn down = node.hears_of_end(rank);
  const auto timers = down.all<effect::Timer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, node.now() + milliseconds(100));
  EXPECT_TRUE(down.all<effect::Spawn>().empty());
  const Turn back = node.timer_fires(timers[0].tag);
  EXPECT_EQ(child(back, "rank"), next_life(rank));
  EXPECT_EQ(back.only<RankJoined>(gateway).rank, next_life(rank));
  EXPECT_EQ(back.metric("troupe_actor_restarts_total"), 1.0);
}

TEST_F(NodeTest, TheBackOffGrowsWithCrashes) {
  ActorRef life = rank;
  for (const int wait : {100, 200, 400}) {
    const auto timers = node.hears_of_end(life).all<effect::Timer>();
    ASSERT_EQ(timers.size(), 1u);
    EXPECT_EQ(timers[0].at, node.now() + milliseconds(wait));
    life = child(node.timer_fires(timers[0].tag), "rank");
  }
}

TEST_F(NodeTest, ANodeWhoseChildCrashesTooOftenGivesUp) {
  NodeCore::Args args = node_args();
  args.restart.give_up_after = 1;
  CoreDriver<NodeCore> fragile(args);
  const ActorRef first = child(fragile.starts(), "rank");
  const auto timers = fragile.hears_of_end(first).all<effect::Timer>();
  const ActorRef second = child(fragile.timer_fires(timers.at(0).tag), "rank");
  EXPECT_TRUE(fragile.hears_of_end(second).crashes());
}

TEST_F(NodeTest, ANewGatewayLearnsEverythingAgain) {
  node.hears(joined(kRemoteRank));
  const Turn back = crashes_and_returns(gateway);
  const ActorRef next = next_life(gateway);
  EXPECT_EQ(child(back, "gateway"), next);
  EXPECT_EQ(back.only<StreamsStarted>(next).streams, streams);
  EXPECT_EQ(back.only<GatewayStarted>(kFront).gateway, next);
  EXPECT_EQ(ranks_told(back, next), (std::vector<ActorRef>{rank, kRemoteRank}));
}

TEST_F(NodeTest, ANewStreamTableIsTold) {
  const Turn back = crashes_and_returns(streams);
  EXPECT_EQ(back.only<StreamsStarted>(gateway).streams, next_life(streams));
}

TEST_F(NodeTest, ADeadGatewayIsSentNothing) {
  node.hears_of_end(gateway);
  EXPECT_TRUE(crashes_and_returns(rank).silent());
  EXPECT_TRUE(node.hears(joined(kRemoteRank)).silent());
  EXPECT_TRUE(node.hears(RankLeft{kRemoteRank}).silent());
}

TEST_F(NodeTest, TheEndOfAnOldLifeOrAStrangerChangesNothing) {
  crashes_and_returns(rank);
  EXPECT_TRUE(node.hears_of_end(rank).all<effect::Timer>().empty());
  EXPECT_TRUE(node.hears_of_end(actor(123)).all<effect::Timer>().empty());
}

TEST_F(NodeTest, APeerLearnsItsRanksAndTheirNewLives) {
  const Turn met = node.hears(PeerJoined{kPeer});
  EXPECT_EQ(met.only<RankJoined>(kPeer).rank, rank);
  EXPECT_EQ(ranks_told(crashes_and_returns(rank), kPeer), std::vector<ActorRef>{next_life(rank)});
  node.hears(PeerJoined{kPeer});  // the link came back
  EXPECT_EQ(ranks_told(crashes_and_returns(next_life(rank)), kPeer).size(), 1u);
}

TEST_F(NodeTest, ALostPeersRanksLeaveAndItIsSentNothing) {
  node.hears(PeerJoined{kPeer});
  node.hears(joined(kRemoteRank));
  node.hears(joined(actor(78, 1, 3)));  // on another node
  EXPECT_EQ(node.hears(PeerLost{kPeer}).only<RankLeft>(gateway).rank, kRemoteRank);
  EXPECT_TRUE(ranks_told(crashes_and_returns(rank), kPeer).empty());
}

TEST_F(NodeTest, RemoteRanksAreForwardedAndOnlyTheirNewestLifeIsKept) {
  EXPECT_EQ(node.hears(joined(kRemoteRank)).only<RankJoined>(gateway).rank, kRemoteRank);
  node.hears(joined(next_life(kRemoteRank)));
  EXPECT_EQ(ranks_told(crashes_and_returns(gateway), next_life(gateway)),
            (std::vector<ActorRef>{rank, next_life(kRemoteRank)}));
}

TEST_F(NodeTest, ARemoteRankThatLeftIsForgotten) {
  node.hears(joined(kRemoteRank));
  EXPECT_EQ(node.hears(RankLeft{kRemoteRank}).only<RankLeft>(gateway).rank, kRemoteRank);
  EXPECT_EQ(ranks_told(crashes_and_returns(gateway), next_life(gateway)),
            std::vector<ActorRef>{rank});
}

TEST_F(NodeTest, TheGatewayDrainsFirstThenTheRestThenTheNode) {
  const Turn first = node.hears(Drain{seconds(5)});
  EXPECT_EQ(first.only<Drain>(gateway).within, seconds(5));
  const Turn second = node.hears_of_end(gateway, EndReason::kStopped);
  EXPECT_EQ(second.sent<Drain>(streams).size(), 1u);
  EXPECT_EQ(second.sent<Drain>(rank).size(), 1u);
  EXPECT_FALSE(node.hears_of_end(streams, EndReason::kStopped).stops());
  EXPECT_TRUE(node.hears_of_end(rank, EndReason::kStopped).stops());
}

TEST_F(NodeTest, ADrainCancelsWhatRunsBeforeItsTimeIsOver) {
  const auto timers = node.hears(Drain{seconds(5)}).all<effect::Timer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, node.now() + seconds(4));
  const Turn cancelling = node.timer_fires(timers[0].tag);
  EXPECT_EQ(cancelling.only<Drain>(gateway).within, Duration());
  const auto last = cancelling.all<effect::Timer>();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].at, node.now() + seconds(1));
  EXPECT_TRUE(node.timer_fires(last[0].tag).stops());
}

TEST_F(NodeTest, ADrainStartsNothingAgain) {
  const auto timers = node.hears_of_end(rank).all<effect::Timer>();
  node.hears(Drain{seconds(5)});
  EXPECT_TRUE(node.timer_fires(timers.at(0).tag).all<effect::Spawn>().empty());
  EXPECT_TRUE(node.hears(Drain{seconds(5)}).silent()) << "one drain is enough";
  EXPECT_TRUE(node.hears_of_end(gateway).all<effect::Timer>().empty());
  EXPECT_TRUE(node.hears_of_end(streams).stops());
}

}  // namespace
}  // namespace troupe
