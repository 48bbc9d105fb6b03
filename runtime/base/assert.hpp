// Assertions that stay on in release builds.
//
// Why: a serving system that goes on with a broken invariant leaks KV or answers with another
// user's text. A failed assertion throws `AssertionFailure`; the actor host discards the effects of
// the handler, ends that actor and tells its parent (DESIGN section 2, Failure). Code outside of
// actors lets it end the process.
//
// TROUPE_ASSERT(condition, "why it must hold") is for our own state. Input from users, peers and
// disks is checked with `Result` (result.hpp) instead.
#pragma once

#include <stdexcept>
#include <string>

namespace troupe {

/// Thrown by TROUPE_ASSERT; what() holds file, line, expression and the reason.
class AssertionFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void assertion_failed(const char* file, int line, const char* expression,
                                   const char* reason);

}  // namespace troupe

#define TROUPE_ASSERT(condition, reason)                                  \
  do {                                                                    \
    if (__builtin_expect(!(condition), 0))                                \
      ::troupe::assertion_failed(__FILE__, __LINE__, #condition, reason); \
  } while (false)
