// Stream table: one row a live request of this gateway node; the only writer to sessions.
//
// Why: a token must not cost a message to a request actor. The rank sends one TokenBatch a step;
// this core turns its rows into bytes and writes them. The request actor hears of the end only.
//
// Protocol: stream_messages.hpp.
//
// Invariants
// 1. A row gets exactly one RowClosed, unless its request closed it first or has ended.
// 2. Nothing is written to a session before the first token or the first keep-alive: an error until
//    then has its own status.
// 3. Bytes that the client has not taken are bounded: above `buffer_max` the row is parked at its
//    rank; after `park_max` it is cut.
// 4. Every TokenBatch that asks for it is answered by one BatchTaken.
// 5. Tokens reach a client without a gap, or not at all: a lost TokenBatch fails its rows. What a
//    client has already, of a row that began anew elsewhere, is passed over.
// 6. A row of several choices ends with its last one, and fails as a whole.
// 7. A stream that has said nothing for `keep_alive` gets a sign of life, at most
//    kKeepAliveSlack of that later, before and after its first token; a parked one does not, nor
//    any after its end.
// 8. If the owner ends without closing its row, the client gets an error.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/stream_table/answer.hpp"
#include "actors/stream_table/stream_messages.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/actor/short_list.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

class StreamTableCore {
 public:
  using Accepts = StreamTableProtocol;
  struct Args {
    Bytes buffer_max{256u << 10};     ///< DESIGN section 2, Back-pressure
    Duration park_max = seconds(10);  ///< the same
    Duration keep_alive;              ///< silence that is broken; 0: none is
  };
  static constexpr const char* kKind = "streams";

  explicit StreamTableCore(const Args& args) : args_(args) {}

  void on(const Started&, Context&, Effects&) {}
  void on(const OpenRow& open, Context& context, Effects& out);
  void on(const FailRow& fail, Context& context, Effects& out);
  void on(const CloseRow& close, Context& context, Effects& out);
  void on(const TokenBatch& batch, Context& context, Effects& out);
  void on(const SessionDrained& drained, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  void fetch_ahead(const TokenBatch& batch) const {
    for (const RowTokens& row : batch.rows) rows_.fetch(row.request);
  }

  const char* phase() const { return rows_.empty() ? "idle" : "streaming"; }
  std::string describe() const;
  std::size_t rows() const { return rows_.size(); }

 private:
  struct Choice {
    RequestId id;
    std::uint32_t output_tokens = 0;
    Time last_token_at;
    bool over = false;
  };
  struct Row {
    OpenRow open;        ///< a copy: what a token touches lies together
    WriterOfRow writer;  ///< after `open`, whose format it may be of
    bool begun = false;  ///< headers are written
    bool parked = false;
    Time said_at;               ///< last written to, or opened
    std::uint64_t written = 0;  ///< bytes
    std::uint64_t drained = 0;
    ShortList<Choice, 1> choices;
    std::uint32_t output_tokens = 0;  ///< of all choices
    std::uint32_t unsent_tokens = 0;  ///< tokens that no written byte carries yet
    Time first_token_at;
    Time last_token_at;
    Duration queued;  ///< of its first tokens, at the rank

    Choice& choice_of(RequestId id);
    std::uint32_t index_of(const Choice& choice) const {
      return static_cast<std::uint32_t>(&choice - choices.begin());
    }
  };

  Row* find(RequestId id);
  void take_tokens(Row& row, const RowTokens& tokens, Context& context, Effects& out);
  void observe_tokens(Row& row, Choice& choice, const RowTokens& tokens, Context& context,
                      Effects& out);
  void write(Row& row, std::string bytes, Context& context, Effects& out);
  /// Keeps one timer for all rows: one a row would be set and cancelled with each token.
  void keep_alive(Context& context, Effects& out);
  void expect_silence(Time from, Effects& out);
  void end_choice(Row& row, Choice& choice, Finish finish, CloseReason reason, Context& context,
                  Effects& out);
  void finish(Row& row, Finish finish, CloseReason reason, std::string bytes, Context& context,
              Effects& out);
  void park(Row& row, bool parked, Effects& out);
  void keep(const Row& row, Effects& out);
  AnswerFacts facts(const Row& row, AnswerEnding ending) const;
  void fail(Row& row, Code code, const std::string& message, Context& context, Effects& out);
  void close(Row& row, CloseReason reason, Effects& out);
  void forget(RequestId id, Effects& out);
  void watch_buffer(Row& row, Context& context, Effects& out);

  Args args_;
  IdMap<RequestId, Row> rows_;
  std::map<RequestId, RequestId> more_;  ///< rows of further choices → the request's
  Time silence_due_;                     ///< when the timer of keep_alive() fires; 0: it is not set
  bool draining_ = false;
};

}  // namespace troupe
