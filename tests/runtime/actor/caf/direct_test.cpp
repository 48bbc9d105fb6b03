// Endpoints without a mailbox: order, overlap, watches, ends.
#include <atomic>

#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe {
namespace {

using namespace toys;

SystemOptions direct_options() {
  SystemOptions made;
  made.node = NodeId(1);
  made.seed = 7;
  return made;
}

Message act(What what, std::uint64_t number = 0, ActorRef ref = {}) {
  return make_message<Act>(std::uint64_t{what}, number, ref);
}

class DirectEndpointTest : public testing::Test {
 protected:
  DirectEndpointTest() : system(direct_options()), boss(system) {
    a = system.spawn_root<Toy>(1, {boss.ref()});
  }
  ActorRef open(std::function<void(const Envelope&)> receive) {
    return system.open_direct_endpoint(std::move(receive));
  }
  bool heard(const std::string& text) {
    return eventually([&] {
      for (std::size_t i = 0; i < boss.count<Told>(); ++i) {
        if (boss.wait<Told>(i)->text == text) return true;
      }
      return false;
    });
  }

  System system;
  Inbox boss;
  ActorRef a;
};

TEST_F(DirectEndpointTest, RunsInTheSendersTurn) {
  std::thread::id heard_on;
  const ActorRef direct = open([&](const Envelope&) { heard_on = std::this_thread::get_id(); });
  system.send(boss.ref(), direct, make_message<Told>("hello"));
  EXPECT_EQ(heard_on, std::this_thread::get_id());
}

TEST_F(DirectEndpointTest, KeepsOneSendersOrderAndLosesNothing) {
  constexpr std::size_t kSenders = 4, kEach = 5000;
  std::array<std::atomic<std::uint64_t>, kSenders> next{};
  std::atomic<std::size_t> wrong{0};
  const ActorRef direct = open([&](const Envelope& envelope) {
    const auto* told = envelope.message.as<Told>();
    if (next[told->ref.local]++ != told->number) ++wrong;
  });
  std::vector<std::thread> senders;
  for (std::size_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::size_t i = 0; i < kEach; ++i) {
        system.send(boss.ref(), direct,
                    make_message<Told>("", i, ActorRef{NodeId(1), 1, sender, 1}));
      }
    });
  }
  for (auto& sender : senders) sender.join();
  EXPECT_EQ(wrong, 0u);
  for (const auto& count : next) EXPECT_EQ(count, kEach);
}

TEST_F(DirectEndpointTest, WatchesAndAnswersWhileItIsBeingCalled) {
  std::atomic<int> downs{0};
  ActorRef direct;
  direct = open([&](const Envelope& envelope) {
    if (envelope.message.as<Told>() != nullptr) system.watch(direct, a);
    if (envelope.message.as<Down>() != nullptr) ++downs;
  });
  system.send(a, direct, make_message<Told>("watch it"));
  system.send(boss.ref(), a, act(kStop));
  EXPECT_TRUE(eventually([&] { return downs == 1; }));
  system.send(a, direct, make_message<Told>("watch it"));
  EXPECT_TRUE(eventually([&] { return downs == 2; })) << "nobody is there any more";
}

TEST_F(DirectEndpointTest, ItsEndIsHeardAndWhatComesLaterGoesBack) {
  std::atomic<int> calls{0};
  const ActorRef direct = open([&](const Envelope&) { ++calls; });
  system.send(boss.ref(), a, act(kWatch, 0, direct));
  system.send(boss.ref(), a, act(kEcho));
  ASSERT_TRUE(heard("echo"));
  EXPECT_EQ(system.describe(direct, seconds(5)).value(), "endpoint");
  system.close_endpoint(direct, EndReason::kKilled);
  EXPECT_TRUE(heard("down killed"));
  EXPECT_FALSE(system.alive(direct));
  system.send(boss.ref(), a, act(kForward, 0, direct));
  EXPECT_TRUE(heard("lost"));
  EXPECT_EQ(calls, 0);
}

TEST_F(DirectEndpointTest, WhatItThrowsEndsIt) {
  const ActorRef direct = open([](const Envelope&) { throw std::runtime_error("no"); });
  system.send(boss.ref(), a, act(kWatch, 0, direct));
  system.send(boss.ref(), a, act(kForward, 0, direct));
  EXPECT_TRUE(heard("down crashed"));
}

TEST_F(DirectEndpointTest, EndsWithTheSystem) {
  open([](const Envelope&) {});
  EXPECT_TRUE(system.shutdown(Duration(0), seconds(5)).ok());
  EXPECT_EQ(system.actor_count(), 0u);
}

}  // namespace
}  // namespace troupe
