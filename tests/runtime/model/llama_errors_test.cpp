// What must not be computed: weight files that do not fit together, and rows that ask for too much.
#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/model/llama_run.hpp"
#include "tests/runtime/model/tiny_llama.hpp"

namespace troupe::test {
namespace {

Error load_error(const TinyLlama& tiny, LlamaOptions options = {}) {
  const auto file = tiny.build();
  EXPECT_TRUE(file.ok()) << to_string(file.error());
  const auto model = LlamaModel::load(*file, options);
  EXPECT_FALSE(model.ok());
  return model.ok() ? Error{} : model.error();
}

void expect_error(const Error& error, Code code, const std::string& part) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

TEST(LlamaErrors, AMissingTensorIsNamed) {
  expect_error(load_error({.dropped = "blk.1.ffn_up.weight"}), Code::kCorrupt,
               "test.gguf: tensor blk.1.ffn_up.weight of shape [96, 160] is missing");
  expect_error(load_error({.dropped = "output_norm.weight"}), Code::kCorrupt, "output_norm.weight");
  expect_error(load_error({.dropped = "token_embd.weight"}), Code::kCorrupt, "token_embd.weight");
}

TEST(LlamaErrors, EveryWrongShapeIsNamed) {
  const TinyLlama tiny;
  for (const auto& tensor : tiny.tensors()) {
    if (tensor.name == "token_embd.weight") continue;  // its rows define the vocabulary
    const Error error = load_error({.reshaped = tensor.name});
    expect_error(error, Code::kCorrupt, "tensor " + tensor.name + " has shape");
    expect_error(error, Code::kCorrupt, "the configuration needs");
  }
  expect_error(load_error({.reshaped = "token_embd.weight"}), Code::kCorrupt,
               "tensor output.weight has shape [96, 331], the configuration needs [96, 332]");
}

TEST(LlamaErrors, AnUnknownTensorIsRefused) {
  const TinyLlama tiny{.extra = {{"blk.0.attn_q.bias", {120}, TensorType::kF32, 1.0f}}};
  expect_error(load_error(tiny), Code::kUnsupported, "blk.0.attn_q.bias");
}

TEST(LlamaErrors, ConfigurationsThatDoNotAddUp) {
  expect_error(load_error({.heads = 5}), Code::kCorrupt, "head_count");
  expect_error(load_error({.rope_dims = 22}), Code::kUnsupported, "rope.dimension_count");
  expect_error(load_error({.rope_dims = 7}), Code::kUnsupported, "rope.dimension_count");
  expect_error(load_error({.context = 0}), Code::kUnsupported, "context_length");
  expect_error(load_error({.architecture = "gpt2"}), Code::kUnsupported, "'gpt2'");
}

TEST(LlamaErrors, OptionsHaveBounds) {
  expect_error(load_error({}, {.threads = 0}), Code::kInvalid, "threads");
  expect_error(load_error({}, {.threads = 1000}), Code::kInvalid, "threads");
  expect_error(load_error({}, {.max_batch_tokens = 0}), Code::kInvalid, "max_batch_tokens");
}

class LlamaRowErrors : public ::testing::Test {
 protected:
  LlamaRowErrors()
      : model_(TinyLlama{}.load({.max_batch_tokens = 64})), cache_(4, model_->config()) {}

  Error run(std::vector<ForwardRow> rows, std::ptrdiff_t extra_logits = 0) {
    const std::size_t size = logits_row_count(rows) * model_->config().vocabulary;
    std::vector<float> logits(size + static_cast<std::size_t>(extra_logits));
    const Status status = model_->forward(rows, cache_, logits, never_);
    EXPECT_FALSE(status.ok());
    return status.ok() ? Error{} : status.error();
  }

  std::unique_ptr<LlamaModel> model_;
  KvCache cache_;
  const std::vector<TokenId> tokens_ = random_tokens(1, 65, 331);
  const std::vector<BlockId> blocks_ = block_range(0, 4);
  const std::atomic<bool> never_{false};
};

TEST_F(LlamaRowErrors, TokensOutsideOfTheVocabulary) {
  for (const std::int32_t id : {-1, 331, std::numeric_limits<std::int32_t>::min()}) {
    const std::vector<TokenId> bad{TokenId(330), TokenId(id)};
    expect_error(run({{bad, 0, blocks_, true}}), Code::kInvalid, std::to_string(id));
  }
}

TEST_F(LlamaRowErrors, TooManyTokensOrNone) {
  expect_error(run({{tokens_, 0, blocks_, true}}), Code::kTooLarge, "65 tokens, the limit is 64");
  expect_error(run({{{}, 0, blocks_, true}}), Code::kInvalid, "row 0: has no tokens");
}

TEST_F(LlamaRowErrors, PositionsBeyondTheContextOrTheTable) {
  const std::span one(tokens_.data(), 1);
  const std::vector<BlockId> long_table(6, BlockId(0));
  expect_error(run({{one, 640, long_table, true}}), Code::kTooLarge, "context is 640");
  expect_error(run({{one, 0xffffffff, long_table, true}}), Code::kTooLarge, "context is 640");
  expect_error(run({{one, 0, {}, true}}), Code::kInvalid, "needs 1 blocks, its table has 0");
  expect_error(run({{one, 128, std::span(blocks_).first(1), true}}), Code::kInvalid,
               "needs 2 blocks, its table has 1");
}

TEST_F(LlamaRowErrors, BlocksOutsideOfThePool) {
  const std::vector<BlockId> bad{BlockId(0), BlockId(4)};
  const std::span one(tokens_.data(), 1);
  expect_error(run({{one, 130, bad, true}}), Code::kInvalid, "names block 4 of 4");
}

TEST_F(LlamaRowErrors, TwoRowsThatWriteTheSameSlot) {
  const std::span three(tokens_.data(), 3);
  const ForwardRow first{three, 10, blocks_, true};
  expect_error(run({first, {three, 12, blocks_, true}}), Code::kInvalid, "same KV slots");
  const ForwardRow next{three, 13, blocks_, true};  // the same sequence goes on: no overlap
  std::vector<float> logits(2 * 331);
  const std::vector<ForwardRow> rows{first, next};
  EXPECT_TRUE(model_->forward(rows, cache_, logits, never_).ok());
}

TEST_F(LlamaRowErrors, WrongRoomForLogits) {
  const std::span one(tokens_.data(), 1);
  expect_error(run({{one, 0, blocks_, true}}, 1), Code::kInvalid, "room for 332 logits");
}

TEST_F(LlamaRowErrors, ACacheOfAnotherShape) {
  ModelConfig other = model_->config();
  other.kv_heads = 3;
  KvCache cache(4, other);
  const ForwardRow row{std::span(tokens_.data(), 1), 0, blocks_, false};
  const Status status = model_->forward({&row, 1}, cache, {}, never_);
  ASSERT_FALSE(status.ok());
  expect_error(status.error(), Code::kInvalid, "another shape");
}

}  // namespace
}  // namespace troupe::test
