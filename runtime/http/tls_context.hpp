// What a server needs to speak TLS: its certificate and key, checked when it starts.
//
// TLS 1.3 only (RFC 8446): every client that matters has had it for years, and what made older
// versions hard to run safely (renegotiation, cipher lists, compression) is not in it. ALPN offers
// http/1.1. Sessions resume by tickets; nothing is kept for them here. Early data stays off: a
// request that can be replayed is not one to run.
//
// Threads: immutable after make(); sessions of any thread use it. Shared by servers and sessions.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/result.hpp"

struct ssl_ctx_st;

namespace troupe::http {

class TlsContext {
 public:
  /// PEM files: the certificate with the chain up to the root after it, and its private key
  /// without a passphrase. Errors name the file, what is wrong, and what to do: missing, not PEM,
  /// encrypted, not yet or no longer valid, not a pair.
  static Result<std::shared_ptr<const TlsContext>> make(const std::string& certificate_file,
                                                        const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* native() const { return context_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* context_;
};

}  // namespace troupe::http
