#include "tools/simulate/simulated_recipe.hpp"

#include "actors/stream_table/answer.hpp"

namespace troupe {

namespace {

/// Without a state: one for all rows, so that a token touches no memory of its own.
class Writer final : public AnswerWriter {
 public:
  explicit Writer(std::uint32_t bytes_per_token) : bytes_per_token_(bytes_per_token) {}
  void release() override {}

  bool feed(const RowTokens& tokens, std::string& out) override {
    out.append(tokens.count() * bytes_per_token_, 't');
    return false;
  }
  void finish(Finish, std::uint32_t, std::string&) override {}
  void keep_alive(std::string& out) override { out += 'k'; }
  void fail(Code, const std::string&, std::string& out) override { out += "error"; }

 private:
  std::uint32_t bytes_per_token_;
};

class Format final : public AnswerFormat {
 public:
  explicit Format(std::uint32_t bytes_per_token) : writer_(bytes_per_token) {}
  recipe::Protocol protocol() const override { return recipe::Protocol::kChat; }
  bool streamed() const override { return true; }
  const char* content_type() const override { return "text/event-stream"; }
  WriterOfRow open() const override { return WriterOfRow(&writer_); }

 private:
  mutable Writer writer_;
};

}  // namespace

SimulatedRecipe::SimulatedRecipe(std::uint32_t bytes_per_token)
    : format_(std::make_shared<const Format>(bytes_per_token)) {}

Result<Prepared> SimulatedRecipe::prepare(const HttpArrived& arrived, RequestId,
                                          const ResponseChain*) const {
  if (!arrived.simulated) return Error{Code::kInvalid, "a simulated node takes simulated prompts"};
  Prepared prepared;
  prepared.model = kModel;
  prepared.prompt_length = arrived.simulated->prompt_tokens;
  prepared.max_tokens = arrived.simulated->max_tokens;
  prepared.sealed = arrived.simulated->sealed;
  prepared.answer.format = format_;
  return prepared;
}

Duration SimulatedRecipe::modelled_time(const HttpArrived& arrived) const {
  const std::int64_t tokens = arrived.simulated ? arrived.simulated->prompt_tokens : 0;
  return microseconds(20) + nanoseconds(400) * tokens;
}

}  // namespace troupe
