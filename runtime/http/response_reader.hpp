// From bytes to answers: the reading half of a client connection, without a socket.
//
// Interim answers (1xx) are skipped. The body is handed on as it comes, without chunk coding. An
// answer that breaks off before its announced end is an error, never a short success.
//
// Threads: one at a time. The sink is called from within feed() and finish().
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

class ResponseReader {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void on_head(int status, const Headers& headers) = 0;
    virtual void on_body(std::string_view bytes) = 0;
  };

  /// The header of an answer, and each line of chunk coding, must fit.
  static constexpr std::size_t kHeaderBytesMax = 64 * 1024;
  static constexpr int kInterimMax = 100;

  explicit ResponseReader(Sink& sink);
  ~ResponseReader();

  /// Prepares for the next answer. `head`: of a HEAD request, so no body follows.
  void reset(bool head);
  /// Returns how many bytes belong to this answer.
  Result<std::size_t> feed(std::string_view bytes);
  /// The connection ended. Fails if the answer is not complete by that.
  Status finish();

  bool done() const;
  /// Any byte of an answer arrived.
  bool started() const;
  /// Requires: done().
  bool keep_alive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::http
