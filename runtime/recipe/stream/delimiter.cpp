#include "runtime/recipe/stream/delimiter.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/stream/piece.hpp"

namespace troupe::recipe {
namespace {

consteval void append(Delimiter& delimiter, std::string_view text) {
  for (const char c : text) delimiter.bytes[delimiter.size++] = c;
}

consteval Delimiter finish(Delimiter delimiter, Markup markup, bool newlines) {
  for (std::size_t i = 1; i < delimiter.size; ++i) {
    std::uint8_t length = delimiter.border[i];
    while (length > 0 && delimiter.bytes[length] != delimiter.bytes[i]) {
      length = delimiter.border[length];
    }
    if (delimiter.bytes[length] == delimiter.bytes[i]) ++length;
    delimiter.border[i + 1] = length;
  }
  delimiter.markup = markup;
  delimiter.newlines = newlines;
  return delimiter;
}

/// Ordinary text.
consteval Delimiter plain(std::string_view text, Markup markup) {
  Delimiter delimiter;
  append(delimiter, text);
  return finish(delimiter, markup, false);
}

/// `before`, the DSML symbol, `after`.
consteval Delimiter dsml(std::string_view before, std::string_view after, Markup markup,
                         bool newlines = false) {
  Delimiter delimiter;
  append(delimiter, before);
  delimiter.special_begin = delimiter.size;
  append(delimiter, kDsml);
  delimiter.special_end = delimiter.size;
  append(delimiter, after);
  return finish(delimiter, markup, newlines);
}

consteval Delimiter think_end(Markup markup, bool newlines) {
  Delimiter delimiter;
  append(delimiter, kThinkEnd);
  delimiter.special_end = delimiter.size;
  return finish(delimiter, markup, newlines);
}

/// With the delimiters of both halves.
template <std::size_t A, std::size_t B>
consteval std::array<Delimiter, A + B> both(const std::array<Delimiter, A>& a,
                                            const std::array<Delimiter, B>& b) {
  std::array<Delimiter, A + B> all{};
  std::copy(a.begin(), a.end(), all.begin());
  std::copy(b.begin(), b.end(), all.begin() + A);
  return all;
}

using M = Markup;
constexpr std::array kThink{think_end(M::kThinkEnd, true)};
constexpr std::array kStrayThink{think_end(M::kStray, false)};
constexpr std::array kName{plain("\"", M::kNameEnd)};
constexpr std::array kFences{plain("```json\n", M::kFence), plain("```\n", M::kFence)};
constexpr std::array kBrackets{plain("{", M::kBracket), plain("[", M::kBracket)};
constexpr std::array kFenceEnd{plain("\n```", M::kFenceEnd)};

namespace deepseek {

constexpr std::array kOpen{dsml("<", "", M::kBlockBegin, true)};
constexpr auto kThinkOrOpen = both(kThink, kOpen);
constexpr auto kStrayOrOpen = both(kStrayThink, kOpen);
constexpr auto kJson = both(both(kFences, kBrackets), kStrayThink);
constexpr auto kJsonOrOpen = both(kJson, kOpen);
constexpr std::array kTools{plain("invoke name=\"", M::kCallBegin),
                            dsml("</", "tool_calls>", M::kBlockEnd),
                            dsml("</", " calls>", M::kBlockEnd)};
constexpr std::array kArguments{plain("parameter name=", M::kParameterBegin),
                                dsml("</", "", M::kCallEnd)};
constexpr std::array kParameterName{plain(" ", M::kParameterNameEnd)};
constexpr std::array kAttributes{plain("true\">", M::kTextBegin), plain("false\">", M::kRawBegin)};
constexpr std::array kValue{dsml("</", "", M::kParameterEnd)};

std::span<const Delimiter> delimiters_of(ParserState state, bool tools) {
  using S = ParserState;
  switch (state) {
    case S::kReasoning:
      return tools ? std::span<const Delimiter>(kThinkOrOpen) : kThink;
    case S::kContent:
      return tools ? std::span<const Delimiter>(kStrayOrOpen) : kStrayThink;
    case S::kJsonBefore:
      return tools ? std::span<const Delimiter>(kJsonOrOpen) : kJson;
    case S::kJsonInside:
      return kFenceEnd;
    case S::kJsonAfter:
      return tools ? std::span<const Delimiter>(kOpen) : std::span<const Delimiter>();
    case S::kTools:
      return kTools;
    case S::kCallName:
      return kName;
    case S::kArguments:
      return kArguments;
    case S::kParameterName:
      return kParameterName;
    case S::kAttributes:
      return kAttributes;
    case S::kText:
    case S::kRaw:
      return kValue;
    case S::kFinished:
      return {};
  }
  return {};
}

}  // namespace deepseek

namespace strict {

constexpr std::array kOpen{dsml("<", "tool_calls>", M::kBlockBegin, true),
                           dsml("<", " calls>", M::kBlockBegin, true),
                           dsml("<", "function_calls>", M::kBlockBegin, true)};
constexpr std::array kOrphan{dsml("<", "invoke name=\"", M::kOrphanCall, true),
                             dsml("<", " invoke name=\"", M::kOrphanCall, true)};
constexpr std::array kBlockEnd{dsml("</", "tool_calls>", M::kBlockEnd),
                               dsml("</", " calls>", M::kBlockEnd),
                               dsml("</", "function_calls>", M::kBlockEnd)};
constexpr std::array kCallEnd{dsml("</", "invoke>", M::kCallEnd),
                              dsml("</", " invoke>", M::kCallEnd)};
constexpr std::array kParameterEnd{dsml("</", "parameter>", M::kParameterEnd),
                                   dsml("</", " parameter>", M::kParameterEnd)};
constexpr std::array kStrayEnd{dsml("</", "tool_calls>", M::kStray),
                               dsml("</", " calls>", M::kStray),
                               dsml("</", "function_calls>", M::kStray),
                               dsml("</", "invoke>", M::kStray), dsml("</", " invoke>", M::kStray)};
constexpr std::array kCallBegin{plain("invoke name=\"", M::kCallBegin)};
constexpr auto kMarkup = both(both(kOpen, kOrphan), kStrayEnd);
constexpr auto kReasoning = both(kThink, kMarkup);
constexpr auto kContent = both(kStrayThink, kMarkup);
constexpr auto kJson = both(both(kBrackets, kStrayThink), kMarkup);
constexpr auto kTools = both(kCallBegin, kBlockEnd);
constexpr auto kArguments = both(both(kCallBegin, both(kCallEnd, kBlockEnd)),
                                 std::array{plain("parameter name=\"", M::kParameterBegin)});
constexpr std::array kParameterName{plain("\"", M::kParameterNameEnd)};
constexpr std::array kAttributes{plain("string=\"true\">", M::kTextBegin),
                                 plain("string=\"false\">", M::kRawBegin),
                                 plain(">", M::kTextBegin)};
constexpr auto kValue = both(kParameterEnd, both(kCallEnd, kBlockEnd));

std::span<const Delimiter> delimiters_of(ParserState state) {
  using S = ParserState;
  switch (state) {
    case S::kReasoning:
      return kReasoning;
    case S::kContent:
      return kContent;
    case S::kJsonBefore:
      return kJson;
    case S::kJsonInside:
      return kFenceEnd;
    case S::kJsonAfter:
      return kMarkup;
    case S::kTools:
      return kTools;
    case S::kCallName:
      return kName;
    case S::kArguments:
      return kArguments;
    case S::kParameterName:
      return kParameterName;
    case S::kAttributes:
      return kAttributes;
    case S::kText:
    case S::kRaw:
      return kValue;
    case S::kFinished:
      return kOpen;
  }
  return {};
}

}  // namespace strict
}  // namespace

std::span<const Delimiter> delimiters_of(ParserState state, Compat compat, bool tools) {
  return compat == Compat::kDeepseek ? deepseek::delimiters_of(state, tools)
                                     : strict::delimiters_of(state);
}

void DelimiterMatcher::use(std::span<const Delimiter> delimiters) {
  TROUPE_ASSERT(delimiters.size() <= kDelimitersMax, "a state has few delimiters");
  delimiters_ = delimiters;
  matched_ = {};
  lead_ = {};
  partial_ = 0;
  has_newlines_ = std::any_of(delimiters.begin(), delimiters.end(),
                              [](const Delimiter& delimiter) { return delimiter.newlines; });
}

const Delimiter* DelimiterMatcher::push(char byte, bool special) {
  partial_ = 0;
  const Delimiter* found = nullptr;
  for (std::size_t i = 0; i < delimiters_.size(); ++i) {
    const Delimiter& delimiter = delimiters_[i];
    advance(i, byte, special);
    const std::size_t length = matched_[i] + lead_[i];
    if (matched_[i] == delimiter.size) {
      if (!found) partial_ = length;
      found = found ? found : &delimiter;
      matched_[i] = delimiter.border[delimiter.size];
    } else if (!found) {
      partial_ = std::max(partial_, length);
    }
  }
  return found;
}

/// One step of one delimiter: how much of it, and how many line ends before, the text ends with.
void DelimiterMatcher::advance(std::size_t index, char byte, bool special) {
  const Delimiter& delimiter = delimiters_[index];
  std::uint8_t matched = matched_[index];
  if (matched == 0 && delimiter.newlines && byte == '\n') {
    ++lead_[index];
    return;
  }
  const auto fits = [&] {
    return delimiter.bytes[matched] == byte &&
           (special || matched < delimiter.special_begin || matched >= delimiter.special_end);
  };
  const bool began = matched > 0;
  while (matched > 0 && !fits()) {
    matched = delimiter.border[matched];
    lead_[index] = 0;
  }
  matched_[index] = matched = fits() ? matched + 1 : 0;
  if (matched > 0) return;
  // The reference does not count a line end that breaks off a delimiter.
  const bool counts = began && delimiter.newlines && byte == '\n' && compat_ == Compat::kDefault;
  lead_[index] = counts ? 1 : 0;
}

void DelimiterMatcher::add_first_bytes(std::bitset<256>& bytes) const {
  for (const Delimiter& delimiter : delimiters_) {
    bytes.set(static_cast<unsigned char>(delimiter.bytes[0]));
  }
  if (has_newlines_) bytes.set('\n');
}

}  // namespace troupe::recipe
