// The first thing wrong with a request. Checks return false once something is, so that callers
// leave at once; what was found first is what the client reads (recipe SPEC 6).
//
// Messages quote names and values of the body, which may be megabytes. In default mode a message
// is cut in its middle to kMessageBytesMax, here and nowhere else, so that it still begins with
// what is wrong and ends with what to do. Compat mode quotes all, as the reference does. `param`
// is made of our own names and of indices.
//
// Threads: one owner.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe::recipe {

class Issues {
 public:
  /// Our own words, of which no message has more than 300 bytes, and enough of what they quote.
  static constexpr std::size_t kMessageBytesMax = 512;

  explicit Issues(Compat compat) : compat_(compat) {}

  bool compat() const { return compat_ == Compat::kDeepseek; }

  /// The body is not JSON, or not of the protocol's shape. Returns false.
  bool shape(std::string message, std::string param);
  /// The body breaks a rule. Returns false.
  bool rule(std::string message, std::string param = {});
  /// Well-formed, but this server does not do it; never in compat mode. Returns false.
  bool unsupported(std::string param, std::string_view why,
                   std::string_view code = "unsupported_parameter");
  /// No such model. Returns false.
  bool unknown_model(std::string_view name);

  /// What was found. Requires: a check has failed.
  RequestError take() { return *std::exchange(error_, std::nullopt); }

 private:
  bool fail(RequestError error);

  const Compat compat_;
  std::optional<RequestError> error_;
};

}  // namespace troupe::recipe
