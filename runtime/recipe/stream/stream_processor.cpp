#include "runtime/recipe/stream/stream_processor.hpp"

#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/chat_answer.hpp"
#include "runtime/recipe/stream/completion_answer.hpp"
#include "runtime/recipe/stream/messages_answer.hpp"
#include "runtime/recipe/stream/responses_answer.hpp"

namespace troupe::recipe {
namespace {

bool starts_reasoning(const ParsingOptions& options) {
  return !options.starts_in_tools && (options.initial == InitialStage::kReasoning ||
                                      options.initial == InitialStage::kReasoningContinuation);
}

/// Whether the model has tokens that steer the parser; without a tokenizer texts may spell them.
bool has_markup(const Tokenizer* tokenizer) {
  return !tokenizer || tokenizer->added_token(kThinkEnd) || tokenizer->added_token(kDsml);
}

}  // namespace

std::unique_ptr<Answer> make_answer(AnswerContext context, Delivery delivery) {
  const bool events = delivery == Delivery::kEvents;
  switch (context.options.protocol) {
    case Protocol::kChat:
      if (events) return std::make_unique<ChatStream>(std::move(context));
      return std::make_unique<ChatCompletion>(std::move(context));
    case Protocol::kCompletions:
      if (events) return std::make_unique<CompletionStream>(std::move(context));
      return std::make_unique<CompletionBody>(std::move(context));
    case Protocol::kMessages:
      if (events) return std::make_unique<MessagesStream>(std::move(context));
      return std::make_unique<MessagesCompletion>(std::move(context));
    case Protocol::kResponses:
      break;
  }
  return std::make_unique<ResponsesAnswer>(std::move(context));
}

std::string_view done_data(Protocol protocol) {
  const bool done = protocol == Protocol::kChat || protocol == Protocol::kCompletions;
  return done ? "[DONE]" : "";
}

StreamProcessor::StreamProcessor(const ParsingOptions& parsing, const AnswerOptions& answer,
                                 Identity identity, std::shared_ptr<const Tokenizer> tokenizer,
                                 Delivery delivery)
    : compat_(parsing.compat),
      thinking_(answer.thinking),
      one_call_(parsing.one_call && parsing.compat == Compat::kDefault),
      delivery_(delivery),
      has_body_(delivery == Delivery::kBody || answer.protocol == Protocol::kResponses),
      random_(identity.seed),
      text_(std::move(tokenizer), parsing.compat),
      parser_(parsing, has_markup(text_.tokenizer()), *this),
      answer_(make_answer({parsing.compat, starts_reasoning(parsing), answer, std::move(identity),
                           text_.tokenizer()},
                          delivery)) {}

Status StreamProcessor::check_open() const {
  if (state_ == State::kClosed) return Error{Code::kInvalid, "stream processor is closed"};
  if (state_ == State::kFinished) return Error{Code::kInvalid, "stream processor has finished"};
  return ok_status();
}

Status StreamProcessor::push(const Chunk& chunk, EventSink& sink) {
  TROUPE_TRY(check_open());
  answer_->send_to(delivery_ == Delivery::kEvents ? &sink : nullptr);
  if (const auto* tokens = std::get_if<TokensChunk>(&chunk)) {
    TROUPE_TRY(push_tokens(*tokens));
  } else if (const auto* text = std::get_if<TextChunk>(&chunk)) {
    text_.push(*text, *this);
  } else if (const auto* ready = std::get_if<ReadyChunk>(&chunk)) {
    start(*ready);
  } else {
    end(std::get<FinishChunk>(chunk).reason);
  }
  send_merged();
  if (state_ != State::kFinished && (parser_.stop() || had_call_)) end({});
  return ok_status();
}

Status StreamProcessor::finish(EventSink& sink) {
  if (state_ == State::kFinished) return ok_status();
  TROUPE_TRY(check_open());
  answer_->send_to(delivery_ == Delivery::kEvents ? &sink : nullptr);
  end({});
  return ok_status();
}

void StreamProcessor::keep_alive(EventSink& sink) {
  if (state_ != State::kStarted) return;
  answer_->send_to(delivery_ == Delivery::kEvents ? &sink : nullptr);
  answer_->keep_alive();
}

void StreamProcessor::fail(const ApiError& error, EventSink& sink) {
  if (state_ == State::kFinished) return;
  state_ = State::kFinished;
  answer_->send_to(delivery_ == Delivery::kEvents ? &sink : nullptr);
  answer_->fail(error);
}

std::string StreamProcessor::body() const {
  TROUPE_ASSERT(has_body_, "a stream of this protocol keeps no body");
  return answer_->body();
}

void StreamProcessor::start(const ReadyChunk& ready) {
  if (state_ != State::kIdle) return;  // a second one says nothing new
  state_ = State::kStarted;
  usage_.prompt_tokens = ready.prompt_tokens;
  usage_.cached_tokens = ready.cached_tokens;
  answer_->start({ready.prompt_tokens, ready.cached_tokens, ready.fingerprint});
}

Status StreamProcessor::push_tokens(const TokensChunk& chunk) {
  Status status = text_.push(chunk, *this);
  if (!status) state_ = State::kClosed;
  return status;
}

void StreamProcessor::piece(const Piece& piece) {
  if (state_ == State::kIdle) start({});
  // Behind a stop string the reference counts no piece; every token was paid for all the same.
  if (strict() || !parser_.stop()) usage_.completion_tokens += piece.tokens;
  const bool was_reasoning = parser_.in_reasoning();
  parser_.piece(piece);
  if (was_reasoning && (parser_.in_reasoning() || !piece.special)) {
    reasoning_tokens_ += piece.tokens;
  }
}

void StreamProcessor::delta(const Delta& delta) {
  if (had_call_) return;
  had_call_ = one_call_ && delta.kind == DeltaKind::kCallDone;
  if (delta.kind == DeltaKind::kCall) {
    send_merged();
    Delta call = delta;
    call.call_id = next_call_id();
    return answer_->delta(call);
  }
  if (delta.kind == DeltaKind::kReasoning) {
    has_reasoning_ = has_reasoning_ || !delta.text.empty();
    if (!strict()) reasoning_ += delta.text;
  }
  const bool is_text = delta.kind != DeltaKind::kCallDone;
  if (!strict() || !is_text || !delta.logprobs.empty()) {
    send_merged();
    return answer_->delta(delta);
  }
  if (delta.kind != merged_kind_) send_merged();
  merged_kind_ = delta.kind;
  merged_ += delta.text;
}

void StreamProcessor::send_merged() {
  if (merged_.empty()) return;
  answer_->delta({.kind = merged_kind_, .text = merged_});
  merged_.clear();
}

/// SPEC 5.5: call_, two digits or more, [ET_ if the model should have reasoned and did not,] 20
/// letters or digits, 4 digits.
std::string_view StreamProcessor::next_call_id() {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  call_id_ = "call_";
  if (calls_ < 10) call_id_ += '0';
  append_number(call_id_, calls_++);
  call_id_ += thinking_ && !has_reasoning_ ? "_ET_" : "_";
  for (int i = 0; i < 20; ++i) call_id_ += kAlphabet[random_.below(kAlphabet.size())];
  for (int i = 0; i < 4; ++i) call_id_ += static_cast<char>('0' + random_.below(10));
  return call_id_;
}

/// Without a reason the model is taken to have stopped.
void StreamProcessor::end(std::optional<EngineFinish> reason) {
  text_.finish(*this);
  parser_.finish(reason.value_or(EngineFinish::kStop) == EngineFinish::kStop);
  if (state_ == State::kIdle) start({});
  count_reasoning();
  const AnswerEnd how = how_ended_ = answer_end(reason);
  Outcome outcome{
      .end = how, .call_cut = strict() && !had_call_ && parser_.call_open(), .usage = usage_};
  if (how == AnswerEnd::kStopString) outcome.stop = *parser_.stop();
  send_merged();
  state_ = State::kFinished;
  answer_->finish(outcome);
}

AnswerEnd StreamProcessor::answer_end(std::optional<EngineFinish> reason) const {
  if (had_call_) return AnswerEnd::kToolCalls;
  if (parser_.stop()) return AnswerEnd::kStopString;
  if (!reason && !strict()) return AnswerEnd::kStop;  // calls or not
  switch (reason.value_or(EngineFinish::kStop)) {
    case EngineFinish::kLength:
      return AnswerEnd::kLength;
    case EngineFinish::kContentFilter:
      return AnswerEnd::kContentFilter;
    case EngineFinish::kStop:
      break;
  }
  if (strict() && parser_.call_open()) return AnswerEnd::kLength;
  return parser_.has_call() ? AnswerEnd::kToolCalls : AnswerEnd::kStop;
}

void StreamProcessor::count_reasoning() {
  if (!thinking_) return;
  if (strict()) {
    usage_.reasoning_tokens = reasoning_tokens_;
  } else if (text_.tokenizer()) {
    usage_.reasoning_tokens =
        reasoning_.empty() ? 0 : text_.tokenizer()->encode(reasoning_, true).size();
  }
}

}  // namespace troupe::recipe
