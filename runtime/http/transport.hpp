// The socket of a connection, plain or under TLS: bytes in, bytes out, readiness. Internal.
//
// Reads and writes never block: they say would_block, and the owner waits for readiness. Waiting
// goes through socket(), whose handlers the owner gives.
// Threads: the loop's. Ownership: the connection.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/http/server.hpp"
#include "runtime/http/tls_session.hpp"

namespace troupe::http {

class Transport {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Pieces = std::array<std::string_view, 3>;

  /// `tls` null: plain.
  Transport(Socket socket, const Limits& limits, const TlsContext* tls);

  Socket& socket() { return socket_; }
  /// "127.0.0.1:54321".
  const std::string& peer() const { return peer_; }

  std::size_t read(char* data, std::size_t size, boost::system::error_code& error);
  /// Requires: the pieces are not all empty, and after would_block begin as they did.
  std::size_t write(const Pieces& pieces, boost::system::error_code& error);
  /// More can be read without the socket being readable.
  bool pending() const { return tls_ && tls_->pending(); }
  /// The last write (read) goes on when the socket is readable (writable), not the other way round.
  bool write_wants_read() const { return tls_ && tls_->write_wants_read(); }
  bool read_wants_write() const { return tls_ && tls_->read_wants_write(); }

  /// False: the peer is gone.
  bool shut_down_write();
  void close(bool reset);

 private:
  Socket socket_;
  std::string peer_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace troupe::http
