#include "runtime/base/result.hpp"

namespace troupe {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not_found";
    case Code::kTooLarge:
      return "too_large";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kDeadline:
      return "deadline";
    case Code::kCancelled:
      return "cancelled";
    case Code::kHung:
      return "hung";
    case Code::kLost:
      return "lost";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kIo:
      return "io";
    case Code::kInternal:
      return "internal";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message;
}

}  // namespace troupe
