// What the answer means, step by step, before it takes the shape of a protocol.
//
// Order: any number of reasoning texts, contents and calls. A call is kCall, its arguments in any
// number of kArguments and kArgumentText, and kCallDone once it is complete (kDefault only). The
// arguments, joined, are JSON text: kArguments as it is, kArgumentText as a part of a string that
// is still to be escaped (argument_json() in answer_json.hpp).
//
// Ownership: views, valid while the delta is handled. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/recipe/stream/piece.hpp"

namespace troupe::recipe {

enum class DeltaKind : unsigned char {
  kReasoning,
  kContent,
  kCall,          ///< text: the name
  kArguments,     ///< text: JSON
  kArgumentText,  ///< text: a part of a string, not escaped
  kCallDone,      ///< the arguments are complete
};

struct Delta {
  DeltaKind kind = DeltaKind::kContent;
  std::string_view text;
  std::string_view call_id;  ///< kCall, set by the stream processor
  std::span<const LoggedToken> logprobs;
};

class DeltaSink {
 public:
  virtual void delta(const Delta& delta) = 0;

 protected:
  ~DeltaSink() = default;
};

enum class AnswerEnd : unsigned char { kStop, kStopString, kToolCalls, kLength, kContentFilter };

struct Usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::optional<std::uint64_t> reasoning_tokens;  ///< none: not in thinking mode, or not known
};

struct Outcome {
  AnswerEnd end = AnswerEnd::kStop;
  std::string_view stop;  ///< kStopString: which
  bool call_cut = false;  ///< the last call is not complete
  Usage usage;
};

}  // namespace troupe::recipe
