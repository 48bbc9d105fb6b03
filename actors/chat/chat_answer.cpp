#include "actors/chat/chat_answer.hpp"

#include "runtime/recipe/text_stream.hpp"

namespace troupe {

namespace {

class ChatWriter final : public AnswerWriter {
 public:
  explicit ChatWriter(const ChatAnswerOptions& options)
      : options_(options), events_(options.identity), text_(options.tokenizer, options.stops) {}

  bool feed(const RowTokens& tokens, std::string& out) override {
    begin(out);
    std::string piece;
    for (std::size_t i = 0; i < tokens.tokens.size() && !text_.stopped(); ++i) {
      piece += text_.push(tokens.tokens[i]);
      if (options_.logprobs && i < tokens.logprobs.size()) keep(tokens.logprobs[i]);
    }
    emit(piece, out);
    return text_.stopped();
  }

  void finish(Finish finish, std::uint32_t output_tokens, std::string& out) override {
    begin(out);
    emit(text_.finish(), out);
    const FinishReason reason =
        finish == Finish::kLength ? FinishReason::kLength : FinishReason::kStop;
    const Usage usage{options_.prompt_tokens, output_tokens, 0};
    if (!options_.stream) {
      out += events_.completion_body(whole_, reason, usage, logprobs_);
      return;
    }
    out += events_.finish_chunk(reason);
    if (options_.include_usage) out += events_.usage_chunk(usage);
    out += ChatEvents::done();
  }

  void fail(Code code, const std::string& message, std::string& out) override {
    out += ChatEvents::error_event(api_error_of(Error{code, message}));
  }

 private:
  void begin(std::string& out) {
    if (options_.stream && !begun_) out += events_.role_chunk();
    begun_ = true;
  }

  void keep(const SampledLogprob& sampled) {
    TokenLogprob logprob;
    logprob.bytes = options_.tokenizer->bytes_of(sampled.token);
    logprob.logprob = sampled.logprob;
    for (const auto& [token, value] : sampled.top) {
      logprob.top.push_back({std::string(options_.tokenizer->bytes_of(token)), value});
    }
    logprobs_.push_back(std::move(logprob));
  }

  void emit(const std::string& piece, std::string& out) {
    if (!options_.stream) {
      whole_ += piece;
    } else if (!piece.empty()) {
      out += events_.content_chunk(piece, logprobs_);
      logprobs_.clear();
    }
  }

  ChatAnswerOptions options_;
  ChatEvents events_;
  TextStream text_;
  bool begun_ = false;
  std::string whole_;                   ///< of an answer that is not streamed
  std::vector<TokenLogprob> logprobs_;  ///< not yet written
};

}  // namespace

std::unique_ptr<AnswerWriter> ChatAnswer::open() const {
  return std::make_unique<ChatWriter>(options_);
}

}  // namespace troupe
