// Group host: the machines of one prefill engine or decode instance, or one of encoders; starts it,
// and starts it again.
//
// A start takes its minutes (seed 000: restarts take minutes, so that resilience comes from
// headroom and re-routing), the first one too unless the cluster is said to be up already. What the
// group had is lost with it.
//
// Invariant: one child at a time, whose life grows.
#pragma once

#include <string>
#include <variant>

#include "actors/pd/decode_instance_core.hpp"
#include "actors/pd/encoder_machine_core.hpp"
#include "actors/pd/prefill_engine_core.hpp"

namespace troupe {

class GroupHostCore {
 public:
  using Accepts = Protocol<Started, TimerFired, Down, Undeliverable>;
  struct Args {
    std::variant<PrefillEngineCore::Args, DecodeInstanceCore::Args, EncoderMachineCore::Args> group;
    Duration start_up = seconds(240);
    Duration start_spread = seconds(60);  ///< uniform on top of it
    bool up_already = true;
  };
  static constexpr const char* kKind = "group_host";

  explicit GroupHostCore(const Args& args) : args_(args) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}

  const char* phase() const { return group_ ? "up" : "starting"; }
  std::string describe() const { return "starts=" + std::to_string(starts_); }
  /// Nobody while it starts.
  const ActorRef& group() const { return group_; }

 private:
  void begin(Context& context, Effects& out);
  void wait(Context& context, Effects& out);

  Args args_;
  ActorRef group_;
  ActorRef last_;  ///< the latest life
  std::uint32_t starts_ = 0;
};

}  // namespace troupe
