// TLS on one accepted socket: non-blocking reads and writes, as the socket has them. Internal.
//
// The handshake is part of the first reads: a caller reads when the socket is readable, and gets
// would_block until there are bytes of HTTP. A write before the end of the handshake would block as
// well, and goes on when the peer's next bytes were read, not when the socket is writable.
//
// Invariants
//   1. After would_block from write() the next write() must offer the same first bytes.
//   2. Nothing raises SIGPIPE.
//   3. An orderly end, with close_notify or without, is eof.
// Threads: the loop's. The socket outlives the session.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string_view>

#include "runtime/http/tls_context.hpp"

struct ssl_st;

namespace troupe::http {

class TlsSession {
 public:
  /// One record, and what a write offers to OpenSSL at a time.
  static constexpr std::size_t kRecordBytes = 16 * 1024;
  using Pieces = std::array<std::string_view, 3>;

  TlsSession(const TlsContext& context, boost::asio::ip::tcp::socket& socket);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  std::size_t read(char* data, std::size_t size, boost::system::error_code& error);
  /// The pieces leave as records of up to 16 KiB, together and not one each.
  std::size_t write(const Pieces& pieces, boost::system::error_code& error);
  /// Bytes were received and decrypted that no read() returned yet.
  bool pending() const;
  /// The last write() waits for bytes of the peer.
  bool write_wants_read() const { return write_wants_read_; }
  /// The last read() has to send something first, and the socket is full.
  bool read_wants_write() const { return read_wants_write_; }
  /// close_notify: what was written before is the whole.
  void close_write();

 private:
  boost::system::error_code error_of(int result, bool& wants_other, int other);

  ssl_st* session_;
  bool read_wants_write_ = false;
  bool write_wants_read_ = false;
};

}  // namespace troupe::http
