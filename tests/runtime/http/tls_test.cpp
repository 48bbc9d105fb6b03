// TLS: the files that it needs, and exchanges over it with OpenSSL's own client.
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <csignal>
#include <fstream>

#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"
#include "tests/runtime/http/tls_files.hpp"

namespace troupe::http {
namespace {

/// A blocking TLS client over a RawSocket's connection.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, int version = TLS1_3_VERSION, int receive_buffer = 0)
      : socket_(port, receive_buffer), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_, version);
    SSL_CTX_set_options(context_, SSL_OP_IGNORE_UNEXPECTED_EOF);
    timeval wait{5, 0};
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    session_ = SSL_new(context_);
    SSL_set_fd(session_, socket_.fd());
    const unsigned char offered[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_set_alpn_protos(session_, offered, sizeof offered);
    connected_ = SSL_connect(session_) == 1;
    ERR_clear_error();
  }
  ~TlsClient() {
    SSL_free(session_);
    SSL_CTX_free(context_);
  }

  bool connected() const { return connected_; }
  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  void send(std::string_view bytes) {
    ASSERT_EQ(SSL_write(session_, bytes.data(), static_cast<int>(bytes.size())),
              static_cast<int>(bytes.size()));
  }
  /// A digest of what the server showed.
  std::string certificate() const {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    X509* shown = SSL_get1_peer_certificate(session_);
    X509_digest(shown, EVP_sha256(), digest, &size);
    X509_free(shown);
    return {reinterpret_cast<const char*>(digest), size};
  }
  void half_close() {
    SSL_shutdown(session_);
    socket_.half_close();
  }
  bool read_some() {
    char buffer[16384];
    const int count = SSL_read(session_, buffer, sizeof buffer);
    if (count > 0) received.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }
  bool read_until(std::string_view text) {
    while (received.find(text) == std::string::npos) {
      if (!read_some()) return false;
    }
    return true;
  }
  void read_to_end() {
    while (read_some()) {
    }
  }

  std::string received;

 private:
  RawSocket socket_;
  SSL_CTX* context_;
  SSL* session_ = nullptr;
  bool connected_ = false;
};

class Tls : public ::testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // this client writes as OpenSSL does
    files.make("good");
  }
  ServerOptions options(Limits limits = {}) {
    ServerOptions options(limits);
    auto tls = TlsContext::make(files.path("good.crt"), files.path("good.key"));
    EXPECT_TRUE(tls.ok()) << (tls.ok() ? "" : tls.error().message);
    options.tls = tls.ok() ? *tls : nullptr;
    return options;
  }
  std::string failure(const std::string& certificate, const std::string& key) {
    const auto made = TlsContext::make(files.path(certificate), files.path(key));
    return made.ok() ? "" : made.error().message;
  }
  TlsFiles files;
};

TEST_F(Tls, FilesThatCannotServeAreNamed) {
  files.make("other");
  files.make("old", -7200, -3600);
  files.make("early", 3600, 7200);
  files.make("locked", -1, 3600, "pass");
  std::ofstream(files.path("noise")) << "not a certificate\n";
  std::ofstream(files.path("empty")).flush();
  const auto expect = [&](const char* certificate, const char* key, const char* file,
                          const char* what) {
    const std::string message = failure(certificate, key);
    EXPECT_NE(message.find(files.path(file)), std::string::npos) << message;
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  expect("missing.crt", "good.key", "missing.crt", "cannot read");
  expect("empty", "good.key", "empty", "cannot read");
  expect("noise", "good.key", "noise", "is not a certificate");
  expect("good.key", "good.key", "good.key", "is not a certificate");
  expect("old.crt", "old.key", "old.crt", "expired");
  expect("early.crt", "early.key", "early.crt", "not valid yet");
  expect("good.crt", "missing.key", "missing.key", "cannot read");
  expect("good.crt", "good.crt", "good.crt", "is not a private key");
  expect("good.crt", "locked.key", "locked.key", "without a passphrase");
  expect("good.crt", "other.key", "other.key", "does not belong to the certificate");
  files.make_rsa_key("rsa");
  expect("good.crt", "rsa.key", "rsa.key", "does not belong to the certificate");
}

TEST_F(Tls, KeepAliveExchangesAndAlpn) {
  TestServer test(options());
  test.reply_ok();
  TlsClient client(test.port);
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.protocol(), "http/1.1");
  for (int i = 0; i < 3; ++i) {
    client.received.clear();
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n");
    client.send(std::string(100'000, 'b'));
    ASSERT_TRUE(client.read_until("\r\n\r\nok"));
    EXPECT_EQ(test.handler.at(static_cast<std::size_t>(i)).request.body.size(), 100'000u);
  }
}

TEST_F(Tls, AStreamLargerThanEveryBufferArrivesWhole) {
  TestServer test(options(Limits{.outstanding_bytes_max = 8'000'000}));
  TlsClient client(test.port, TLS1_3_VERSION, 8192);
  client.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  std::string sent;
  for (int i = 0; i < 300; ++i) {
    const std::string piece(static_cast<std::size_t>(i * 50), static_cast<char>('a' + i % 26));
    sent += piece;
    test.server->write(session, piece);
  }
  test.server->end(session);
  ASSERT_TRUE(client.read_until("\r\n0\r\n\r\n"));
  std::string letters;
  bool in_data = false;
  const auto body = client.received.substr(client.received.find("\r\n\r\n") + 4);
  for (std::size_t at = 0; at < body.size();) {
    const auto line = body.find("\r\n", at);
    const auto size = std::stoul(body.substr(at, line - at), nullptr, 16);
    letters += body.substr(line + 2, size);
    at = line + 2 + size + 2;
    in_data = size > 0;
  }
  EXPECT_FALSE(in_data) << "the last chunk is empty";
  EXPECT_EQ(letters, sent);
}

TEST_F(Tls, PipelinedRequestsOfOneRecordAreAnsweredInOrder) {
  TestServer test(options());
  test.handler.reply = [&](SessionId session, const Request& request) {
    test.server->respond(session, {200, {}, "<" + request.path + ">"});
  };
  TlsClient client(test.port);
  client.send(
      "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\n\r\n"
      "GET /3 HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(client.read_until("</3>"));
  EXPECT_LT(client.received.find("</1>"), client.received.find("</2>"));
}

TEST_F(Tls, AHalfClosedClientIsAnsweredAndALostOneIsNoticed) {
  TestServer test(options());
  TlsClient half(test.port);
  half.send(kGet);
  half.half_close();
  const auto session = test.handler.wait_request(0);
  test.server->respond(session, {200, {}, "late"});
  EXPECT_TRUE(half.read_until("late"));
  {
    TlsClient lost(test.port);
    lost.send(kGet);
    test.handler.wait_request(1);
  }
  EXPECT_TRUE(test.handler.wait_gone(1));
}

TEST_F(Tls, SlowHandshakesOldVersionsAndPlainTextEnd) {
  TestServer test(options(Limits{.header_timeout = troupe::milliseconds(300)}));
  test.reply_ok();
  RawSocket silent(test.port);
  EXPECT_TRUE(silent.read_to_end(1500)) << "closed at the deadline of a head";
  RawSocket plain(test.port);
  plain.send(kGet);
  EXPECT_TRUE(plain.read_to_end(1500));
  EXPECT_EQ(plain.received.find("HTTP/1.1 200"), std::string::npos);
  TlsClient old(test.port, TLS1_2_VERSION);
  EXPECT_FALSE(old.connected());
  EXPECT_EQ(test.handler.count(), 0u);
}

TEST_F(Tls, ConnectionsOverTheMaximumAreToldSo) {
  TestServer test(options(Limits{.connections_max = 1}));
  test.reply_ok();
  TlsClient first(test.port);
  first.send(kGet);
  ASSERT_TRUE(first.read_until("\r\n\r\nok"));
  TlsClient second(test.port);
  second.read_to_end();
  EXPECT_NE(second.received.find("HTTP/1.1 503"), std::string::npos);
}

TEST_F(Tls, ANewCertificateIsForNewConnections) {
  TestServer test(options());
  test.reply_ok();
  TlsClient old(test.port);
  files.make("next");
  auto next = TlsContext::make(files.path("next.crt"), files.path("next.key"));
  ASSERT_TRUE(next.ok());
  test.server->renew_tls(*next);
  TlsClient fresh(test.port);
  for (TlsClient* client : {&old, &fresh}) {
    client->send(kGet);
    EXPECT_TRUE(client->read_until("\r\n\r\nok"));
  }
  EXPECT_NE(old.certificate(), fresh.certificate());
}

}  // namespace
}  // namespace troupe::http
