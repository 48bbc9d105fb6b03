// Real processes over real sockets: joins, order, deaths, freezes, refusals, garbage, endings.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>

#include "runtime/base/rng.hpp"
#include "tests/runtime/cluster/peer_handle.hpp"

namespace troupe {
namespace {

constexpr std::int64_t kHeartbeat = 250;
/// What a busy machine may add to a promise.
constexpr std::int64_t kSlack = 1000;

class ClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    listen();
  }
  void listen() {
    listener = start("listen", "0", "1");
    port = word(listener->wait("started"), 1);
    ASSERT_FALSE(port.empty());
  }
  std::unique_ptr<PeerHandle> start(const std::string& how, const std::string& at,
                                    const std::string& node, bool unknown = false) {
    std::vector<std::string> words = {how, at, node, std::to_string(heartbeat)};
    if (unknown) words.push_back("unknown");
    return std::make_unique<PeerHandle>(words);
  }
  void join(const std::string& node = "2") {
    joiner = start("join", port, node);
    ASSERT_NE(joiner->wait("joined 1"), "") << joiner->text();
    ASSERT_NE(listener->wait("joined " + node), "") << listener->text();
  }
  static std::string word(const std::string& line, int which) {
    std::size_t at = 0;
    while (which-- > 0 && at != std::string::npos) at = line.find(' ', at + 1);
    return at == std::string::npos ? "" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
  }
  /// Both ends work: a message goes there and back.
  void expect_working() {
    listener->say("send 10");
    joiner->say("send 10");
    EXPECT_NE(listener->wait("echoed 10"), "") << listener->text();
    EXPECT_NE(joiner->wait("echoed 10"), "") << joiner->text();
  }

  std::unique_ptr<PeerHandle> listener;
  std::unique_ptr<PeerHandle> joiner;
  std::string port;
  std::int64_t heartbeat = kHeartbeat;
};

TEST_F(ClusterTest, TenThousandMessagesBothWaysInOrder) {
  join();
  listener->say("send 10000 100");
  joiner->say("send 10000 100");
  EXPECT_NE(listener->wait("echoed 10000"), "");
  EXPECT_NE(joiner->wait("echoed 10000"), "");
  for (const auto* peer : {listener.get(), joiner.get()}) {
    EXPECT_EQ(peer->text().find("out_of_order"), std::string::npos) << peer->text();
  }
  joiner->say("send 3 20000000");
  EXPECT_NE(joiner->wait("echoed 3"), "") << joiner->text();
}

TEST_F(ClusterTest, RoundTripsAndThroughputAreMeasured) {
  join();
  joiner->say("ping 2000");
  const std::string pings = joiner->wait("pinged 2000");
  joiner->say("send 100000 32");
  const std::string echoes = joiner->wait("echoed 100000");
  std::printf("%s\n%s\n", pings.c_str(), echoes.c_str());
  EXPECT_FALSE(pings.empty() || echoes.empty());
}

TEST_F(ClusterTest, MessagesAndWatchesToNobodyComeBack) {
  join();
  joiner->say("stray");
  EXPECT_TRUE(joiner->says("down 999 node lost")) << joiner->text();
  EXPECT_TRUE(joiner->says("undeliverable 1")) << joiner->text();
  EXPECT_TRUE(joiner->says("down 1 unknown")) << joiner->text();
}

TEST_F(ClusterTest, AKilledPeerIsNoticedAtOnceAndItsRestartJoins) {
  join();
  const std::int64_t killed = now_ms();
  joiner->signal(SIGKILL);
  const std::string down = listener->wait("down 2 node lost");
  ASSERT_NE(down, "") << listener->text();
  EXPECT_LT(time_of(down) - killed, 1000);
  std::printf("noticed a kill after %lld ms\n", static_cast<long long>(time_of(down) - killed));
  usleep(200'000);  // an incarnation lasts at least 125 ms
  join();
  expect_working();
}

TEST_F(ClusterTest, AKilledListenerIsNoticedAndItsRestartIsJoined) {
  join();
  const std::int64_t killed = now_ms();
  listener->signal(SIGKILL);
  const std::string down = joiner->wait("down 1 node lost");
  EXPECT_LT(time_of(down) - killed, 1000);
  listener->wait_end(5000);
  usleep(300'000);
  listener = start("listen", port, "1");
  ASSERT_NE(listener->wait("started " + port), "") << listener->text();
  EXPECT_NE(joiner->wait("joined 1"), "") << joiner->text();
  EXPECT_NE(listener->wait("joined 2"), "") << listener->text();
  expect_working();
}

TEST_F(ClusterTest, AFrozenPeerIsLostAndFencedWhenItThaws) {
  for (const std::int64_t frozen_ms : {1600, 5000}) {
    join();
    const std::int64_t stopped = now_ms();
    joiner->signal(SIGSTOP);
    const std::string down = listener->wait("down 2 node lost");
    ASSERT_NE(down, "") << listener->text();
    EXPECT_GT(time_of(down) - stopped, 2 * kHeartbeat);
    EXPECT_LT(time_of(down) - stopped, 4 * kHeartbeat + kSlack);
    std::printf("noticed a freeze after %lld ms\n",
                static_cast<long long>(time_of(down) - stopped));
    usleep(static_cast<unsigned>(std::max<std::int64_t>(0, stopped + frozen_ms - now_ms())) * 1000);
    joiner->signal(SIGCONT);
    EXPECT_NE(joiner->wait("down 1 node lost"), "") << "fenced: " << joiner->text();
    EXPECT_NE(joiner->wait("joined 1"), "") << joiner->text();
    EXPECT_NE(listener->wait("joined 2"), "") << listener->text();
    expect_working();
    listener->say("peers");
    EXPECT_GT(std::atoi(word(listener->wait("peer 2"), 3).c_str()), 1) << "a new join";
    joiner.reset();
    ASSERT_NE(listener->wait("lost 2"), "");
  }
}

TEST_F(ClusterTest, AFrozenListenerIsLostAndJoinedAnewWhenItThaws) {
  for (const std::int64_t frozen_ms : {1600, 8000}) {
    join();
    const std::int64_t stopped = now_ms();
    listener->signal(SIGSTOP);
    const std::string down = joiner->wait("down 1 node lost");
    EXPECT_LT(time_of(down) - stopped, 4 * kHeartbeat + kSlack);
    usleep(static_cast<unsigned>(std::max<std::int64_t>(0, stopped + frozen_ms - now_ms())) * 1000);
    listener->signal(SIGCONT);
    EXPECT_NE(joiner->wait("joined 1"), "") << joiner->text();
    EXPECT_NE(listener->wait("joined 2"), "") << listener->text();
    expect_working();
    joiner.reset();
    ASSERT_NE(listener->wait("lost 2"), "");
  }
}

TEST_F(ClusterTest, AnotherBuildIsRefusedWithTheReasonOnBothSides) {
  auto other = start("join", port, "3", true);
  EXPECT_NE(other->wait("protocol hash differs"), "") << other->text();
  EXPECT_NE(listener->wait("refused node 3"), "") << listener->text();
  EXPECT_NE(listener->text().find("both nodes must run the same build"), std::string::npos);
  join();
  expect_working();
}

TEST_F(ClusterTest, ATakenNodeIdIsRefused) {
  auto twin = start("join", port, "1");
  EXPECT_NE(twin->wait("node id 1 is taken"), "") << twin->text();
  join();
}

TEST_F(ClusterTest, APortInUseIsSaid) {
  auto second = start("listen", port, "5");
  EXPECT_NE(second->wait("is the port in use?"), "") << second->text();
  EXPECT_EQ(second->wait_end(5000), 1);
}

TEST_F(ClusterTest, GarbageDoesNoHarm) {
  join();
  Rng rng(7);
  for (int i = 0; i < 60; ++i) {
    const int raw = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port.c_str())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(raw, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    std::string bytes = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    if (i % 3 != 0) {
      bytes.resize(rng.below(4000));
      for (auto& byte : bytes) byte = static_cast<char>(rng.below(256));
      // Not the few headers that make CAF reserve gigabytes: loopback is what protects from those.
      if (bytes.size() > 8) bytes[0] = static_cast<char>(0x40 | (bytes[0] & 0x3f));
    }
    [[maybe_unused]] const auto written = send(raw, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    close(raw);
  }
  expect_working();
}

TEST_F(ClusterTest, APeerThatTakesNothingIsCutAtTheLimit) {
  heartbeat = 20'000;  // so that it is not the silence that ends it
  listen();
  join();
  joiner->signal(SIGSTOP);
  listener->say("send 100 1000000");  // 100 MB at once, the limit is 64 MiB
  EXPECT_TRUE(listener->says("undeliverable 2")) << listener->text();
  EXPECT_TRUE(listener->says("down 2 node lost")) << listener->text();
  EXPECT_TRUE(listener->says("bytes wait for it")) << listener->text();
  joiner->signal(SIGCONT);
  EXPECT_NE(joiner->wait("joined 1"), "");
}

TEST_F(ClusterTest, ALeaveIsToldAndSwift) {
  join();
  const std::int64_t asked = now_ms();
  joiner->say("quit");
  EXPECT_EQ(joiner->wait_end(5000), 0);
  EXPECT_LT(now_ms() - asked, 1500);
  EXPECT_TRUE(listener->says("it shuts down")) << listener->text();
  EXPECT_TRUE(listener->says("  lost 2")) << listener->text();
}

TEST_F(ClusterTest, AShutdownEndsInEveryState) {
  auto quits = [](PeerHandle& peer) {
    peer.say("quit");
    return peer.wait_end(8000);
  };
  auto alone = start("join", "1", "4");  // nobody listens there
  ASSERT_NE(alone->wait("cannot join yet"), "");
  EXPECT_EQ(quits(*alone), 0) << "waiting for its back-off";
  Rng rng(11);
  for (int i = 0; i < 8; ++i) {
    auto early = start("join", port, std::to_string(10 + i));
    usleep(static_cast<unsigned>(rng.below(120'000)));
    EXPECT_EQ(quits(*early), 0) << "while it connects: " << early->text();
  }
  join();
  listener->signal(SIGSTOP);
  EXPECT_EQ(quits(*joiner), 0) << "its listener is frozen";
  auto late = start("join", port, "5");
  usleep(300'000);
  EXPECT_EQ(quits(*late), 0) << "the listener is frozen in the handshake";
  listener->signal(SIGCONT);
  join("6");
  joiner->signal(SIGSTOP);
  EXPECT_EQ(quits(*listener), 0) << "its peer is frozen";
}

}  // namespace
}  // namespace troupe
