// A toy cluster for benchmarks: a two-choice balancer and ranks with a continuous batch.
//
// The decisions are templates over where their output goes, so that the very same code runs as
// cores in a World and in a bare loop that calls it directly.
#pragma once

#include <vector>

#include "runtime/actor/message_type.hpp"
#include "runtime/actor/world.hpp"

namespace troupe::bench {

struct Submit {
  static constexpr MessageInfo info{0x7501, "submit"};
  RequestId request;
  std::uint32_t tokens = 0;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("tokens", self.tokens);
  }
};

struct Finished {
  static constexpr MessageInfo info{0x7502, "finished"};
  RequestId request;
  std::uint32_t rank = 0;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("rank", self.rank);
  }
};

/// A step takes 20 ms and 0.3 ms a row, and gives every row a token.
struct RankLogic {
  struct Row {
    RequestId request;
    std::uint32_t left;
  };
  std::uint32_t rank = 0;
  bool running = false;
  std::vector<Row> rows;

  void submit(const Submit& submit, auto&& out) {
    rows.push_back({submit.request, submit.tokens});
    launch(out);
  }
  void stepped(auto&& out) {
    running = false;
    std::erase_if(rows, [&](Row& row) {
      if (--row.left > 0) return false;
      out.finished({row.request, rank});
      return true;
    });
    launch(out);
  }
  void launch(auto&& out) {
    if (running || rows.empty()) return;
    running = true;
    out.step_in(microseconds(20'000 + 300 * static_cast<std::int64_t>(rows.size())));
  }
};

/// Keeps `window` requests in flight until `goal` were sent.
struct BalancerLogic {
  std::uint64_t goal = 0;
  std::uint64_t sent = 0;
  std::uint64_t done = 0;
  std::vector<std::uint32_t> load;
  Rng rng{1};

  void begin(std::uint64_t window, auto&& out) {
    for (std::uint64_t i = 0; i < window; ++i) send_one(out);
  }
  void finished(const Finished& finished, auto&& out) {
    ++done;
    --load[finished.rank];
    send_one(out);
  }
  void send_one(auto&& out) {
    if (sent == goal) return;
    const auto a = static_cast<std::uint32_t>(rng.below(load.size()));
    const auto b = static_cast<std::uint32_t>(rng.below(load.size()));
    const std::uint32_t rank = load[a] <= load[b] ? a : b;
    ++load[rank];
    out.submit(rank, {RequestId(sent++), static_cast<std::uint32_t>(1 + rng.below(64))});
  }
};

struct RankCore;

struct BalancerCore {
  using Accepts = Protocol<Started, Finished>;
  struct Args {
    std::uint64_t goal = 0;
    std::uint64_t window = 0;
    std::vector<ActorRef> ranks;
  };
  static constexpr const char* kKind = "balancer";
  explicit BalancerCore(const Args& args) : args_(args) {
    logic.goal = args.goal;
    logic.load.resize(args.ranks.size());
  }
  struct Out {
    const std::vector<ActorRef>& ranks;
    Effects& effects;
    void submit(std::uint32_t rank, Submit submit) {
      effects.send(ranks[rank], make_message<Submit>(submit));
    }
  };
  void on(const Started&, Context&, Effects& out) {
    logic.begin(args_.window, Out{args_.ranks, out});
  }
  void on(const Finished& finished, Context&, Effects& out) {
    logic.finished(finished, Out{args_.ranks, out});
  }
  BalancerLogic logic;
  Args args_;
};

struct RankCore {
  using Accepts = Protocol<Started, Submit, TimerFired>;
  struct Args {
    std::uint32_t rank = 0;
    ActorRef balancer;
  };
  static constexpr const char* kKind = "rank";
  explicit RankCore(const Args& args) : balancer_(args.balancer) { logic.rank = args.rank; }
  struct Out {
    const ActorRef& balancer;
    Time now;
    Effects& effects;
    void finished(Finished finished) { effects.send(balancer, make_message<Finished>(finished)); }
    void step_in(Duration time) { effects.timer({1, 0}, now + time); }
  };
  void on(const Started&, Context&, Effects&) {}
  void on(const Submit& submit, Context& context, Effects& out) {
    logic.submit(submit, Out{balancer_, context.now, out});
  }
  void on(const TimerFired&, Context& context, Effects& out) {
    logic.stepped(Out{balancer_, context.now, out});
  }
  RankLogic logic;
  ActorRef balancer_;
};

}  // namespace troupe::bench
