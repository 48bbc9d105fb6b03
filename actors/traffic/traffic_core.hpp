// Traffic: makes load, plays the clients' side of every exchange, and measures.
//
// What to ask comes from a RequestSource (actors/load); this core decides when, within the plan's
// bounds, and lets sessions go on: a turn that was answered is followed by the next after its think
// time, with what the server really said; a turn that failed or was left ends its session.
//
// The same core drives the simulated gateway and, through a dialer endpoint that speaks the same
// messages, any HTTP server. Its target is given, or told by GatewayStarted; a new life of the
// gateway replaces the old one.
//
// Protocol: session_messages.hpp (as the session), traffic_messages.hpp.
//
// Invariants
// 1. Each measured request that was started is recorded once, with exactly one outcome.
// 2. At most `plan.concurrency` exchanges are live (if it is given).
// 3. An exchange that the client leaves (cancel, timeout, drain) is told to the request that
//    adopted it, else to the target; nothing that arrives for it later counts.
// 4. After the last exchange nothing is held: no timer, no watch except on the target.
// 5. No coordinated omission: a request's latency counts from when it was meant to start, be it
// that
//    the server, the bound on concurrency or this core held it up. The source is not asked for more
//    than the next request, so that what waits for room costs no memory.
//
// Warm-up requests come first, `concurrency` (or one) at a time, and are not recorded; they are
// drawn by the plan's lengths, without trace, sessions and cancels, from a seed of their own. The
// measurement begins when all of them have ended.
//
// Files: traffic_core.cpp (when requests start), traffic_session.cpp (how they go on and end).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/load/request_source.hpp"
#include "actors/traffic/chunk_counter.hpp"
#include "actors/traffic/prompt_maker.hpp"
#include "actors/traffic/traffic_messages.hpp"
#include "actors/traffic/traffic_report.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

class TrafficCore {
 public:
  using Accepts = TrafficProtocol;
  struct Args {
    TrafficPlan plan;
    std::shared_ptr<RequestSource> source;  ///< none: what the plan draws (it names no trace)
    std::shared_ptr<const PromptMaker> prompts;
    ActorRef target;       ///< nobody: wait for GatewayStarted
    Duration start_after;  ///< from knowing the target to the first request
    /// False: all tokens but the first come at once, whatever their times (runs as sums), so that
    /// the gaps between them say nothing.
    bool gaps_are_real = true;
    ActorRef observer;  ///< gets TrafficProgress and TrafficEnded; may be nobody
  };
  static constexpr const char* kKind = "traffic";

  explicit TrafficCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const GatewayStarted& started, Context& context, Effects& out);
  void on(const SessionAdopted& adopted, Context& context, Effects& out);
  void on(const SessionRespond& answer, Context& context, Effects& out);
  void on(const SessionBegin& begin, Context& context, Effects& out);
  void on(const SessionWrite& write, Context& context, Effects& out);
  void on(const SessionEnd& end, Context& context, Effects& out);
  void on(const SessionCut& cut, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  void fetch_ahead(const SessionAdopted& adopted) const { exchanges_.fetch(adopted.exchange); }
  void fetch_ahead(const SessionBegin& begin) const { exchanges_.fetch(begin.exchange); }
  void fetch_ahead(const SessionWrite& write) const { exchanges_.fetch(write.exchange); }
  void fetch_ahead(const SessionEnd& end) const { exchanges_.fetch(end.exchange); }

  const char* phase() const;
  std::string describe() const;
  bool ended() const { return phase_ == Phase::kEnded; }
  std::uint32_t live() const { return static_cast<std::uint32_t>(exchanges_.size()); }
  std::uint64_t started() const { return started_; }
  /// When the oldest exchange under way was sent; nothing: none is.
  std::optional<Time> oldest_start() const;
  const TrafficReport& report() const { return report_; }

 private:
  enum class Phase : std::uint8_t { kWaiting, kWarmup, kMeasuring, kEnded };
  enum TimerKind : std::uint32_t {
    kArrival = 1,
    kCancel,
    kTimeout,
    kReader,
    kStart,
    kDurationOver,
    kProgress
  };

  /// A request, and what was said in its session before.
  struct Ask {
    PlannedRequest planned;
    std::vector<std::string> answers;
  };

  struct Exchange {
    ExchangeRecord record;
    Ask ask;
    bool measured = true;
    ActorRef target;
    ActorRef request;  ///< nobody: not adopted yet
    ActorRef streams;
    RequestId row;                    ///< its number there
    std::uint64_t bytes = 0;          ///< written to it
    std::uint64_t bytes_drained = 0;  ///< as told to the streams
    bool reads = true;
    std::unique_ptr<ChunkCounter> counter;  ///< if tokens must be counted from bytes
  };

  // When requests start (traffic_core.cpp).
  void approach(Context& context, Effects& out);
  void begin(Context& context, Effects& out);
  void begin_measuring(Context& context, Effects& out);
  /// Starts what may start now, and ends the run if nothing is left.
  void proceed(Context& context, Effects& out);
  void fill_warmup(Context& context, Effects& out);
  void fill(Context& context, Effects& out);
  /// Asks the source for the next request.
  void pull();
  /// Starts the turn or the request that is due first; false: none is, or there is no room.
  bool start_due(Context& context, Effects& out);
  void arm(Context& context, Effects& out);
  bool has_room() const;
  bool has_user() const;
  bool may_start(Time at) const;
  /// When the source's next request is meant to start.
  Time coming_at(Time now) const;
  bool over(Time now) const;
  void start(Ask ask, Time intended, bool measured, Context& context, Effects& out);
  void finish(Effects& out);
  void report_progress(Context& context, Effects& out);

  // How they go on (traffic_session.cpp).
  Exchange* find(std::uint64_t number);
  void take_tokens(Exchange& exchange, std::uint32_t tokens, Time now) const;
  void tell_drained(std::uint64_t number, Exchange& exchange, Effects& out);
  void leave(std::uint64_t number, Outcome outcome, const char* why, Context& context,
             Effects& out);
  void lose_target(const ActorRef& target, Context& context, Effects& out);
  void conclude(std::uint64_t number, Outcome outcome, std::string error, Context& context,
                Effects& out);
  void take_usage(Exchange& exchange);
  /// Lets the session go on after an answer.
  void follow(Exchange& exchange, Time now);

  Args args_;
  std::shared_ptr<RequestSource> source_;
  std::unique_ptr<RequestSource> warmup_source_;
  TrafficReport report_;
  Phase phase_ = Phase::kWaiting;
  ActorRef target_;
  IdMap<std::uint64_t, Exchange> exchanges_;
  IdMap<ActorRef, std::uint64_t> by_request_;
  std::optional<PlannedRequest> coming_;  ///< the source's next; nothing: it has no more
  std::multimap<Time, Ask> turns_;        ///< later turns, by when they are meant to start
  std::optional<Time> armed_;             ///< what the arrival timer is set to
  std::uint64_t next_exchange_ = 0;
  std::uint64_t started_ = 0;  ///< measured ones
  std::uint32_t warmups_started_ = 0;
  Time measuring_since_;
};

}  // namespace troupe
