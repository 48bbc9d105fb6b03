// The body of one request while it arrives: decoded, counted and paid for. Pure.
//
// Invariants
//   1. The body never exceeds `bytes_max`, decoded (413).
//   2. What is allocated for it is leased from the budget of all bodies first (503): the charge is
//      the capacity, not the size.
//   3. After a refusal nothing more is kept.
//   4. Between two begin_turn() at most so many bytes are decoded (and one piece). What was
//   appended
//      beyond that waits as it came, is_behind() is true, and the owner reads no more until
//      go_on() has caught up: what waits is at most what was appended in one turn.
// Threads: one at a time. The budget outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/http/body_decoder.hpp"
#include "runtime/http/byte_budget.hpp"
#include "runtime/http/refusal.hpp"

namespace troupe::http {

class BodyCollector {
 public:
  BodyCollector(std::size_t bytes_max, ByteBudget& budget)
      : bytes_max_(bytes_max), lease_(budget) {}

  /// `coding`: of Content-Encoding; empty or identity: none. Requires: BodyDecoder supports it.
  void set_coding(std::string_view coding);

  /// Until the first call nothing bounds a turn.
  void begin_turn(std::size_t decoded_max) { room_ = decoded_max; }
  bool is_behind() const { return behind_ && !refusal_; }
  /// Decodes what waits. False: see refusal().
  bool go_on();

  /// Bytes of the body as they were sent, without chunked coding. False: see refusal().
  bool append(std::string_view bytes);
  /// The body is over. Requires: !is_behind(). False: see refusal().
  bool finish();
  const std::optional<Refusal>& refusal() const { return refusal_; }

  /// Both leave this empty.
  std::string take_body() { return std::move(body_); }
  ByteLease take_lease() { return std::move(lease_); }

 private:
  bool decode(std::string_view& bytes);
  bool keep(std::string_view piece);
  bool refuse(Refusal why);

  std::size_t bytes_max_;
  std::unique_ptr<BodyDecoder> decoder_;
  bool encoded_bytes_seen_ = false;
  std::size_t room_ = SIZE_MAX;  ///< what may be decoded in this turn
  bool behind_ = false;
  std::string waiting_;  ///< not decoded yet
  std::string body_;
  ByteLease lease_;
  std::optional<Refusal> refusal_;
};

/// Over `bytes_max`, whether announced or found while reading.
Refusal body_too_large();

}  // namespace troupe::http
