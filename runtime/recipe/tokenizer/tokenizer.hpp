// Text to token ids and back.
//
// Why one class for all: the recipe, the stream table and the engine need ids, bytes and "is this a
// control token", whichever vocabulary is behind. BpeTokenizer serves real models, ByteTokenizer
// the scripted engine of tests and simulations.
//
// Invariants:
//   1. encode_plain() never gives an id of the added vocabulary: the spelling of a control token
//      that a user types is ordinary text. encode() of text gives them only if parse_special is
//      true, except for user-defined tokens of GGUF files, which llama.cpp takes as text.
//   2. encode() of segments gives control tokens for control segments only: what a prompt encoder
//      (prompt_encoder.hpp) puts there, never what a message holds.
//   3. decode(encode(text)) == text, except for bytes that the vocabulary has no token for: they
//      are left out, as the models were trained (SmolLM2 lacks 21 bytes, most of them not UTF-8);
//      and but for the normal form C if the vocabulary wants it (Qwen).
//
// Threads: immutable after building; share it freely. Cost: O(n log n) in the bytes of the text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/recipe/tokenizer/spelling_set.hpp"
#include "runtime/recipe/tokenizer/vocabulary.hpp"

namespace troupe {

/// A part of a prompt: text, or the spelling of exactly one added token.
struct PromptSegment {
  std::string text;
  bool control = false;

  friend bool operator==(const PromptSegment&, const PromptSegment&) = default;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Never adds bos; see add_bos(). With parse_special the whole added vocabulary is looked for.
  std::vector<TokenId> encode(std::string_view text, bool parse_special = false) const;

  /// Appends the ids of text with the added vocabulary disabled.
  void encode_plain(std::string_view text, std::vector<TokenId>& ids) const;

  /// The first place at or after `from` where text may be cut: encode_plain() of the two parts
  /// gives what it gives of the whole. text.size() if there is none. Requires: from > 0.
  virtual std::size_t cut_after(std::string_view text, std::size_t from) const = 0;

  /// Neighbouring text segments are encoded as one text. kInvalid if a control segment spells no
  /// added token.
  Result<std::vector<TokenId>> encode(std::span<const PromptSegment> segments) const;

  /// The bytes of a token, for an added one its spelling; empty for an id out of range.
  std::string_view bytes_of(TokenId id) const;
  /// The bytes of a text; control tokens only if asked for.
  std::string decode(std::span<const TokenId> ids, bool with_control = false) const;

  /// Structure, not text. Also true for ids out of range, which no text may show.
  bool is_control(TokenId id) const;
  /// Of the added vocabulary: control, added and user-defined tokens.
  bool is_added(TokenId id) const;
  /// The id of an added token by its exact spelling.
  std::optional<TokenId> added_token(std::string_view spelling) const;

  std::size_t size() const { return pieces_.size(); }
  std::optional<TokenId> bos() const { return bos_; }
  std::optional<TokenId> eos() const { return eos_; }
  /// Tokens that end a turn; the engine stops after any of them.
  std::span<const TokenId> ends() const { return ends_; }
  /// Prompts of this model start with bos().
  bool add_bos() const { return add_bos_; }

 protected:
  struct Contents {
    std::vector<std::string> pieces;  ///< bytes of every id
    std::vector<TokenKind> kinds;     ///< same length
    std::vector<TokenId> match_late;  ///< see Vocabulary
    bool nfc = false;
    std::optional<TokenId> bos;
    std::optional<TokenId> eos;
    std::vector<TokenId> ends;
    bool add_bos = false;
  };
  explicit Tokenizer(Contents contents);

  bool is_normalized() const { return nfc_; }

  /// Appends the ids of text that holds no added token. Requires: !text.empty().
  virtual void encode_text(std::string_view text, std::vector<TokenId>& ids) const = 0;

 private:
  void encode_late(std::string_view text, std::vector<TokenId>& ids) const;

  std::vector<std::string> pieces_;
  std::vector<TokenKind> kinds_;
  SpellingSet added_;         // all of them
  SpellingSet early_;         // looked for in the text as it is
  SpellingSet late_;          // looked for in the normalized text between those
  SpellingSet user_defined_;  // looked for in any case
  bool nfc_;
  std::optional<TokenId> bos_;
  std::optional<TokenId> eos_;
  std::vector<TokenId> ends_;
  bool add_bos_;
};

}  // namespace troupe
