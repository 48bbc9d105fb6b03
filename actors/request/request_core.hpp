// Request: owns one exchange from the accepted body to its one terminal outcome.
//
// It holds the leases: its rows at the rank (one a choice), its row in the stream table, its
// session. All three watch it, so that its end, for any reason and in any state, releases
// everything; it watches them, so that their end becomes an error that the client sees.
//
//   preparing ─Done<Prepared>→ placing ─Placed→ running ─RowClosed→ end
//        │                        │                │
//        ├── refused ─────────────┴── no rank ─────┴── rank lost, deadline, cancelled, client gone
//        ├── answered without a rank: tokens counted, a prompt rendered
//        └── asking: a stored response is shown or deleted; or the conversation that this request
//            goes on with is fetched, and preparing begins anew
//
// Invariants
// 1. Exactly one terminal outcome: this core answers the session itself until it has opened its
//    row; from then on only the stream table does.
// 2. It ends by itself in every state: the deadline timer runs from birth to end.
// 3. When it ends before the rank has, it has sent CancelRow (and its Down says the same).
// 4. The first that its session hears of it is SessionAdopted: no answer overtakes that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/gateway/routes.hpp"
#include "actors/request/request_messages.hpp"
#include "actors/responses/response_messages.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

/// Turns an HTTP request into what a rank needs. Pure and thread-safe: it runs in a Compute pool.
class RequestPreparer {
 public:
  virtual ~RequestPreparer() = default;
  /// `earlier`: the conversation up to the response that a first call named (Prepared::previous).
  virtual Result<Prepared> prepare(const HttpArrived& arrived, RequestId id,
                                   const ResponseChain* earlier) const = 0;
  /// What preparing costs in simulation.
  virtual Duration modelled_time(const HttpArrived& arrived) const = 0;
};

class RequestCore {
 public:
  using Accepts = RequestProtocol;
  struct Args {
    RequestId id;
    Shared<HttpArrived> arrived;
    HeaderList headers;  ///< that its answer carries beside its own
    ActorRef streams;    ///< nobody: it only asks the store
    ActorRef store;      ///< of responses; nobody if none are kept
    Duration timeout;    ///< of the whole request
    std::shared_ptr<const RequestPreparer> preparer;
  };
  static constexpr const char* kKind = "request";

  explicit RequestCore(Args args) : args_(std::move(args)), client_(client_of(*args_.arrived)) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const Done<Prepared>& done, Context& context, Effects& out);
  void on(const ConversationFetched& fetched, Context& context, Effects& out);
  void on(const ResponseAnswered& answered, Context& context, Effects& out);
  void on(const Placed& placed, Context& context, Effects& out);
  void on(const NotPlaced& refused, Context& context, Effects& out);
  void on(const RowRejected& rejected, Context& context, Effects& out);
  void on(const RowClosed& closed, Context& context, Effects& out);
  void on(const SessionGone& gone, Context& context, Effects& out);
  void on(const CancelRequest& cancel, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  const char* phase() const;
  /// The id on its client's answer.
  Subject subject() const;
  std::string describe() const;

 private:
  enum class State : std::uint8_t { kPreparing, kAsking, kPlacing, kRunning, kFailing };

  /// Whoever waits for the answer.
  struct Client {
    ActorRef session;
    std::uint64_t exchange = 0;
    recipe::Protocol protocol = recipe::Protocol::kChat;
    Time arrived;
    std::int64_t unix_seconds = 0;
    std::string tenant;
    TraceContext trace;
    std::string tracestate;
  };
  static Client client_of(const HttpArrived& arrived);

  void prepare(std::shared_ptr<const ResponseChain> earlier, Effects& out);
  void ask_store(Message question, Context& context, Effects& out);
  /// GET or DELETE of a kept response.
  void ask_for(const ResponsePath& path, Context& context, Effects& out);
  void reply(std::uint16_t status, std::string body, const std::string& code, Effects& out);
  /// Of an answer that the stream table has no part in.
  AnswerFacts facts(AnswerEnding ending, std::string code = {}) const;
  void refuse_previous(const std::string& why, Effects& out);
  /// The one way to an error: through the stream table once the row is open, else directly.
  void fail(Code code, const std::string& message, Context& context, Effects& out);
  std::uint32_t row_count() const;
  void submit(std::size_t row, Context& context, Effects& out);
  void cancel_row(Effects& out);

  Args args_;  ///< without `arrived` once nothing will prepare it (again)
  Client client_;
  ActorRef gateway_;
  ActorRef rank_;
  State state_ = State::kPreparing;
  /// Until its rows are submitted: it is large, and most of a request's life comes after that.
  Shared<Done<Prepared>> prepared_;
  std::string model_;  ///< as its client named it; empty until it is prepared
  std::uint32_t prompt_tokens_ = 0;
  bool streamed_ = false;
  std::vector<RequestId> rows_;  ///< at the rank, one a choice
  Time deadline_;
};

}  // namespace troupe
