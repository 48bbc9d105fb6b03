// Errors as values.
//
// `Result<T>` holds a T or an `Error{code, message}`. Everything that can fail because of input, a
// peer, a disk or a device returns one; exceptions only end an actor or the process (assert.hpp).
// The message says what was wrong, where, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "runtime/base/assert.hpp"

namespace troupe {

/// Why something failed, coarse enough to map onto an HTTP status or an exit code.
enum class Code : std::uint16_t {
  kInvalid = 1,  ///< the input breaks a rule: the caller must change it
  kNotFound,     ///< no such file, model, actor
  kTooLarge,     ///< over a documented limit
  kUnsupported,  ///< well-formed, but not something that this build does
  kUnavailable,  ///< try again later: no rank, draining, overloaded
  kDeadline,     ///< the time that the caller granted is over
  kCancelled,    ///< the owner ended it
  kHung,         ///< a watchdog gave up on it
  kLost,         ///< the peer, node or device died
  kCorrupt,      ///< data does not match its checksum or format
  kIo,           ///< the operating system said no
  kInternal,     ///< our own fault
};

std::string_view to_string(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

/// "not_found: no file x.gguf".
std::string to_string(const Error& error);

/// A value or an Error. Requires before value(): ok(); before error(): !ok().
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return check(), *std::get_if<0>(&state_); }
  const T& value() const& { return check(), *std::get_if<0>(&state_); }
  /// By value, so that `for (x : f().value())` does not dangle.
  T value() && { return check(), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    TROUPE_ASSERT(!ok(), "error() needs a failed Result");
    return *std::get_if<1>(&state_);
  }

 private:
  void check() const {
    if (!ok())
      assertion_failed(__FILE__, __LINE__, "ok()", std::get_if<1>(&state_)->message.c_str());
  }
  std::variant<T, Error> state_;
};

/// Success without a value.
struct Unit {
  friend bool operator==(Unit, Unit) { return true; }
};

using Status = Result<Unit>;
inline Status ok_status() {
  return Unit{};
}

}  // namespace troupe

/// Returns the error of `expression` (a Result) from the enclosing function.
#define TROUPE_TRY(expression)                                                          \
  do {                                                                                  \
    if (auto try_result_ = (expression); !try_result_.ok()) return try_result_.error(); \
  } while (false)

#define TROUPE_TRY_CONCAT_(a, b) a##b
#define TROUPE_TRY_NAME_(a, b) TROUPE_TRY_CONCAT_(a, b)
/// `TROUPE_TRY_ASSIGN(auto x, f());` assigns the value or returns the error.
#define TROUPE_TRY_ASSIGN(target, expression)                  \
  auto TROUPE_TRY_NAME_(try_assign_, __LINE__) = (expression); \
  if (!TROUPE_TRY_NAME_(try_assign_, __LINE__).ok())           \
    return TROUPE_TRY_NAME_(try_assign_, __LINE__).error();    \
  target = std::move(TROUPE_TRY_NAME_(try_assign_, __LINE__)).value()
