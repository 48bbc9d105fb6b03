// What delimiters do: the transitions of the state machine of answer_parser.hpp.
#include "runtime/recipe/stream/answer_parser.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {

using State = ParserState;

/// A step of the arguments, a call or a bracket. In kDeepseek it waits for the end of the piece.
void AnswerParser::act(DeltaKind kind, std::string_view text) {
  if (mute_ != Mute::kNone) return;
  if (defer_) {
    deferred_ = Delta{.kind = kind, .text = text};
  } else {
    send_act({.kind = kind, .text = text});
  }
}

void AnswerParser::send_act(Delta delta) {
  if (!strict() && delta.kind == DeltaKind::kCall) has_call_ = true;
  delta.logprobs = act_logs(delta.kind);
  sink_.delta(delta);
}

void AnswerParser::act_deferred() {
  if (!deferred_) return;
  const Delta delta = *deferred_;
  deferred_.reset();
  send_act(delta);
}

/// A bracket is shown with the log-probabilities of the piece that it lies in.
std::span<const LoggedToken> AnswerParser::act_logs(DeltaKind kind) const {
  if (kind != DeltaKind::kContent || strict()) return {};
  if (held_pieces_.empty()) return logs_;
  return std::span(held_logs_).first(held_pieces_.front().logs_end);
}

void AnswerParser::enter_content() {
  enter(options_.json ? State::kJsonBefore : State::kContent);
  skip_line_ends_ = true;
}

void AnswerParser::enter_json(char bracket) {
  left_out_ = {};
  act(DeltaKind::kContent, bracket == '{' ? "{" : "[");
  enter(State::kJsonInside);
  extent_.restart();
  extent_.push(bracket);
}

void AnswerParser::apply(Markup markup, char first) {
  switch (markup) {
    case Markup::kThinkEnd:
      return enter_content();
    case Markup::kStray:
      return enter(state_);
    case Markup::kBlockBegin:
      return enter(State::kTools);
    case Markup::kFence:
      left_out_ = {};
      return enter(State::kJsonInside);
    case Markup::kBracket:
      return enter_json(first);
    case Markup::kFenceEnd:
      return enter(State::kJsonAfter);
    case Markup::kCallBegin:
      name_.clear();
      return enter(State::kCallName);
    case Markup::kNameEnd:
      return announce();
    case Markup::kParameterBegin:
      act(DeltaKind::kArguments, has_parameter_ ? ", " : "{");
      has_parameter_ = true;
      return enter(State::kParameterName);
    case Markup::kParameterNameEnd:
      act(DeltaKind::kArguments, ": ");
      return enter(State::kAttributes);
    case Markup::kTextBegin:
      act(DeltaKind::kArguments, "\"");
      return enter(State::kText);
    case Markup::kRawBegin:
      return enter(State::kRaw);
    case Markup::kParameterEnd:
      if (state_ == State::kText) act(DeltaKind::kArguments, "\"");
      return enter(State::kArguments);
    case Markup::kCallEnd:
      act(DeltaKind::kArguments, has_parameter_ ? "}" : "{}");
      call_open_ = false;
      return enter(State::kTools);
    case Markup::kBlockEnd:
      return enter(State::kFinished);
    case Markup::kOrphanCall:
      return;  // kDeepseek does not know it
  }
}

void AnswerParser::announce() {
  if (strict() && name_.empty() && mute_ == Mute::kNone) mute_ = Mute::kCall;
  act(DeltaKind::kCall, name_);
  call_open_ = mute_ == Mute::kNone;
  if (call_open_) left_out_ = {};
  has_parameter_ = false;
  enter(State::kArguments);
}

void AnswerParser::apply_strict(Markup markup, char first) {
  switch (markup) {
    case Markup::kBlockBegin:
    case Markup::kOrphanCall:
      return begin_markup(markup == Markup::kOrphanCall);
    case Markup::kCallBegin:
      return begin_call();
    case Markup::kParameterBegin:
      name_.clear();
      return enter(State::kParameterName);
    case Markup::kParameterNameEnd:
      return enter(State::kAttributes);
    case Markup::kTextBegin:
      begin_value("\"");
      return enter(State::kText);
    case Markup::kRawBegin:
      begin_value("");
      return enter(State::kRaw);
    case Markup::kParameterEnd:
      end_value();
      return enter(State::kArguments);
    case Markup::kCallEnd:
      end_value();
      return end_call();
    case Markup::kBlockEnd:
      end_value();
      if (state_ != State::kTools) end_call();
      return end_block();
    default:
      return apply(markup, first);
  }
}

void AnswerParser::begin_markup(bool orphan) {
  return_to_ = state_;
  if (orphan) {
    mute_ = Mute::kOrphan;
    name_.clear();
    return enter(State::kCallName);
  }
  if (!options_.tools) mute_ = Mute::kBlock;
  enter(State::kTools);
}

/// Also ends a call that the model left open; a call outside of any block stays muted.
void AnswerParser::begin_call() {
  const bool orphan = mute_ == Mute::kOrphan;
  if (state_ == State::kArguments) end_call();
  if (orphan) mute_ = Mute::kOrphan;
  name_.clear();
  enter(State::kCallName);
}

void AnswerParser::begin_value(std::string_view quote) {
  value_ = has_parameter_ ? ", " : "{";
  append_json_string(value_, name_);
  value_ += ": ";
  value_ += quote;
  has_parameter_ = true;
  act(DeltaKind::kArguments, value_);
  value_.clear();
}

void AnswerParser::end_value() {
  if (state_ == State::kText) act(DeltaKind::kArguments, "\"");
  if (state_ != State::kRaw) return;
  if (mute_ == Mute::kNone && !JsonDocument::parse(value_)) {
    act(DeltaKind::kArguments, "\"");
    act(DeltaKind::kArgumentText, value_);
    act(DeltaKind::kArguments, "\"");
  } else {
    act(DeltaKind::kArguments, value_);
  }
}

void AnswerParser::end_call() {
  act(DeltaKind::kArguments, has_parameter_ ? "}" : "{}");
  act(DeltaKind::kCallDone, {});
  has_call_ = has_call_ || call_open_;
  call_open_ = false;
  if (mute_ == Mute::kOrphan) {
    mute_ = Mute::kNone;
    return enter(return_to_);
  }
  if (mute_ == Mute::kCall) mute_ = Mute::kNone;
  enter(State::kTools);
}

void AnswerParser::end_block() {
  if (state_ != State::kTools) return;  // it ended a call outside of any block
  if (mute_ == Mute::kNone) return enter(State::kFinished);
  mute_ = Mute::kNone;
  enter(return_to_);
}

}  // namespace troupe::recipe
