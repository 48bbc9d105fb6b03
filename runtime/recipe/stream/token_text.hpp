// From chunks of an engine to pieces of text: tokens are bytes, not characters, so that a token
// may end inside a character.
//
// Compat::kDeepseek (recipe SPEC 5.1): the tokens of one push between added tokens are one piece;
// each added token is its own, by its spelling. If the decoded text ends in U+FFFD, everything
// since the last added token waits, good text too, and is neither shown nor counted if nothing
// follows. Pushed text does not end that wait.
//
// Compat::kDefault, each token on its own:
//   1. Only the bytes of an unfinished character wait, at most 3; the text before them does not.
//   2. Bytes that are no character become U+FFFD, one for each maximal subpart; at the end of the
//      stream also what still waits. Every token counts.
//   3. Control tokens other than the two symbols are no text. They and unknown ids come as empty
//      pieces, so that they are counted where they stood.
//
// Symbols are found by id: those that the tokenizer has for kThinkEnd and kDsml, if any.
//
// Threads: one owner. Ownership: keeps the tokenizer alive. Cost: no allocation for a token that
// ends where its characters end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/stream/piece.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe::recipe {

class TokenText {
 public:
  /// `tokenizer` may be null: then only texts can be pushed.
  TokenText(std::shared_ptr<const Tokenizer> tokenizer, Compat compat);

  TokenText(const TokenText&) = delete;
  TokenText& operator=(const TokenText&) = delete;

  /// kUnsupported without a tokenizer; kInvalid if the log-probabilities do not match the tokens.
  Status push(const TokensChunk& chunk, PieceSink& sink);
  void push(const TextChunk& chunk, PieceSink& sink);
  /// The end of the stream: what still waits, in kDefault.
  void finish(PieceSink& sink);

  const Tokenizer* tokenizer() const { return tokenizer_.get(); }

 private:
  void push_run(const TokensChunk& chunk, PieceSink& sink);
  void push_each(const TokensChunk& chunk, PieceSink& sink);
  void add_to_run(const TokensChunk& chunk, std::size_t index);
  void flush_run(PieceSink& sink);
  void push_bytes(std::string_view bytes, const Piece& like, bool at_end, PieceSink& sink);
  bool is_symbol(TokenId id) const { return id == think_end_ || id == dsml_; }
  std::span<const LoggedToken> log(const TokensChunk& chunk, std::size_t index);

  std::shared_ptr<const Tokenizer> tokenizer_;
  Compat compat_;
  TokenId think_end_{-1};
  TokenId dsml_{-1};
  std::string waiting_;              // bytes; kDefault: at most 3 of them between calls
  std::string text_;                 // scratch
  std::vector<LoggedToken> logged_;  // kDeepseek: of what waits; kDefault: scratch
  std::uint64_t waiting_tokens_ = 0;
};

}  // namespace troupe::recipe
