#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

constexpr TokenId kNoToken = WordTable::kNone;

/// GPT-2's alphabet: printable Latin-1 bytes stand for themselves, the others, in order, are the
/// characters from U+0100 on.
std::array<char32_t, 256> byte_alphabet() {
  std::array<char32_t, 256> letters{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    letters[byte] = printable ? byte : next++;
  }
  return letters;
}

/// The bytes that a token in the alphabet stands for; a token with other characters is itself.
std::string bytes_of_spelling(std::string_view spelling) {
  static const auto bytes_by_letter = [] {
    std::array<int, 0x200> table{};
    table.fill(-1);
    const auto letters = byte_alphabet();
    for (int byte = 0; byte < 256; ++byte) table[letters[static_cast<unsigned>(byte)]] = byte;
    return table;
  }();
  std::string bytes;
  for (std::string_view rest = spelling; !rest.empty();) {
    const Utf8Char letter = first_char(rest);
    const bool known = letter.state == Utf8State::kValid && letter.code < bytes_by_letter.size() &&
                       bytes_by_letter[letter.code] >= 0;
    if (!known) return std::string(spelling);
    bytes += static_cast<char>(bytes_by_letter[letter.code]);
    rest.remove_prefix(letter.bytes);
  }
  return bytes;
}

bool in_range(std::optional<TokenId> id, std::size_t size) {
  return !id || (id->value >= 0 && static_cast<std::size_t>(id->value) < size);
}

/// Words that are a token by themselves are rarely longer; those that are can do with merging.
constexpr std::size_t kWholeWordBytesMax = 256;

Status check_shape(const Vocabulary& vocabulary) {
  const std::size_t size = vocabulary.tokens.size();
  if (size == 0 || vocabulary.kinds.size() != size) {
    return Error{Code::kCorrupt, "the vocabulary has " + std::to_string(size) + " tokens and " +
                                     std::to_string(vocabulary.kinds.size()) + " token types"};
  }
  if (size > 1u << 30 || vocabulary.merges.size() > 1u << 30) {
    return Error{Code::kTooLarge, "the vocabulary has more than 2^30 tokens or merges"};
  }
  bool fits = in_range(vocabulary.bos, size) && in_range(vocabulary.eos, size);
  for (const TokenId id : vocabulary.ends) fits = fits && in_range(id, size);
  for (const TokenId id : vocabulary.match_late) fits = fits && in_range(id, size);
  if (!fits) return Error{Code::kCorrupt, "a bos, eos, end or late token is not in the vocabulary"};
  return ok_status();
}

}  // namespace

Status BpeTokenizer::add_merges(const Vocabulary& vocabulary, Parts& parts) {
  WordTable ids(vocabulary.tokens.size());  // by spelling
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const TokenKind kind = vocabulary.kinds[i];
    const bool text = kind == TokenKind::kNormal || kind == TokenKind::kUserDefined;
    if (!text || vocabulary.tokens[i].empty()) continue;
    ids.add(vocabulary.tokens[i], TokenId(static_cast<std::int32_t>(i)));
  }
  const auto id_of = [&](std::string_view spelling) {
    return spelling.empty() ? kNoToken : ids.find(spelling);
  };
  const auto letters = byte_alphabet();
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, letters[byte]);
    parts.byte_tokens[byte] = id_of(letter);
  }
  parts.merges.reserve(vocabulary.merges.size());
  std::string joined;
  for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) {
    const std::string_view merge = vocabulary.merges[i];
    const std::size_t space = std::min(merge.find(' ', 1), merge.size());
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(std::min(space + 1, merge.size()));
    joined.assign(left).append(right);
    const BpeMerges::Merge ranked{id_of(left), id_of(right), id_of(joined)};
    if (ranked.left == kNoToken || ranked.right == kNoToken || ranked.joined == kNoToken) {
      return Error{Code::kCorrupt, "merge " + std::to_string(i) + " (\"" + excerpt(merge, 64) +
                                       "\") names tokens that the vocabulary does not have"};
    }
    parts.merges.push_back(ranked);
  }
  return ok_status();
}

Result<std::shared_ptr<const Tokenizer>> BpeTokenizer::build(const Vocabulary& vocabulary) {
  TROUPE_TRY(check_shape(vocabulary));
  Parts parts;
  TROUPE_TRY_ASSIGN(parts.split, find_pre_tokenizer(vocabulary.pre_tokenizer));
  if (vocabulary.whole_words) parts.split.whole_words = *vocabulary.whole_words;
  Contents contents{.match_late = vocabulary.match_late,
                    .nfc = vocabulary.nfc,
                    .bos = vocabulary.bos,
                    .eos = vocabulary.eos,
                    .ends = vocabulary.ends,
                    .add_bos = vocabulary.add_bos && vocabulary.bos.has_value()};
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const bool normal = vocabulary.kinds[i] == TokenKind::kNormal;
    const std::string& spelling = vocabulary.tokens[i];
    contents.pieces.push_back(normal ? bytes_of_spelling(spelling) : spelling);
  }
  contents.kinds = vocabulary.kinds;
  TROUPE_TRY(add_merges(vocabulary, parts));
  const std::shared_ptr<BpeTokenizer> tokenizer(
      new BpeTokenizer(std::move(contents), std::move(parts)));
  tokenizer->find_whole_words(vocabulary);
  return std::shared_ptr<const Tokenizer>(tokenizer);
}

BpeTokenizer::BpeTokenizer(Contents contents, Parts parts)
    : Tokenizer(std::move(contents)),
      split_(parts.split),
      merges_(parts.merges),
      byte_tokens_(parts.byte_tokens) {}

/// Those that merging makes one token of; if the family takes whole words, every one.
void BpeTokenizer::find_whole_words(const Vocabulary& vocabulary) {
  words_ = WordTable(vocabulary.tokens.size());
  std::vector<TokenId> symbols;
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    if (vocabulary.kinds[i] != TokenKind::kNormal) continue;
    const TokenId id(static_cast<std::int32_t>(i));
    const std::string_view word = bytes_of(id);
    if (word.empty()) continue;
    if (!split_.whole_words) {
      if (word.size() > kWholeWordBytesMax) continue;
      merge_word(word, symbols);
      if (symbols.size() != 1 || symbols[0] != id) continue;
    }
    words_.add(word, id);
  }
}

/// The tokens of a word, in the place of what `symbols` held.
void BpeTokenizer::merge_word(std::string_view word, std::vector<TokenId>& symbols) const {
  symbols.clear();
  for (const char c : word) {
    const TokenId id = byte_tokens_[static_cast<unsigned char>(c)];
    if (id != kNoToken) symbols.push_back(id);
  }
  merges_.apply(symbols);
}

void BpeTokenizer::encode_text(std::string_view text, std::vector<TokenId>& ids) const {
  std::vector<TokenId> symbols;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, split_.first_word(text));
    text.remove_prefix(word.size());
    if (const TokenId whole = words_.find(word); whole != WordTable::kNone) {
      ids.push_back(whole);
      continue;
    }
    merge_word(word, symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }
}

std::size_t BpeTokenizer::cut_after(std::string_view text, std::size_t from) const {
  return next_cut(text, from, split_.may_cut, is_normalized());
}

}  // namespace troupe
