#include "actors/rank/rank_core.hpp"

#include <gtest/gtest.h>

#include "runtime/actor/world.hpp"
#include "runtime/device/modelled_device.hpp"

namespace troupe {
namespace {

/// Steps of 10 ms that give a token only every third time, as scripts with delays do.
class SparseModel final : public StepModel {
 public:
  Outcome forward(const StepPlan& plan, Time) override {
    for (const StepRow& row : plan.rows) starts.push_back(row.start);
    return {milliseconds(10), StepResult{plan.step, 0, {}, {}}};
  }
  Outcome sample(const StepPlan& plan, Time) override {
    StepResult result{plan.step, 0, {}, {}};
    for (const StepRow& row : plan.rows) {
      if (!row.sample) continue;
      RowResult one;
      one.row = row.row;
      one.request = row.request;
      if (++samples_ % 3 == 0) one.tokens.emplace_back(7);
      result.rows.push_back(std::move(one));
    }
    return {Duration(), std::move(result)};
  }
  Duration copy(std::size_t) override { return Duration(); }

  std::vector<std::uint32_t> starts;

 private:
  int samples_ = 0;
};

/// Owner and stream table in one.
struct Client {
  using Accepts = Protocol<TokenBatch, RowRejected, Undeliverable>;
  struct Args {};
  static constexpr const char* kKind = "client";
  explicit Client(const Args&) {}

  void on(const TokenBatch& batch, Context&, Effects& out) {
    for (const RowTokens& row : batch.rows) {
      tokens += row.tokens.size();
      if (row.finish != Finish::kNone) finish = row.finish;
    }
    if (acknowledges && batch.acknowledge)
      out.send(batch.rank, make_message<BatchTaken>(batch.step));
  }
  void on(const RowRejected& rejected, Context&, Effects&) { refused = rejected.message; }
  void on(const Undeliverable&, Context&, Effects&) {}

  bool acknowledges = true;
  std::size_t tokens = 0;
  Finish finish = Finish::kNone;
  std::string refused;
};

class RankTest : public testing::Test {
 protected:
  void start(bool async, std::uint32_t blocks = 100) {
    auto owned = std::make_unique<SparseModel>();
    model = owned.get();
    DeviceInfo info;
    info.slot_count = 4;
    info.block_count = blocks;
    info.context_max = 100'000;
    device = std::make_unique<ModelledDevice>(info, std::move(owned));
    WorldOptions options;
    options.devices = {device.get()};
    world = std::make_unique<World>(std::move(options));
    RankCore::Args args;
    args.stream = {0, device->open_stream().value()};
    args.device = info;
    args.limits.async_steps = async;
    rank = world->spawn_root<RankCore>(NodeId(0), 1, args);
    client = world->spawn_root<Client>(NodeId(0), 2, {});
  }
  void submit(std::uint32_t prompt, std::uint32_t output) {
    SubmitRow row;
    row.request = RequestId(1);
    row.owner = row.streams = client;
    row.prompt_length = prompt;
    row.max_tokens = output;
    row.time_left = seconds(600);
    world->post(world->now(), rank, make_message<SubmitRow>(row));
  }
  const RankCore& core() { return world->core<RankCore>(rank); }
  Client& seen() { return world->core<Client>(client); }

  SparseModel* model = nullptr;
  std::unique_ptr<ModelledDevice> device;
  std::unique_ptr<World> world;
  ActorRef rank;
  ActorRef client;
};

TEST_F(RankTest, StepsThatBringNoTokenDoNotMoveTheRow) {
  for (const bool async : {true, false}) {
    start(async);
    submit(100, 200);
    world->run_until(Time() + seconds(1000));
    EXPECT_EQ(seen().tokens, 200u);
    EXPECT_EQ(seen().finish, Finish::kLength);
    // Positions: 100 of the prompt and 200 of the answer, and the steps in flight.
    EXPECT_LE(*std::max_element(model->starts.begin(), model->starts.end()), 302u) << async;
    EXPECT_EQ(core().rows(), 0u);
    EXPECT_EQ(core().blocks_held(), 0u);
  }
}

TEST_F(RankTest, ARowThatFillsTheWholePoolFinishes) {
  start(true, 3);  // 384 tokens
  submit(380, 0);
  world->run_until(Time() + seconds(1000));
  EXPECT_EQ(seen().finish, Finish::kLength);
  EXPECT_EQ(core().blocks_held(), 0u);
}

TEST_F(RankTest, APromptThatCannotFitIsRefusedWithBothNumbers) {
  start(true, 3);
  submit(400, 1);
  world->run_until(Time() + seconds(1));
  EXPECT_NE(seen().refused.find("400"), std::string::npos) << seen().refused;
  EXPECT_NE(seen().refused.find("382"), std::string::npos) << seen().refused;
}

TEST_F(RankTest, LostCreditsComeBackAfterASecond) {
  start(true);
  seen().acknowledges = false;
  submit(10, 100);  // more batches than the window of 32
  world->run_until(Time() + seconds(1000));
  EXPECT_EQ(seen().tokens, 100u);
  EXPECT_EQ(world->pending(), 0u);
}

}  // namespace
}  // namespace troupe
