// The markup that ends each state of the parser, and its incremental matching.
//
// A delimiter is a row of bytes. Some of them must be `special`: part of a control token or of
// pushed text, never of ordinary tokens (piece.hpp). With `newlines`, the line ends before it
// belong to it, however many. Tables: recipe SPEC 5.2 for Compat::kDeepseek; kDefault wants whole
// tags where the reference is content with a part of one, and knows the tags of V3.2
// (function_calls), V4 (tool_calls) and V4.1 (a space before the name) everywhere.
//
// Matching: each delimiter keeps its Knuth-Morris-Pratt state, so that no byte is read twice. The
// borders ignore `special`; that is exact because no delimiter with special bytes has a border.
//
// Threads: tables are constants; a matcher has one owner.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe::recipe {

/// Where in an answer the parser is.
enum class ParserState : unsigned char {
  kReasoning,
  kContent,
  kJsonBefore,  ///< JSON mode: what comes before the JSON is not shown
  kJsonInside,
  kJsonAfter,
  kTools,  ///< in the tool block, between calls
  kCallName,
  kArguments,  ///< in a call, between parameters
  kParameterName,
  kAttributes,  ///< behind a parameter's name, before its value
  kText,        ///< a value that is a string
  kRaw,         ///< a value that is JSON
  kFinished,    ///< behind the tool block
};

/// What a delimiter does.
enum class Markup : unsigned char {
  kThinkEnd,
  kStray,  ///< left out, changes nothing
  kBlockBegin,
  kOrphanCall,  ///< a call outside of any block
  kFence,       ///< JSON begins behind it
  kBracket,     ///< JSON begins with it
  kFenceEnd,
  kCallBegin,
  kNameEnd,
  kParameterBegin,
  kParameterNameEnd,
  kTextBegin,
  kRawBegin,
  kParameterEnd,
  kCallEnd,
  kBlockEnd,
};

struct Delimiter {
  static constexpr std::size_t kBytesMax = 32;
  std::array<char, kBytesMax> bytes{};
  std::array<std::uint8_t, kBytesMax + 1> border{};
  std::uint8_t size = 0;
  std::uint8_t special_begin = 0;
  std::uint8_t special_end = 0;  ///< exclusive
  bool newlines = false;
  Markup markup = Markup::kStray;
};

/// The delimiters of a state. `tools`: the request has tools.
std::span<const Delimiter> delimiters_of(ParserState state, Compat compat, bool tools);

/// Looks for the delimiters of one state.
class DelimiterMatcher {
 public:
  static constexpr std::size_t kDelimitersMax = 16;

  explicit DelimiterMatcher(Compat compat) : compat_(compat) {}

  /// Begins anew with these. Requires: they outlive the matcher.
  void use(std::span<const Delimiter> delimiters);

  /// Takes the next byte; the delimiter that ends with it, or null. Of those that end at the same
  /// byte the first in the table.
  const Delimiter* push(char byte, bool special);

  /// Bytes at the end of the text that may begin a delimiter, or, just after a match, those of the
  /// delimiter; line ends that belong to it included.
  std::size_t partial() const { return partial_; }

  /// Adds the bytes that a delimiter may begin with.
  void add_first_bytes(std::bitset<256>& bytes) const;

 private:
  void advance(std::size_t index, char byte, bool special);

  Compat compat_;
  bool has_newlines_ = false;
  std::span<const Delimiter> delimiters_;
  std::array<std::uint8_t, kDelimitersMax> matched_{};
  std::array<std::uint32_t, kDelimitersMax> lead_{};  // line ends before what is matched
  std::size_t partial_ = 0;
};

}  // namespace troupe::recipe
