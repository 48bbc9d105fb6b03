#include "actors/recipe/recipe_answer.hpp"

#include "runtime/base/assert.hpp"
#include "runtime/recipe/stream/stream_processor.hpp"

namespace troupe {

namespace {

const std::vector<SampledLogprob> kNoLogprobs;

class Writer final : public AnswerWriter, private recipe::EventSink {
 public:
  explicit Writer(const RecipeAnswerOptions& options)
      : options_(options),
        processor_(options.parsing, options.answer, options.identity, options.tokenizer,
                   options.stream ? recipe::Delivery::kEvents : recipe::Delivery::kBody) {}

  bool feed(const RowTokens& tokens, std::string& out) override {
    out_ = &out;
    begin();
    chunk_.ids.assign(tokens.tokens.begin(), tokens.tokens.end());
    chunk_.logprobs.clear();
    for (const auto& sampled : options_.logprobs ? tokens.logprobs : kNoLogprobs) {
      auto& logprob = chunk_.logprobs.emplace_back();
      logprob.logprob = sampled.logprob;
      for (const auto& [id, value] : sampled.top) logprob.top.push_back({id, value});
    }
    push(chunk_);
    return processor_.finished();
  }

  void finish(Finish finish, std::uint32_t, std::string& out) override {
    out_ = &out;
    begin();
    if (!processor_.finished()) {
      push(recipe::FinishChunk{finish == Finish::kLength ? recipe::EngineFinish::kLength
                                                         : recipe::EngineFinish::kStop});
    }
    if (!options_.stream) {
      out += processor_.body();
      return;
    }
    const auto done = recipe::done_data(options_.answer.protocol);
    if (!done.empty()) event("", done);
  }

  void fail(Code code, const std::string& message, std::string& out) override {
    out_ = &out;
    processor_.fail(api_error_of(Error{code, message}), *this);
  }

 private:
  void begin() {
    if (begun_) return;
    begun_ = true;
    recipe::ReadyChunk ready;
    ready.prompt_tokens = options_.prompt_tokens;
    ready.fingerprint = options_.fingerprint;
    push(ready);
  }

  void push(const recipe::Chunk& chunk) {
    const Status pushed = processor_.push(chunk, *this);
    TROUPE_ASSERT(pushed.ok(), "ranks bring tokens of their own vocabulary, one logprob each");
  }

  void event(std::string_view name, std::string_view json) override {
    if (!name.empty()) out_->append("event: ").append(name).append("\n");
    out_->append("data: ").append(json).append("\n\n");
  }

  const RecipeAnswerOptions options_;
  recipe::StreamProcessor processor_;
  recipe::TokensChunk chunk_;
  std::string* out_ = nullptr;  ///< of the call at hand
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<AnswerWriter> RecipeAnswer::open() const {
  return std::make_unique<Writer>(options_);
}

}  // namespace troupe
