// The reading half of a connection: from readiness to requests, refusals and lost clients.
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "runtime/base/assert.hpp"
#include "runtime/http/connection.hpp"

namespace troupe::http {

using boost::system::error_code;
using Socket = boost::asio::ip::tcp::socket;

namespace {

/// Of a compressed body, in one turn of the loop: some 1 ms, then its other connections have
/// theirs.
constexpr std::size_t kDecodedPerTurn = std::size_t{1} << 20;

}  // namespace

void Connection::wait_readable() {
  if (phase_ == Phase::kClosed || reading_ || peer_closed_) return;
  if (reader_.is_behind()) return decode_later();
  if (phase_ == Phase::kExchange && pipelined_.size() >= limits_.header_bytes_max) {
    return wait_reset();
  }
  reading_ = true;
  transport_.socket().async_wait(Socket::wait_read,
                                 [self = shared_from_this()](const error_code& error) {
                                   self->reading_ = false;
                                   if (!error && self->phase_ != Phase::kClosed)
                                     self->on_readable();
                                 });
}

void Connection::decode_later() {
  if (decoding_) return;
  decoding_ = true;
  boost::asio::post(shard_.loop.context(), [self = shared_from_this()] {
    self->decoding_ = false;
    if (self->phase_ == Phase::kBody) self->decode_on();
  });
}

void Connection::decode_on() {
  reader_.begin_turn(kDecodedPerTurn);
  reader_.go_on();
  on_stage();
  std::string input;
  std::swap(input, pipelined_);
  if (phase_ == Phase::kClosed) return;
  parse(input);
  // What TLS has decrypted already makes no socket readable.
  if (!reader_.is_behind() && transport_.pending()) return on_readable();
  wait_readable();
}

void Connection::wait_reset() {
  if (phase_ == Phase::kClosed || watching_reset_) return;
  watching_reset_ = true;
  transport_.socket().async_wait(Socket::wait_error,
                                 [self = shared_from_this()](const error_code& error) {
                                   self->watching_reset_ = false;
                                   if (!error && self->phase_ != Phase::kClosed) self->lose();
                                 });
}

void Connection::on_readable() {
  reader_.begin_turn(kDecodedPerTurn);
  while (read_once() && transport_.pending() && !reader_.is_behind()) {
  }
  if (phase_ == Phase::kClosed) return;
  if (transport_.write_wants_read()) flush();
  if (transport_.read_wants_write()) wait_writable();
  wait_readable();
}

bool Connection::read_once() {
  auto& scratch = shard_.scratch();
  error_code error;
  const auto count = transport_.read(scratch.data(), scratch.size(), error);
  if (error == boost::asio::error::would_block) return false;
  if (error == boost::asio::error::eof) return on_end_of_stream(), false;
  if (error) return lose(), false;
  shard_.counters().bytes_received.add(count);
  const std::string_view bytes(scratch.data(), count);
  if (reads_requests()) {
    parse(bytes);
  } else if (phase_ == Phase::kExchange) {
    pipelined_.append(bytes);
  }
  return phase_ != Phase::kClosed;
}

void Connection::on_end_of_stream() {
  peer_closed_ = true;
  switch (phase_) {
    case Phase::kIdle:
    case Phase::kLinger:
      return close();
    case Phase::kHead:
    case Phase::kBody:
      return refuse({400, "bad_request", "the connection ended within the request"});
    case Phase::kExchange:
      arm(probe_at_, monotonic_now());
      wait_reset();
      return probe_if_due(probe_at_);
    case Phase::kClosing:
      return wait_reset();
    case Phase::kClosed:
      return;
  }
}

void Connection::parse(std::string_view bytes) {
  if (phase_ == Phase::kIdle && !bytes.empty()) began_ = monotonic_now();
  while (!bytes.empty() && reads_requests() && !reader_.is_behind()) {
    const Phase before = phase_;
    bytes.remove_prefix(reader_.feed(bytes));
    on_stage();
    const bool body_begins = before != Phase::kBody && phase_ == Phase::kBody;
    if (body_begins && bytes.empty() && reader_.wants_continue()) {
      writer_.add_continue();
      flush();
    }
  }
  if (phase_ == Phase::kExchange || reader_.is_behind()) pipelined_.append(bytes);
}

void Connection::on_stage() {
  switch (reader_.stage()) {
    case RequestReader::Stage::kEmpty:
      return;
    case RequestReader::Stage::kHead:
      if (phase_ != Phase::kIdle) return;
      phase_ = Phase::kHead;
      if (!first_request_) arm(deadline_, monotonic_now() + limits_.header_timeout);
      return;
    case RequestReader::Stage::kBody:
      if (phase_ != Phase::kBody) enter_body();
      return;
    case RequestReader::Stage::kDone:
      return hand_out();
    case RequestReader::Stage::kRefused:
      return refuse(reader_.refusal());
  }
}

AnswerContext Connection::answer_context() {
  return {.http10 = reader_.http10(),
          .head = reader_.request().method == "HEAD",
          .keep_alive = reader_.keep_alive(),
          .fields = answer_fields(reader_.request())};
}

Headers Connection::answer_fields(const Request& head) {
  Headers fields = cors_headers(shard_.shared().cors, head.headers);
  trace_ = shard_.trace_of(head);
  if (trace_) fields.emplace_back("traceparent", to_traceparent(trace_));
  return fields;
}

void Connection::enter_body() {
  phase_ = Phase::kBody;
  arm(deadline_, monotonic_now() + limits_.body_timeout);
  writer_.start_exchange(answer_context());
  if (auto early = shard_.shared().handler->on_headers(reader_.request())) {
    answer_and_close(std::move(*early));
  }
}

void Connection::hand_out() {
  if (phase_ != Phase::kBody) writer_.start_exchange(answer_context());
  phase_ = Phase::kExchange;
  deadline_ = kNever;
  first_request_ = false;
  if (peer_closed_) arm(probe_at_, monotonic_now());
  ByteLease lease = reader_.take_lease();
  Request request = reader_.take();
  if (lease.held() > 0) {
    request.hold = std::make_shared<const BodyHold>(shard_.shared().bodies, std::move(lease));
  }
  request.peer = transport_.peer();
  request.trace = trace_;
  reader_.reset();
  session_ = shard_.open_exchange(*this);
  shard_.shared().handler->on_request(session_, std::move(request));
}

void Connection::refuse(const Refusal& refusal) {
  shard_.counters().refused.add(1);
  const Request* head = reader_.head_or_null();
  if (phase_ != Phase::kBody) {
    trace_ = {};
    const auto fields = head != nullptr ? answer_fields(*head) : Headers();
    writer_.start_exchange({.keep_alive = false, .fields = fields});
  }
  if (head == nullptr) return answer_and_close(to_response(refusal), refusal.code);
  auto shaped = shard_.shared().handler->on_refused(*head, refusal);
  answer_and_close(shaped ? std::move(*shaped) : to_response(refusal), refusal.code);
}

void Connection::answer_and_close(Response response, std::string_view code) {
  TROUPE_ASSERT(reads_requests(), "the server answers by itself only before an exchange");
  shard_.shared().handler->on_ended({.head = reader_.head_or_null(),
                                     .trace = trace_,
                                     .status = response.status,
                                     .body_bytes = response.body.size(),
                                     .code = code,
                                     .began = began_});
  phase_ = Phase::kClosing;
  deadline_ = kNever;
  writer_.forbid_keep_alive();
  writer_.respond(std::move(response));
  flush();
}

}  // namespace troupe::http
