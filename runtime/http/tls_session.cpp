#include "runtime/http/tls_session.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>

#include "runtime/base/assert.hpp"

namespace troupe::http {

using boost::system::error_code;

namespace {

// A BIO over send() and recv(): OpenSSL's own writes with write(), which raises SIGPIPE.
int descriptor(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto count = ::send(descriptor(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto count = ::recv(descriptor(bio), data, static_cast<std::size_t>(size), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(count);
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return 0;
}

BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "troupe socket");
  TROUPE_ASSERT(method != nullptr, "OpenSSL has memory for a method");
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_control);
  return method;
}

BIO* open_bio(int fd) {
  static BIO_METHOD* const method = make_method();  // lives as long as the process
  BIO* bio = BIO_new(method);
  TROUPE_ASSERT(bio != nullptr, "OpenSSL has memory for a BIO");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

TlsSession::TlsSession(const TlsContext& context, boost::asio::ip::tcp::socket& socket)
    : session_(SSL_new(context.native())) {
  TROUPE_ASSERT(session_ != nullptr, "OpenSSL has memory for a session");
  BIO* bio = open_bio(socket.native_handle());
  SSL_set_bio(session_, bio, bio);
  SSL_set_accept_state(session_);
}

TlsSession::~TlsSession() {
  SSL_free(session_);
}

error_code TlsSession::error_of(int result, bool& wants_other, int other) {
  const int why = SSL_get_error(session_, result);
  wants_other = why == other;
  switch (why) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return boost::asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN:
      return boost::asio::error::eof;
    default:
      // A broken handshake, a forged record, a reset: nothing more can be said to this peer.
      ERR_clear_error();
      return boost::asio::error::connection_reset;
  }
}

std::size_t TlsSession::read(char* data, std::size_t size, error_code& error) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_read_ex(session_, data, size, &count);
  read_wants_write_ = false;
  error = result == 1 ? error_code() : error_of(result, read_wants_write_, SSL_ERROR_WANT_WRITE);
  return count;
}

std::size_t TlsSession::write(const Pieces& pieces, error_code& error) {
  thread_local std::array<char, kRecordBytes> record;
  std::size_t size = 0;
  for (const auto& piece : pieces) {
    const std::size_t part = std::min(piece.size(), record.size() - size);
    if (part > 0) std::memcpy(record.data() + size, piece.data(), part);
    size += part;
  }
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_write_ex(session_, record.data(), size, &count);
  write_wants_read_ = false;
  error = result == 1 ? error_code() : error_of(result, write_wants_read_, SSL_ERROR_WANT_READ);
  return count;
}

bool TlsSession::pending() const {
  return SSL_has_pending(session_) == 1;
}

void TlsSession::close_write() {
  if (SSL_is_init_finished(session_) == 0) return;
  ERR_clear_error();
  // It may not fit into a full socket: the end of the connection then tells the peer.
  (void)SSL_shutdown(session_);
  ERR_clear_error();
}

}  // namespace troupe::http
