// A request core in any of its states, with everyone around it played by the test.
#pragma once

#include <vector>

#include "actors/request/request_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {

/// Prepares every body to the same prompt of three tokens.
struct FixedPreparer final : RequestPreparer {
  Result<Prepared> prepare(const HttpArrived& arrived, RequestId,
                           const ResponseChain* earlier) const override {
    if (arrived.body == "goes on" && earlier == nullptr) {
      Prepared first;
      first.previous = "resp_1";
      return first;
    }
    if (arrived.body == "too much") return Error{Code::kTooLarge, "the body is too large"};
    Prepared prepared;
    if (arrived.body == "two prompts, three choices") {
      prepared.more_prompts = {{{TokenId(7), TokenId(8)}, 5}};
      prepared.choices = 3;
    }
    prepared.min_tokens = 4;
    prepared.model = "m";
    prepared.prompt = {TokenId(1), TokenId(2), TokenId(3)};
    prepared.prompt_length = 3;
    prepared.max_tokens = 16;
    prepared.stop_ids = {TokenId(9)};
    prepared.sampling.seed = 77;
    prepared.script = "hello";
    return prepared;
  }
  Duration modelled_time(const HttpArrived&) const override { return microseconds(20); }
};

/// What an end told the others: the session's answer, and what was given back.
struct Release {
  int status = 0;          ///< of SessionRespond; 0: none
  int cuts = 0;            ///< SessionCut
  int rows_failed = 0;     ///< FailRow: the stream table answers the session
  int rows_closed = 0;     ///< CloseRow
  int rows_cancelled = 0;  ///< CancelRow
  bool stops = false;

  friend bool operator==(const Release&, const Release&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Release& one) {
    return out << "status " << one.status << ", cuts " << one.cuts << ", FailRow "
               << one.rows_failed << ", CloseRow " << one.rows_closed << ", CancelRow "
               << one.rows_cancelled << (one.stops ? ", stops" : ", lives");
  }
};

class RequestDriver {
 public:
  enum State { kPreparing, kPlacing, kRunning };

  const ActorRef gateway = actor(2);
  const ActorRef streams = actor(3);
  const ActorRef session = actor(4);
  const ActorRef rank = actor(5);
  const ActorRef store = actor(6);
  const RequestId id{42};
  static constexpr TimerTag kDeadline{1, 0};

  explicit RequestDriver(State state, const char* body = "{}", const char* method = "POST",
                         const char* path = "/v1/responses", bool with_store = true,
                         const char* query = "")
      : driver(args(body, method, path, with_store, query), actor(1)) {
    started = driver.starts(from(gateway));
    if (state != kPreparing) prepares();
    if (state == kRunning) is_placed();
  }

  /// Runs the compute job that the core asked for and gives it the result.
  Turn prepares() { return prepares(started); }
  Turn prepares(const Turn& turn) {
    const auto jobs = turn.all<effect::Compute>();
    EXPECT_EQ(jobs.size(), 1u);
    const Message result = jobs.at(0).job->run(jobs.at(0).op);
    return driver.hears(*result.as<Done<Prepared>>());
  }
  Turn is_placed(std::vector<RequestId> more_rows = {}) {
    return driver.hears(Placed{id, rank, std::move(more_rows)}, from(gateway));
  }
  Turn row_closes(CloseReason reason) { return driver.hears(RowClosed{id, reason, 5}); }

  Release release(const Turn& turn) const {
    Release sum;
    for (const auto& one : turn.sent<SessionRespond>(session)) sum.status = one.status;
    EXPECT_LE(turn.count<SessionRespond>() + turn.count<SessionCut>(), 1u) << turn.story();
    sum.cuts = static_cast<int>(turn.sent<SessionCut>(session).size());
    sum.rows_failed = static_cast<int>(turn.sent<FailRow>(streams).size());
    sum.rows_closed = static_cast<int>(turn.sent<CloseRow>(streams).size());
    sum.rows_cancelled = static_cast<int>(turn.sent<CancelRow>(rank).size());
    sum.stops = turn.stops();
    return sum;
  }

  CoreDriver<RequestCore> driver;
  Turn started{Effects()};

 private:
  RequestCore::Args args(const char* body, const char* method, const char* path, bool with_store,
                         const char* query) const {
    HttpArrived arrived;
    arrived.method = method;
    arrived.path = path;
    arrived.query = query;
    arrived.tenant = "alice";
    arrived.unix_seconds = 1'000'000;
    arrived.exchange = 6;
    arrived.session = session;
    arrived.body = body;
    arrived.arrived = Time(seconds(1).value);
    arrived.trace = {1, 2, 3, 4, true};
    arrived.tracestate = "a=b";
    RequestCore::Args args;
    args.id = id;
    args.arrived = Shared<HttpArrived>::make(std::move(arrived));
    args.streams = streams;
    if (with_store) args.store = store;
    args.timeout = seconds(60);
    args.preparer = std::make_shared<const FixedPreparer>();
    return args;
  }
};

}  // namespace troupe
