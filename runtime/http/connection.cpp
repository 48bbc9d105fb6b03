// The writing half of a connection, its deadlines and its ends (reading: connection_read.cpp).
#include "runtime/http/connection.hpp"

#include <boost/asio/error.hpp>

#include "runtime/base/assert.hpp"

namespace troupe::http {

using boost::system::error_code;
using Socket = boost::asio::ip::tcp::socket;

namespace {

/// A draining server does not wait long for clients that leave their side open.
constexpr Duration kDrainLinger = milliseconds(250);
/// When to ask again whether a client that sent its end of stream still reads.
constexpr Duration kProbeGaps[] = {seconds(1), seconds(2)};
}  // namespace

Connection::Connection(Shard& shard, Socket socket)
    : shard_(shard),
      limits_(shard.shared().limits),
      transport_(std::move(socket), limits_, shard.shared().current_tls().get()),
      reader_(limits_.header_bytes_max, limits_.body_bytes_max, *shard_.shared().bodies) {}

void Connection::start() {
  arm(deadline_, monotonic_now() + limits_.header_timeout);
  wait_readable();
}

void Connection::start_refused(const Refusal& refusal) {
  refused_ = true;
  began_ = monotonic_now();
  refuse(refusal);
  wait_readable();
}

void Connection::respond(Response response) {
  if (writer_.begun()) return;
  if (shard_.shared().winding_down) writer_.forbid_keep_alive();
  writer_.respond(std::move(response));
  flush_later();
}

void Connection::begin_stream(int status, const Headers& headers) {
  if (writer_.begun()) return;
  if (shard_.shared().winding_down) writer_.forbid_keep_alive();
  writer_.begin(status, headers);
  flush_later();
}

void Connection::write(std::string_view bytes) {
  if (!writer_.begun() || writer_.ended()) return;
  if (writer_.outstanding() + bytes.size() > limits_.outstanding_bytes_max) {
    flush();
    if (phase_ != Phase::kExchange) return;
    if (writer_.outstanding() + bytes.size() > limits_.outstanding_bytes_max) return cut_over_cap();
  }
  writer_.write(bytes);
  flush_later();
}

void Connection::end() {
  if (!writer_.begun() || writer_.ended()) return;
  writer_.end();
  flush_later();
}

void Connection::flush_later() {
  if (!dirty_) shard_.mark_dirty(*this);
  dirty_ = true;
}

void Connection::cut() {
  shard_.close_exchange(session_);
  report(Ended::How::kCut);
  abort_answer();
}

void Connection::cut_over_cap() {
  const SessionId session = session_;
  shard_.close_exchange(session);
  shard_.counters().gone.add(1);
  report(Ended::How::kGone);
  abort_answer();
  shard_.shared().handler->on_gone(session);
}

void Connection::abort_answer() {
  phase_ = Phase::kClosing;
  const bool begun = writer_.begun();
  if (!writing_ && !write_out()) return;  // closed already
  if (phase_ == Phase::kClosed) return;
  // A body that ends with the connection looks complete after an orderly close; a reset does not.
  if (!begun || writer_.until_close()) return close(writer_.until_close());
  begin_linger();
}

void Connection::flush() {
  dirty_ = false;
  if (phase_ == Phase::kClosed || phase_ == Phase::kLinger || writing_) return;
  const std::uint64_t before = writer_.payload_written();
  if (write_out()) after_write(before);
}

bool Connection::write_out() {
  bool progress = false;
  while (true) {
    const auto pieces = writer_.next();
    if (pieces[0].size() + pieces[1].size() + pieces[2].size() == 0) break;
    error_code error;
    const auto count = transport_.write(pieces, error);
    if (error == boost::asio::error::would_block) {
      if (progress || write_deadline_ == kNever)
        arm(write_deadline_, monotonic_now() + limits_.write_timeout);
      if (!transport_.write_wants_read()) wait_writable();
      return true;
    }
    if (error) return lose(), false;
    progress = true;
    writer_.wrote(count);
    shard_.counters().bytes_sent.add(count);
  }
  write_deadline_ = kNever;
  return true;
}

void Connection::wait_writable() {
  if (writing_) return;
  writing_ = true;
  transport_.socket().async_wait(Socket::wait_write,
                                 [self = shared_from_this()](const error_code& error) {
                                   self->writing_ = false;
                                   // The socket's number may be another connection's by now.
                                   if (error || self->phase_ == Phase::kClosed) return;
                                   if (self->transport_.read_wants_write()) self->on_readable();
                                   self->flush();
                                 });
}

void Connection::after_write(std::uint64_t payload_before) {
  if (phase_ == Phase::kClosing) {
    if (writer_.complete()) begin_linger();
    return;
  }
  if (phase_ != Phase::kExchange) return;
  if (writer_.complete()) return finish_exchange();
  const bool only_tail_left = writer_.ended() && writer_.outstanding() == 0;
  if (writer_.payload_written() > payload_before && !only_tail_left)
    shard_.shared().handler->on_drained(session_, writer_.payload_written());
}

void Connection::finish_exchange() {
  const SessionId session = session_;
  const std::size_t written = writer_.payload_written();
  shard_.close_exchange(session);
  report(Ended::How::kAnswered);
  shard_.shared().handler->on_drained(session, written);
  // While winding down the head decides: a client that was not told of a close may ask once more.
  const bool last = !writer_.context().keep_alive || shard_.shared().draining;
  if (last || writer_.until_close()) return begin_linger();
  phase_ = Phase::kIdle;
  arm(deadline_, monotonic_now() + limits_.idle_timeout);
  std::string input;
  std::swap(input, pipelined_);
  parse(input);
  // What a half-closed client left behind is not a whole request and will not become one.
  if (peer_closed_ && reads_requests()) return close();
  wait_readable();
}

void Connection::probe_if_due(Time now) {
  if (now < probe_at_ || phase_ != Phase::kExchange) return;
  const bool again = probes_ < static_cast<int>(std::size(kProbeGaps));
  arm(probe_at_, again ? now + kProbeGaps[probes_] : kNever);
  ++probes_;
  if (!writer_.can_probe() || writing_) return;  // what is being written probes as well
  writer_.probe();
  flush();
}

void Connection::arm(Time& deadline, Time at) {
  deadline = at;
  if (at >= queued_at_) return;
  queued_at_ = at;
  shard_.queue_deadline(*this, at);
}

void Connection::on_due(Time now) {
  // Behind an entry that was pushed since this one: that one counts, and would push again.
  if (phase_ == Phase::kClosed || now < queued_at_) return;
  queued_at_ = kNever;
  act_on(now);
  if (phase_ == Phase::kClosed) return;
  for (Time* deadline : {&deadline_, &write_deadline_, &probe_at_}) arm(*deadline, *deadline);
}

void Connection::act_on(Time now) {
  if (now >= write_deadline_) return lose();
  probe_if_due(now);
  if (now < deadline_) return;
  switch (phase_) {
    case Phase::kHead:
      return refuse({408, "request_timeout", "the request header took too long to arrive"});
    case Phase::kBody:
      return refuse({408, "request_timeout", "the request body took too long to arrive"});
    default:
      return close();
  }
}

void Connection::drain() {
  if (phase_ == Phase::kIdle) begin_linger();
  if (phase_ == Phase::kLinger) arm(deadline_, std::min(deadline_, monotonic_now() + kDrainLinger));
}

void Connection::force_close() {
  lose();
}

void Connection::begin_linger() {
  phase_ = Phase::kLinger;
  pipelined_.clear();
  if (!transport_.shut_down_write() || peer_closed_) return close();
  write_deadline_ = kNever;
  const bool draining = shard_.shared().draining;
  arm(deadline_, monotonic_now() + (draining ? std::min(kDrainLinger, limits_.linger_timeout)
                                             : limits_.linger_timeout));
  wait_readable();
}

void Connection::report(Ended::How how) {
  Ended ended{.how = how,
              .status = writer_.status(),
              .body_bytes = writer_.payload_written(),
              .began = began_};
  if (phase_ == Phase::kBody) {
    ended.head = reader_.head_or_null();
    ended.trace = trace_;
  } else {
    ended.session = session_;
  }
  shard_.shared().handler->on_ended(ended);
}

void Connection::lose() {
  if (phase_ == Phase::kClosed) return;
  const bool handed_out = phase_ == Phase::kExchange;
  if (handed_out || phase_ == Phase::kBody) report(Ended::How::kGone);
  const SessionId session = session_;
  if (handed_out) {
    shard_.close_exchange(session);
    shard_.counters().gone.add(1);
  }
  close(handed_out);
  if (handed_out) shard_.shared().handler->on_gone(session);
}

void Connection::close(bool reset) {
  TROUPE_ASSERT(phase_ != Phase::kClosed, "a connection closes once");
  phase_ = Phase::kClosed;
  transport_.close(reset);
  shard_.remove(*this, refused_);
}

}  // namespace troupe::http
