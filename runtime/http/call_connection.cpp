#include "runtime/http/call_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include "runtime/base/assert.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {

using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

std::string encode(const ClientRequest& request) {
  std::string out = request.method;
  out += ' ';
  out += request.path;
  out += " HTTP/1.1\r\n";
  const bool v6 = request.host.find(':') != std::string::npos;
  std::string host = v6 ? "[" + request.host + "]" : request.host;
  if (request.port != 80) host += ":" + std::to_string(request.port);
  append_field(out, "host", host);
  for (const auto& [name, value] : request.headers) append_field(out, name, value);
  const bool has_body_method = request.method != "GET" && request.method != "HEAD";
  if (!request.body.empty() || has_body_method)
    append_field(out, "content-length", std::to_string(request.body.size()));
  out += "\r\n";
  out += request.body;
  return out;
}

std::string target_name(const ClientRequest& request) {
  return request.host + ":" + std::to_string(request.port);
}

}  // namespace

CallConnection::CallConnection(CallOwner& owner, std::string pool_key)
    : owner_(owner),
      pool_key_(std::move(pool_key)),
      socket_(owner.loop().context()),
      reader_(static_cast<ResponseReader::Sink&>(*this)) {}

void CallConnection::connect(std::shared_ptr<Call> call, std::vector<tcp::endpoint> endpoints) {
  TROUPE_ASSERT(!endpoints.empty(), "a name resolves to at least one endpoint");
  call_ = std::move(call);
  endpoints_ = std::move(endpoints);
  connect_next();
}

void CallConnection::connect_next() {
  const tcp::endpoint endpoint = endpoints_.front();
  endpoints_.erase(endpoints_.begin());
  error_code ignored;
  socket_.close(ignored);
  socket_.async_connect(endpoint, [self = shared_from_this()](const error_code& error) {
    if (self->state_ != State::kConnecting) return;
    if (error && !self->endpoints_.empty()) return self->connect_next();
    if (error)
      return self->fail(
          {Code::kUnavailable,
           "cannot connect to " + target_name(self->call_->request) + ": " + error.message()});
    error_code option_error;
    self->socket_.non_blocking(true, option_error);
    self->socket_.set_option(tcp::no_delay(true), option_error);
    self->send_request();
  });
}

void CallConnection::reuse(std::shared_ptr<Call> call) {
  TROUPE_ASSERT(state_ == State::kIdle, "only an idle connection is reused");
  call_ = std::move(call);
  reused_ = true;
  send_request();
}

void CallConnection::send_request() {
  state_ = State::kBusy;
  reader_.reset(call_->request.method == "HEAD");
  out_ = encode(call_->request);
  out_offset_ = 0;
  wait_readable();
  flush();
}

void CallConnection::flush() {
  while (state_ == State::kBusy && out_offset_ < out_.size()) {
    error_code error;
    out_offset_ += socket_.write_some(
        boost::asio::buffer(out_.data() + out_offset_, out_.size() - out_offset_), error);
    if (error == boost::asio::error::would_block) {
      if (writing_) return;
      writing_ = true;
      socket_.async_wait(tcp::socket::wait_write,
                         [self = shared_from_this()](const error_code& failed) {
                           self->writing_ = false;
                           if (!failed) self->flush();
                         });
      return;
    }
    // An answer may have come before the connection broke (413 while we upload): the pending read
    // finds it, or the end.
    if (error) return;
  }
}

void CallConnection::wait_readable() {
  if (reading_ || state_ == State::kClosed) return;
  reading_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->reading_ = false;
    if (!error && self->state_ != State::kClosed) self->on_readable();
  });
}

void CallConnection::on_readable() {
  auto& scratch = owner_.scratch();
  error_code error;
  const auto count = socket_.read_some(boost::asio::buffer(scratch), error);
  if (error == boost::asio::error::would_block) return wait_readable();
  if (error) return on_end_of_stream(error == boost::asio::error::eof);
  take_input({scratch.data(), count});
  wait_readable();
}

void CallConnection::take_input(std::string_view bytes) {
  if (state_ == State::kIdle) return on_end_of_stream(false);  // bytes that nobody asked for
  const auto call = call_;
  const auto taken = reader_.feed(bytes);
  if (call_ != call || state_ != State::kBusy) return;  // a callback cancelled it
  if (!taken) return fail(taken.error());
  if (reader_.done()) return complete(*taken < bytes.size());
}

void CallConnection::on_end_of_stream(bool orderly) {
  if (state_ == State::kIdle) {
    const auto self = shared_from_this();
    owner_.on_idle_closed(*this);
    return close();
  }
  if (reused_ && !reader_.started() && !call_->retried) {
    auto call = std::move(call_);
    call->retried = true;
    close();
    return owner_.on_stale(std::move(call));
  }
  const auto status = reader_.finish();
  if (!status) return fail(status.error());
  if (!orderly) return fail({Code::kLost, "the connection was reset in the middle of an answer"});
  complete(true);
}

void CallConnection::complete(bool spent) {
  const auto self = shared_from_this();
  const auto call = std::move(call_);
  call_.reset();
  // A request that is not out yet (the server answered early) leaves the connection unusable.
  if (!spent && reader_.keep_alive() && out_offset_ == out_.size()) {
    state_ = State::kIdle;
    idle_since_ = monotonic_now();
    out_.clear();
    owner_.on_finished(call);
    owner_.on_idle(self);
  } else {
    close();
    owner_.on_finished(call);
  }
  if (call->callbacks.on_end) call->callbacks.on_end();
}

void CallConnection::fail(const Error& error) {
  const auto self = shared_from_this();
  const auto call = std::move(call_);
  call_.reset();
  close();
  owner_.on_finished(call);
  if (call->callbacks.on_error) call->callbacks.on_error(error);
}

void CallConnection::close() {
  state_ = State::kClosed;
  call_.reset();
  error_code ignored;
  socket_.close(ignored);
}

void CallConnection::on_head(int status, const Headers& headers) {
  const auto call = call_;
  if (call && call->callbacks.on_headers) call->callbacks.on_headers(status, headers);
}

void CallConnection::on_body(std::string_view bytes) {
  const auto call = call_;
  if (call && call->callbacks.on_data) call->callbacks.on_data(bytes);
}

}  // namespace troupe::http
