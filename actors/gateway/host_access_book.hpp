// The requests that the access log has still to tell: from their arrival to their one line.
//
// What a line says comes from two sides: the HTTP server knows status, bytes and the last byte's
// time (http::Ended), whoever ends an answer knows tokens and times (AnswerFacts). Here they meet:
//
//   open ─ note (facts) ─ ended → done         answered
//   open ─ ended (gone) ─ note  → done         the client left: its request still says how far it
//                                              came, within kFactsWait
//   refused → done                             before it was handed out
//
// In stripes by io thread, as host_exchanges.hpp has them: io threads never wait for each other.
//
// Invariants: (1) each request is taken once; (2) at most `waiting_max` lines wait in a stripe, and
// as many of clients that left for facts; what has no room is counted; (3) no key and no query is
// kept; the part of a kept response's id that lets its owner read it is not either; texts of
// requests and answers only if Options say so. Threads: any. No lock is held while anybody is
// called.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/gateway/answer_facts.hpp"
#include "runtime/http/ended.hpp"
#include "runtime/observe/access_record.hpp"

namespace troupe {

class AccessBook {
 public:
  struct Options {
    bool health = false;             ///< health paths and /metrics get lines too
    std::size_t text_bytes = 0;      ///< of a request's and of an answer's text; 0: none
    std::size_t waiting_max = 8192;  ///< lines a stripe
  };
  /// How long a request that lost its client may take to tell what it had done.
  static constexpr Duration kFactsWait = seconds(2);

  explicit AccessBook(const Options& options) : options_(options) {}

  /// A request was handed out. `tenant` may be empty.
  void open(http::SessionId session, const http::Request& request, const std::string& tenant,
            Time now);
  /// What its answer was made of; a second time changes nothing.
  void note(std::uint64_t exchange, const AnswerFacts& facts);
  /// A part of its answer.
  void answer_text(std::uint64_t exchange, std::string_view bytes);
  /// The server's last word. `tenant`: of a request that was not handed out.
  void ended(const http::Ended& ended, const std::string& tenant, Time now);

  /// Nothing more is told: what still waits for facts is done as it is.
  void close() { closed_ = true; }
  /// Appends the lines that are done, with those whose facts will not come any more; returns how
  /// many were dropped since the last call.
  std::uint64_t take(std::vector<AccessRecord>& out, Time now);

 private:
  struct Open {
    AccessRecord record;
    Time arrived;
    bool noted = false;
    bool over = false;  ///< its client left; the facts are still to come
  };
  using OpenMap = std::unordered_map<std::uint64_t, Open>;
  struct alignas(64) Stripe {
    std::mutex mutex;
    OpenMap open;
    std::vector<AccessRecord> done;
    std::vector<std::pair<Time, std::uint64_t>> over;  ///< when to give up, in order
    std::uint64_t dropped = 0;
  };
  Stripe& stripe_of(std::uint64_t exchange) { return stripes_[exchange % stripes_.size()]; }
  bool is_told(std::string_view path) const;
  // The stripe is locked, all three.
  void finish(Stripe& stripe, AccessRecord record);
  void finish_open(Stripe& stripe, OpenMap::iterator at);
  void give_up(Stripe& stripe, Time now);

  const Options options_;
  std::atomic<bool> closed_{false};
  std::array<Stripe, 64> stripes_;
};

}  // namespace troupe
