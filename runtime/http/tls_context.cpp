#include "runtime/http/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <fstream>

#include "runtime/base/assert.hpp"

namespace troupe::http {
namespace {

/// The oldest of OpenSSL's complaints, in its words, and none of the others.
std::string reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "unknown error";
}

Status check_readable(const std::string& file, const char* what) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || stream.peek() == std::ifstream::traits_type::eof())
    return Error{Code::kNotFound, file + ": cannot read this " + what + " (missing, empty, or no " +
                                      "permission); it must be a PEM file"};
  return ok_status();
}

/// A key with a passphrase must not make the server ask on a terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

Status load_certificate(SSL_CTX* context, const std::string& file) {
  TROUPE_TRY(check_readable(file, "certificate"));
  if (SSL_CTX_use_certificate_chain_file(context, file.c_str()) != 1)
    return Error{Code::kInvalid, file + ": is not a certificate in PEM form (" + reason() +
                                     "); it begins with -----BEGIN CERTIFICATE-----"};
  const X509* certificate = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
    return Error{Code::kInvalid, file +
                                     ": this certificate is not valid yet; check the clock of "
                                     "this machine and the certificate's dates"};
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
    return Error{Code::kInvalid, file + ": this certificate has expired; renew it"};
  return ok_status();
}

Status load_key(SSL_CTX* context, const std::string& file, const std::string& certificate_file) {
  TROUPE_TRY(check_readable(file, "private key"));
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  const bool is_key = SSL_CTX_use_PrivateKey_file(context, file.c_str(), SSL_FILETYPE_PEM) == 1;
  // A key of another type than the certificate's is taken, and found out here only.
  if (is_key && SSL_CTX_check_private_key(context) == 1) return ok_status();
  const auto code = ERR_peek_error();
  if (is_key || ERR_GET_LIB(code) == ERR_LIB_X509) {
    ERR_clear_error();
    return Error{
        Code::kInvalid,
        file + ": this private key does not belong to the certificate in " + certificate_file};
  }
  return Error{Code::kInvalid, file + ": is not a private key in PEM form without a passphrase (" +
                                   reason() + "); openssl pkey -in FILE -out PLAIN removes one"};
}

constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

/// A client that offers no protocol of ours goes on without one: it may speak HTTP/1.1 all the
/// same.
int select_protocol(SSL*, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* chosen = nullptr;
  const int found =
      SSL_select_next_proto(&chosen, size, kHttp11, sizeof kHttp11, offered, offered_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const std::string& certificate_file,
                                                           const std::string& key_file) {
  ERR_clear_error();
  SSL_CTX* native = SSL_CTX_new(TLS_server_method());
  TROUPE_ASSERT(native != nullptr, "OpenSSL has memory for a context");
  const std::shared_ptr<const TlsContext> context(new TlsContext(native));
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  // An idle connection keeps no record buffers; a write may go on from another address.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // HTTP's own framing tells a request that was cut off, so that a FIN is enough of an end.
  SSL_CTX_set_options(native, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(native, select_protocol, nullptr);
  TROUPE_TRY(load_certificate(native, certificate_file));
  TROUPE_TRY(load_key(native, key_file, certificate_file));
  return context;
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

}  // namespace troupe::http
