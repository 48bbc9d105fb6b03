#include "runtime/http/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <boost/asio/buffer.hpp>

namespace troupe::http {

using boost::system::error_code;

namespace {

/// A dead peer is found after 60 + 4 * 15 s of silence (and by TCP_USER_TIMEOUT when we send).
constexpr int kKeepIdleSeconds = 60;
constexpr int kKeepIntervalSeconds = 15;
constexpr int kKeepCount = 4;

void set_option(Transport::Socket& socket, int level, int name, int value) {
  // A failure costs precision, not correctness: the socket may be dead already.
  (void)::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

std::string describe_peer(const Transport::Socket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return "unknown";
  const auto host = peer.address().to_string();
  return (peer.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(peer.port());
}

}  // namespace

Transport::Transport(Socket socket, const Limits& limits, const TlsContext* tls)
    : socket_(std::move(socket)), peer_(describe_peer(socket_)) {
  error_code error;
  socket_.non_blocking(true, error);
  set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket_, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  set_option(socket_, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  set_option(socket_, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
  set_option(socket_, IPPROTO_TCP, TCP_USER_TIMEOUT,
             static_cast<int>(limits.write_timeout.milliseconds()));
  set_option(socket_, SOL_SOCKET, SO_SNDBUF, static_cast<int>(limits.send_buffer_bytes));
  if (tls != nullptr) tls_ = std::make_unique<TlsSession>(*tls, socket_);
}

std::size_t Transport::read(char* data, std::size_t size, error_code& error) {
  if (tls_) return tls_->read(data, size, error);
  return socket_.read_some(boost::asio::buffer(data, size), error);
}

std::size_t Transport::write(const Pieces& pieces, error_code& error) {
  if (tls_) return tls_->write(pieces, error);
  const std::array<boost::asio::const_buffer, 3> buffers{
      boost::asio::buffer(pieces[0].data(), pieces[0].size()),
      boost::asio::buffer(pieces[1].data(), pieces[1].size()),
      boost::asio::buffer(pieces[2].data(), pieces[2].size())};
  return socket_.write_some(buffers, error);
}

bool Transport::shut_down_write() {
  if (tls_) tls_->close_write();
  error_code error;
  socket_.shutdown(Socket::shutdown_send, error);
  return !error;
}

void Transport::close(bool reset) {
  error_code error;
  if (reset) socket_.set_option(boost::asio::socket_base::linger(true, 0), error);
  socket_.close(error);
}

}  // namespace troupe::http
