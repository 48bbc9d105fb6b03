#include "runtime/recipe/stream/token_text.hpp"

#include <algorithm>
#include <utility>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

bool is_whole(std::string_view text) {
  return is_ascii(text) || is_valid_utf8(text);
}

}  // namespace

TokenText::TokenText(std::shared_ptr<const Tokenizer> tokenizer, Compat compat)
    : tokenizer_(std::move(tokenizer)), compat_(compat) {
  if (!tokenizer_) return;
  think_end_ = tokenizer_->added_token(kThinkEnd).value_or(TokenId{-1});
  dsml_ = tokenizer_->added_token(kDsml).value_or(TokenId{-1});
}

Status TokenText::push(const TokensChunk& chunk, PieceSink& sink) {
  if (!tokenizer_) return Error{Code::kUnsupported, "token chunk received without a tokenizer"};
  if (!chunk.logprobs.empty() && chunk.logprobs.size() != chunk.ids.size()) {
    return Error{Code::kInvalid,
                 "invalid log probabilities: " + std::to_string(chunk.logprobs.size()) +
                     " log probabilities for " + std::to_string(chunk.ids.size()) + " token IDs"};
  }
  if (compat_ == Compat::kDeepseek) {
    push_run(chunk, sink);
  } else {
    push_each(chunk, sink);
  }
  return ok_status();
}

void TokenText::push(const TextChunk& chunk, PieceSink& sink) {
  const Piece like{.special = true, .is_text = true, .tokens = chunk.tokens};
  if (compat_ == Compat::kDefault) return push_bytes(chunk.text, like, false, sink);
  Piece piece = like;
  piece.text = chunk.text;
  sink.piece(piece);
}

void TokenText::finish(PieceSink& sink) {
  if (compat_ == Compat::kDefault && !waiting_.empty()) push_bytes({}, Piece{}, true, sink);
}

/// The log-probability of one token, as long as the piece that it comes with.
std::span<const LoggedToken> TokenText::log(const TokensChunk& chunk, std::size_t index) {
  if (chunk.logprobs.empty()) return {};
  logged_.clear();
  logged_.push_back({chunk.ids[index], chunk.logprobs[index]});
  return logged_;
}

void TokenText::push_run(const TokensChunk& chunk, PieceSink& sink) {
  if (chunk.ids.size() == 1 && waiting_tokens_ == 0) {  // the common case, without a copy
    const TokenId id = chunk.ids[0];
    const std::string_view text = tokenizer_->bytes_of(id);
    if (!text.empty() && !tokenizer_->is_added(id) && is_whole(text) &&
        !text.ends_with(kReplacement)) {
      sink.piece({.text = text, .tokens = 1, .logprobs = log(chunk, 0)});
      logged_.clear();
      return;
    }
  }
  for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
    const TokenId id = chunk.ids[i];
    if (!tokenizer_->is_added(id)) {
      add_to_run(chunk, i);
      continue;
    }
    flush_run(sink);
    if (!chunk.logprobs.empty()) logged_.push_back({id, chunk.logprobs[i]});
    sink.piece({.text = tokenizer_->bytes_of(id),
                .special = is_symbol(id),
                .tokens = waiting_tokens_ + 1,
                .logprobs = logged_});
    logged_.clear();
    waiting_tokens_ = 0;
  }
  if (waiting_tokens_ == 0) return;
  text_.clear();
  append_valid_utf8(text_, waiting_, true);
  if (!text_.empty() && !text_.ends_with(kReplacement)) flush_run(sink);
}

void TokenText::add_to_run(const TokensChunk& chunk, std::size_t index) {
  waiting_ += tokenizer_->bytes_of(chunk.ids[index]);
  ++waiting_tokens_;
  if (!chunk.logprobs.empty()) logged_.push_back({chunk.ids[index], chunk.logprobs[index]});
}

/// Tokens without any text stay, to be counted with what follows.
void TokenText::flush_run(PieceSink& sink) {
  if (waiting_.empty()) return;
  text_.clear();
  append_valid_utf8(text_, waiting_, true);
  sink.piece({.text = text_, .tokens = waiting_tokens_, .logprobs = logged_});
  waiting_.clear();
  logged_.clear();
  waiting_tokens_ = 0;
}

void TokenText::push_each(const TokensChunk& chunk, PieceSink& sink) {
  for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
    const TokenId id = chunk.ids[i];
    const std::string_view bytes = tokenizer_->bytes_of(id);
    if (is_symbol(id)) {
      if (!waiting_.empty()) push_bytes({}, Piece{}, true, sink);
      sink.piece({.text = bytes, .special = true, .tokens = 1, .logprobs = log(chunk, i)});
    } else if (tokenizer_->is_control(id)) {
      sink.piece({.tokens = 1});
    } else {
      push_bytes(bytes, {.tokens = 1, .logprobs = log(chunk, i)}, false, sink);
    }
  }
}

/// Sends what is complete of the waiting bytes and these. The last piece has the count.
void TokenText::push_bytes(std::string_view bytes, const Piece& like, bool at_end,
                           PieceSink& sink) {
  Piece piece = like;
  if (waiting_.empty() && is_whole(bytes)) {
    piece.text = bytes;
    return sink.piece(piece);
  }
  waiting_ += bytes;
  text_.clear();
  const std::size_t used = append_valid_utf8(text_, waiting_, at_end);
  waiting_.erase(0, used);
  piece.text = text_;
  sink.piece(piece);
}

}  // namespace troupe::recipe
