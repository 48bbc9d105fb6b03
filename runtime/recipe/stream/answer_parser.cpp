#include "runtime/recipe/stream/answer_parser.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace troupe::recipe {
namespace {

using State = ParserState;

State first_state(const ParsingOptions& options) {
  if (options.starts_in_tools) return State::kTools;
  if (options.initial == InitialStage::kReasoning ||
      options.initial == InitialStage::kReasoningContinuation) {
    return State::kReasoning;
  }
  return options.json ? State::kJsonBefore : State::kContent;
}

bool is_continuation(InitialStage stage) {
  return stage == InitialStage::kContentContinuation ||
         stage == InitialStage::kReasoningContinuation;
}

}  // namespace

AnswerParser::AnswerParser(const ParsingOptions& options, bool markup, DeltaSink& sink)
    : options_(options),
      markup_(markup),
      sink_(sink),
      matcher_(options.compat),
      stops_(options.stops, options.compat) {
  options_.stops.clear();
  enter(first_state(options));
  skip_line_ends_ = markup && !options.starts_in_tools && !is_continuation(options.initial);
}

void AnswerParser::enter(State state) {
  state_ = state;
  const bool plain = !markup_ && (state == State::kContent || state == State::kReasoning);
  matcher_.use(plain ? std::span<const Delimiter>()
                     : delimiters_of(state, options_.compat, options_.tools));
  stops_apply_ = !stops_.empty() && (state == State::kContent || state == State::kJsonInside);
  first_bytes_.reset();
  matcher_.add_first_bytes(first_bytes_);
  if (!stops_apply_) return;
  stops_.restart();
  stops_.add_first_bytes(first_bytes_);
}

void AnswerParser::piece(const Piece& piece) {
  if (stop_) return;
  begin_ = 0;
  logs_ = piece.logprobs;
  if (strict()) held_logs_.insert(held_logs_.end(), piece.logprobs.begin(), piece.logprobs.end());
  scan(piece);
  if (!stop_) end_piece(piece);
  defer_ = false;
}

void AnswerParser::scan(const Piece& piece) {
  const std::string_view text = piece.text;
  std::size_t at = 0;
  while (at < text.size() && !stop_) {
    if (skip_line_ends_) {
      at = skip_line_ends(piece, at);
      continue;
    }
    if (partial() == 0 && !(state_ == State::kJsonInside && strict())) {
      while (at < text.size() && !first_bytes_[static_cast<unsigned char>(text[at])]) ++at;
      if (at == text.size()) break;
    }
    step(piece, at++);
  }
}

std::size_t AnswerParser::skip_line_ends(const Piece& piece, std::size_t at) {
  while (at < piece.text.size() && piece.text[at] == '\n') {
    // A stop string that is one line end is seen even here; a longer one is not.
    if (const std::string* stop = stops_apply_ ? stops_.push('\n') : nullptr) {
      stop_ = stop;
      return at;
    }
    if (stops_apply_) stops_.restart();
    begin_ = ++at;
    cut_ = true;
    drop_held();
  }
  if (at == piece.text.size()) return at;
  skip_line_ends_ = false;
  return at;
}

std::size_t AnswerParser::partial() const {
  return std::max(matcher_.partial(), stops_apply_ ? stops_.partial() : 0);
}

/// Takes the byte of the piece at `at`.
void AnswerParser::step(const Piece& piece, std::size_t at) {
  const char byte = piece.text[at];
  const std::string* stop = nullptr;
  if (stops_apply_ && piece.special && !piece.is_text) {
    stops_.restart();  // a control token is no text, whatever it is spelled like
  } else if (stops_apply_) {
    stop = stops_.push(byte);
  }
  const Delimiter* delimiter = matcher_.push(byte, piece.special);
  const std::size_t end = held_.size() + at + 1 - begin_;
  if (stop) {
    act_deferred();
    take(piece, end - stop->size());
    drop_held();
    stop_ = stop;
  } else if (delimiter) {
    at_delimiter(piece, *delimiter, end);
    begin_ = at + 1;
  } else if (strict() && state_ == State::kJsonInside && extent_.push(byte)) {
    take(piece, end);
    drop_held();
    begin_ = at + 1;
    enter(State::kJsonAfter);
  }
}

void AnswerParser::at_delimiter(const Piece& piece, const Delimiter& delimiter, std::size_t end) {
  TROUPE_ASSERT(matcher_.partial() <= end, "a delimiter lies in text that was not given out");
  const std::size_t text_end = end - matcher_.partial();
  act_deferred();
  take(piece, text_end);
  defer_ = !strict() && text_end >= held_.size();
  drop_held();
  cut_ = true;
  if (strict()) {
    apply_strict(delimiter.markup, delimiter.bytes[0]);
  } else {
    apply(delimiter.markup, delimiter.bytes[0]);
  }
}

/// Gives out the first `size` bytes of what waits and of the rest of the piece.
void AnswerParser::take(const Piece& piece, std::size_t size) {
  std::size_t from = 0;
  if (strict()) {
    from = std::min(size, held_.size());
    if (from > 0) text(std::string_view(held_).substr(0, from), {});
  } else {
    std::size_t logs = 0;
    for (const Held& held : held_pieces_) {
      if (held.end > from ? from >= size : from > size || size == 0) break;
      const std::size_t end = std::min(held.end, size);
      text(std::string_view(held_).substr(from, end - from),
           std::span(held_logs_).subspan(logs, held.logs_end - logs));
      from = held.end;
      logs = held.logs_end;
    }
  }
  if (size > from) text(piece.text.substr(begin_, size - from), piece.logprobs);
}

void AnswerParser::drop_held() {
  held_.clear();
  held_pieces_.clear();
  if (!strict()) held_logs_.clear();
}

void AnswerParser::end_piece(const Piece& piece) {
  if (strict()) return end_piece_strict(piece);
  const std::string_view rest = piece.text.substr(begin_);
  // An empty text is shown as one, unless a delimiter is right before it.
  const bool empty = piece.is_text && piece.text.empty() && !cut_;
  const bool first = !begun_;
  cut_ = cut_ && rest.empty();
  begun_ = begun_ || !piece.text.empty();
  const std::size_t total = held_.size() + rest.size();
  const std::size_t kept = partial();
  if (skip_line_ends_ || (first && empty)) {
    if (empty) hold(piece, rest);
    return;
  }
  if (kept < total || kept == 0) act_deferred();
  if (kept == 0) {
    give_out_held(held_.size(), false);
    if (!rest.empty() || empty) text(rest, piece.logprobs);
    return;
  }
  give_out_held(total - kept, true);
  if (!rest.empty() || empty) hold(piece, rest);
}

void AnswerParser::end_piece_strict(const Piece& piece) {
  const std::size_t total = held_.size() + piece.text.size() - begin_;
  const std::size_t kept = skip_line_ends_ ? 0 : partial();
  TROUPE_ASSERT(kept <= total, "only text that was not given out may begin a delimiter");
  const std::size_t size = total - kept;
  if (size > 0) take(piece, size);
  if (size >= held_.size()) {
    begin_ += size - held_.size();
    held_.clear();
  } else {
    held_.erase(0, size);
  }
  held_ += piece.text.substr(begin_);
  // A token without text waits for the rest of its character; its log-probability with it.
  if (held_.empty() && !piece.text.empty()) held_logs_.clear();
}

void AnswerParser::hold(const Piece& piece, std::string_view rest) {
  held_ += rest;
  held_logs_.insert(held_logs_.end(), piece.logprobs.begin(), piece.logprobs.end());
  held_pieces_.push_back({held_.size(), held_logs_.size()});
}

/// Gives out the pieces that wait and end within the first `size` bytes. `kept`: text behind them
/// waits on, and empty pieces that only precede it too.
void AnswerParser::give_out_held(std::size_t size, bool kept) {
  std::size_t from = 0;
  std::size_t logs = 0;
  std::size_t count = 0;
  for (const Held& held : held_pieces_) {
    if (held.end > size || (kept && size == 0)) break;
    text(std::string_view(held_).substr(from, held.end - from),
         std::span(held_logs_).subspan(logs, held.logs_end - logs));
    from = held.end;
    logs = held.logs_end;
    ++count;
  }
  if (count == 0) return;
  held_.erase(0, from);
  held_logs_.erase(held_logs_.begin(), held_logs_.begin() + logs);
  held_pieces_.erase(held_pieces_.begin(), held_pieces_.begin() + count);
  for (Held& held : held_pieces_) {
    held.end -= from;
    held.logs_end -= logs;
  }
}

/// Text of the state at hand, which no delimiter begins in.
void AnswerParser::text(std::string_view text, std::span<const LoggedToken> logs) {
  switch (state_) {
    case State::kReasoning:
      return show(DeltaKind::kReasoning, text, logs);
    case State::kContent:
    case State::kJsonInside:
      return show(DeltaKind::kContent, text, logs);
    case State::kJsonBefore:
      return strict() ? keep_unless_asked_for(text) : show(DeltaKind::kContent, " ", logs);
    case State::kJsonAfter:
      if (!strict()) show(DeltaKind::kContent, " ", logs);
      return;
    case State::kTools:
      if (strict() && options_.starts_in_tools) keep_unless_asked_for(text);
      return;
    case State::kCallName:
      name_ += text;
      return;
    case State::kParameterName:
      if (strict()) {
        name_ += text;
      } else {
        sink_.delta({.kind = DeltaKind::kArguments, .text = text});
      }
      return;
    case State::kText:
      if (mute_ == Mute::kNone) sink_.delta({.kind = DeltaKind::kArgumentText, .text = text});
      return;
    case State::kRaw:
      if (strict()) {
        value_ += text;
      } else {
        sink_.delta({.kind = DeltaKind::kArguments, .text = text});
      }
      return;
    default:
      return;  // between tags
  }
}

/// kDefault: text around JSON and calls is left out, but an answer of text where one of them was
/// asked for is shown in the end.
void AnswerParser::keep_unless_asked_for(std::string_view text) {
  if (has_call_ || call_open_) return;
  left_out_ += text;
  if (left_out_.size() <= kLeftOutBytesMax) return;
  options_.json = false;
  show_left_out();
  enter(State::kContent);
}

void AnswerParser::show_left_out() {
  if (left_out_.find_first_not_of(" \r\n\t") != std::string::npos) {
    show(DeltaKind::kContent, left_out_, {});
  }
  left_out_ = {};
}

void AnswerParser::show(DeltaKind kind, std::string_view text, std::span<const LoggedToken> logs) {
  sink_.delta({.kind = kind, .text = text, .logprobs = strict() ? held_logs_ : logs});
  if (strict()) held_logs_.clear();
}

void AnswerParser::finish(bool complete) {
  if (stop_) return;
  if (!strict()) {
    const bool had_call = has_call_;
    act_deferred();
    has_call_ = had_call;  // one that is announced so late does not count
    if (!skip_line_ends_) give_out_held(held_.size(), false);
    return;
  }
  if (!held_.empty()) text(held_, {});
  if (!has_call_ && !call_open_) show_left_out();
  drop_held();
  if (complete && call_open_ && state_ == State::kArguments) end_call();
}

}  // namespace troupe::recipe
