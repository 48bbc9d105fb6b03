#include "actors/recipe/recipe_answer.hpp"

#include "runtime/base/assert.hpp"
#include "runtime/recipe/stream/choices.hpp"
#include "runtime/recipe/stream/stream_processor.hpp"

namespace troupe {

namespace {

using Options = std::shared_ptr<const RecipeAnswerOptions>;

const std::vector<SampledLogprob> kNoLogprobs;
/// A server-sent event's parser drops it; OpenAI's clients take it between any two events.
constexpr std::string_view kComment = ": keep-alive\n\n";

void fill_chunk(recipe::TokensChunk& chunk, const RowTokens& tokens, bool logprobs) {
  chunk.ids.assign(tokens.tokens.begin(), tokens.tokens.end());
  chunk.logprobs.clear();
  for (const auto& sampled : logprobs ? tokens.logprobs : kNoLogprobs) {
    auto& logprob = chunk.logprobs.emplace_back();
    logprob.logprob = sampled.logprob;
    for (const auto& [id, value] : sampled.top) logprob.top.push_back({id, value});
  }
}

recipe::TokensChunk tokens_chunk(const RowTokens& tokens, bool logprobs) {
  recipe::TokensChunk chunk;
  fill_chunk(chunk, tokens, logprobs);
  return chunk;
}

recipe::FinishChunk finish_chunk(Finish finish) {
  return {finish == Finish::kLength ? recipe::EngineFinish::kLength : recipe::EngineFinish::kStop};
}

recipe::ReadyChunk ready_chunk(const RecipeAnswerOptions& options) {
  recipe::ReadyChunk ready;
  ready.prompt_tokens = options.prompt_tokens;
  ready.fingerprint = options.fingerprint;
  return ready;
}

AnswerTally tally_of(const recipe::Usage& usage) {
  return {static_cast<std::uint32_t>(usage.cached_tokens),
          static_cast<std::uint32_t>(usage.reasoning_tokens.value_or(0))};
}

/// Of one choice.
class Writer final : public AnswerWriter, private recipe::EventSink {
 public:
  explicit Writer(Options options)
      : shared_(std::move(options)),
        options_(*shared_),
        processor_(options_.parsing, options_.answer, options_.identity, options_.tokenizer,
                   options_.stream ? recipe::Delivery::kEvents : recipe::Delivery::kBody) {}

  bool feed(const RowTokens& tokens, std::string& out) override {
    out_ = &out;
    begin();
    fill_chunk(chunk_, tokens, options_.logprobs);
    push(chunk_);
    return processor_.finished();
  }

  void passed(Duration since_arrival) override {
    processor_.passed(since_arrival.value / 1'000'000'000);
  }

  void finish(Finish finish, std::uint32_t, std::string& out) override {
    out_ = &out;
    begin();
    if (!processor_.finished()) {
      push(finish_chunk(finish));
    }
    if (!options_.stream) {
      out += processor_.body();
      return;
    }
    const auto done = recipe::done_data(options_.answer.protocol);
    if (!done.empty()) event("", done);
  }

  void keep_alive(std::string& out) override {
    const recipe::Protocol protocol = options_.answer.protocol;
    if (protocol == recipe::Protocol::kChat || protocol == recipe::Protocol::kCompletions) {
      out += kComment;
      return;
    }
    out_ = &out;
    begin();
    processor_.keep_alive(*this);
  }

  AnswerTally tally() const override {
    AnswerTally tally = tally_of(processor_.usage());
    const bool ended = processor_.finished() && !failed_;
    tally.calls_tools = ended && processor_.how_ended() == recipe::AnswerEnd::kToolCalls;
    return tally;
  }

  SharedResponse kept() const override {
    if (!options_.keep || failed_ || !processor_.finished()) return nullptr;
    StoredResponse response = *options_.keep;
    response.body = processor_.body();
    return std::make_shared<const StoredResponse>(std::move(response));
  }

  void fail(Code code, const std::string& message, std::string& out) override {
    out_ = &out;
    failed_ = true;
    processor_.fail(api_error_of(Error{code, message}), *this);
  }

 private:
  void begin() {
    if (begun_) return;
    begun_ = true;
    push(ready_chunk(options_));
  }

  void push(const recipe::Chunk& chunk) {
    const Status pushed = processor_.push(chunk, *this);
    TROUPE_ASSERT(pushed.ok(), "ranks bring tokens of their own vocabulary, one logprob each");
  }

  void event(std::string_view name, std::string_view json) override {
    if (!name.empty()) out_->append("event: ").append(name).append("\n");
    out_->append("data: ").append(json).append("\n\n");
  }

  const Options shared_;
  const RecipeAnswerOptions& options_;
  recipe::StreamProcessor processor_;
  recipe::TokensChunk chunk_;
  std::string* out_ = nullptr;  ///< of the call at hand
  bool begun_ = false;
  bool failed_ = false;
};

/// Of several choices: the same for each, and one end.
class ChoicesWriter final : public AnswerWriter, private recipe::EventSink {
 public:
  explicit ChoicesWriter(Options options)
      : shared_(std::move(options)),
        options_(*shared_),
        choices_(options_.parsing, options_.answer, options_.identity, options_.tokenizer,
                 options_.stream ? recipe::Delivery::kEvents : recipe::Delivery::kBody,
                 options_.choices) {}

  void turn_to(std::uint32_t choice) override { choice_ = choice; }

  bool feed(const RowTokens& tokens, std::string& out) override {
    out_ = &out;
    begin();
    push(tokens_chunk(tokens, options_.logprobs));
    return choices_.finished(choice_);
  }

  void finish(Finish finish, std::uint32_t, std::string& out) override {
    out_ = &out;
    begin();
    if (!choices_.finished(choice_)) push(finish_chunk(finish));
    if (!choices_.finished()) return;
    if (options_.stream) {
      event("", recipe::done_data(options_.answer.protocol));
    } else {
      out += choices_.body();
    }
  }

  void fail(Code code, const std::string& message, std::string& out) override {
    out_ = &out;
    choices_.fail(api_error_of(Error{code, message}), *this);
  }

  void keep_alive(std::string& out) override { out += kComment; }

  AnswerTally tally() const override { return tally_of(choices_.usage()); }

 private:
  void begin() {
    if (begun_) return;
    begun_ = true;
    choices_.start(ready_chunk(options_), *this);
  }

  void push(const recipe::Chunk& chunk) {
    const Status pushed = choices_.push(choice_, chunk, *this);
    TROUPE_ASSERT(pushed.ok(), "ranks bring tokens of their own vocabulary, one logprob each");
  }

  void event(std::string_view, std::string_view json) override {
    out_->append("data: ").append(json).append("\n\n");
  }

  const Options shared_;
  const RecipeAnswerOptions& options_;
  recipe::Choices choices_;
  std::uint32_t choice_ = 0;
  std::string* out_ = nullptr;  ///< of the call at hand
  bool begun_ = false;
};

}  // namespace

WriterOfRow RecipeAnswer::open() const {
  if (options_->choices > 1) return make_writer<ChoicesWriter>(options_);
  return make_writer<Writer>(options_);
}

}  // namespace troupe
