// The outgoing queue, addresses, and each link message through the codec.
#include <gtest/gtest.h>

#include "runtime/actor/message_type.hpp"
#include "runtime/cluster/address.hpp"
#include "runtime/cluster/identity.hpp"
#include "runtime/cluster/link_messages.hpp"
#include "runtime/cluster/peer_pipe.hpp"

namespace troupe {
namespace {

struct Blob {
  static constexpr MessageInfo info{0x7f01, "blob"};
  std::uint64_t number = 0;
  std::string bytes;
  static void fields(auto& self, auto&& visit) {
    visit("number", self.number);
    visit("bytes", self.bytes);
  }
};

Envelope blob(std::uint64_t number, std::size_t size) {
  return {{}, {NodeId(2), 1, 5, 1}, make_message<Blob>(number, std::string(size, 'x'))};
}

TEST(PeerPipe, KeepsOrderAcrossBatches) {
  PeerPipe pipe(NodeId(2), 1, 64u << 20);
  EXPECT_EQ(pipe.put(blob(0, 1000)), PeerPipe::Put::kFirst);
  for (std::uint64_t i = 1; i < 2000; ++i) {
    ASSERT_EQ(pipe.put(blob(i, 1000)), PeerPipe::Put::kQueued);
  }
  MessageRegistry registry;
  registry.add<Blob>();
  const auto batches = pipe.take();
  EXPECT_GT(batches.size(), 5u);
  std::uint64_t next = 0;
  for (const auto& batch : batches) {
    std::string frame;
    Encoder(frame).put(batch.count);
    const auto envelopes = decode_frame(frame + batch.bytes, registry);
    ASSERT_TRUE(envelopes.ok());
    for (const auto& envelope : *envelopes) {
      EXPECT_EQ(envelope.message.as<Blob>()->number, next++);
    }
  }
  EXPECT_EQ(next, 2000u);
  EXPECT_EQ(pipe.put(blob(0, 1)), PeerPipe::Put::kFirst) << "wakes again after a take";
}

TEST(PeerPipe, OverflowsWhenThePeerDoesNotAcknowledge) {
  PeerPipe pipe(NodeId(2), 1, 10'000);
  std::uint64_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(pipe.put(blob(0, 1000)), PeerPipe::Put::kFirst);
    const std::size_t bytes = pipe.take().front().bytes.size();
    pipe.sent(bytes);
    pipe.acknowledged(sent += bytes);
  }
  pipe.acknowledged(sent + 1'000'000);  // a lie: more than was sent
  PeerPipe::Put last = PeerPipe::Put::kFirst;
  int taken = 0;
  for (; last != PeerPipe::Put::kOverflow && taken < 100; ++taken) {
    last = pipe.put(blob(0, 1000));
    for (const auto& batch : pipe.take()) pipe.sent(batch.bytes.size());
  }
  EXPECT_EQ(last, PeerPipe::Put::kOverflow);
  EXPECT_LE(taken, 11);
  EXPECT_TRUE(pipe.overflowed());
  EXPECT_EQ(pipe.put(blob(0, 1)), PeerPipe::Put::kClosed);
}

TEST(PeerPipe, APayloadOverTheLimitEndsItsSenderOnly) {
  PeerPipe pipe(NodeId(2), 1, 64u << 20);
  EXPECT_THROW(static_cast<void>(pipe.put(blob(1, kPayloadMax))), AssertionFailure);
  EXPECT_EQ(pipe.put(blob(2, 1)), PeerPipe::Put::kFirst);
  EXPECT_EQ(pipe.take().front().count, 1u) << "nothing of the first one is left";
}

TEST(ClusterAddress, LoopbackOnly) {
  EXPECT_EQ(to_string(*parse_cluster_address("join", "localhost:7000")), "127.0.0.1:7000");
  EXPECT_EQ(to_string(*parse_cluster_address("join", "[::1]:1")), "[::1]:1");
  EXPECT_TRUE(parse_cluster_address("join", "127.8.8.8:1").ok());
  for (const char* bad : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000",
                          "127.0.0.1:-1", "127.0.0.1:1 "}) {
    EXPECT_FALSE(parse_cluster_address("join", bad).ok()) << bad;
  }
  for (const char* far : {"10.0.0.1:1", "0.0.0.0:1", "example.org:1", "127.0.0:1", "127.0.0.256:1",
                          "127.0.0.1.evil.org:1"}) {
    const auto address = parse_cluster_address("cluster_listen", far);
    ASSERT_FALSE(address.ok()) << far;
    EXPECT_NE(address.error().message.find("expected a loopback host"), std::string::npos);
  }
}

TEST(LinkMessages, EachSurvivesTheCodec) {
  MessageRegistry registry;
  registry.add(LinkProtocol{});
  NodeCard card;
  card.version = "1.2";
  card.roles = {"rank", "gateway"};
  card.model = "m";
  card.heartbeat = milliseconds(250);
  card.root = {NodeId(3), 4, 5, 6};
  const ActorRef a{NodeId(1), 2, 3, 4}, b{NodeId(5), 6, 7, 8};
  const std::vector<Message> messages = {make_message<Hello>(std::uint64_t{1}, 2u, card),
                                         make_message<Welcome>(std::uint64_t{1}, card),
                                         make_message<Refused>(std::uint64_t{1}, std::string("no")),
                                         make_message<Ready>(std::uint64_t{1}),
                                         make_message<Beat>(std::uint64_t{1}, std::uint64_t{2}),
                                         make_message<Out>(std::uint64_t{1}, std::string("bye")),
                                         make_message<WatchRemote>(a, b),
                                         make_message<UnwatchRemote>(a, b)};
  EXPECT_EQ(messages.size(), registry.all().size());
  for (const auto& message : messages) {
    const auto back = decode_frame(encode_frame({{{}, {}, message}}), registry);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ((*back)[0].message.digest(), message.digest());
  }
}

TEST(Identity, IsDrawn) {
  EXPECT_NE(draw_node_id(), draw_node_id());
  EXPECT_GE(draw_node_id().value, 1u);
  EXPECT_GE(draw_incarnation(), 1u);
}

}  // namespace
}  // namespace troupe
