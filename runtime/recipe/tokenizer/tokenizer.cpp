#include "runtime/recipe/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {

Tokenizer::Tokenizer(Contents contents)
    : pieces_(std::move(contents.pieces)),
      control_(std::move(contents.control)),
      added_(std::move(contents.added)),
      bos_(contents.bos),
      eos_(contents.eos),
      ends_(std::move(contents.ends)),
      add_bos_(contents.add_bos) {
  TROUPE_ASSERT(pieces_.size() == control_.size(), "each id has bytes and a kind");
  std::erase_if(added_, [](const Added& token) { return token.spelling.empty(); });
  std::stable_sort(added_.begin(), added_.end(),
                   [](const Added& a, const Added& b) { return a.spelling < b.spelling; });
  for (const Added& token : added_) {
    starts_added_[static_cast<unsigned char>(token.spelling[0])] = true;
  }
}

/// The longest added token that text starts with, or null. Narrows the range of spellings that
/// agree with the text, one byte at a time.
const Tokenizer::Added* Tokenizer::added_at(std::string_view text, bool with_control) const {
  const Added* found = nullptr;
  auto low = added_.begin();
  auto high = added_.end();
  for (std::size_t length = 1; length <= text.size() && low != high; ++length) {
    const auto byte = static_cast<unsigned char>(text[length - 1]);
    const auto at = [length](const Added& token) {
      const std::string& spelling = token.spelling;
      return spelling.size() < length ? -1 : static_cast<unsigned char>(spelling[length - 1]);
    };
    low = std::partition_point(low, high, [&](const Added& token) { return at(token) < byte; });
    high = std::partition_point(low, high, [&](const Added& token) { return at(token) <= byte; });
    if (low == high || low->spelling.size() != length) continue;
    if (with_control || !low->control) found = &*low;
  }
  return found;
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool parse_special) const {
  std::vector<TokenId> ids;
  std::size_t start = 0;  // of the text not yet encoded
  for (std::size_t at = 0; at < text.size();) {
    const Added* token = starts_added_[static_cast<unsigned char>(text[at])]
                             ? added_at(text.substr(at), parse_special)
                             : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    if (at > start) encode_text(text.substr(start, at - start), ids);
    ids.push_back(token->id);
    at += token->spelling.size();
    start = at;
  }
  if (start < text.size()) encode_text(text.substr(start), ids);
  return ids;
}

Result<std::vector<TokenId>> Tokenizer::encode(std::span<const PromptSegment> segments) const {
  std::vector<TokenId> ids;
  std::string text;
  const auto flush = [&] {
    const auto more = encode(text);
    ids.insert(ids.end(), more.begin(), more.end());
    text.clear();
  };
  for (const PromptSegment& segment : segments) {
    if (!segment.control) {
      text += segment.text;
      continue;
    }
    flush();
    const auto id = added_token(segment.text);
    if (!id) {
      return Error{Code::kInvalid, "the vocabulary has no token \"" + excerpt(segment.text, 64) +
                                       "\", which the prompt encoding needs"};
    }
    ids.push_back(*id);
  }
  flush();
  return ids;
}

std::string_view Tokenizer::bytes_of(TokenId id) const {
  if (id.value < 0 || static_cast<std::size_t>(id.value) >= pieces_.size()) return {};
  return pieces_[static_cast<std::size_t>(id.value)];
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool with_control) const {
  std::string text;
  for (const TokenId id : ids) {
    if (with_control || !is_control(id)) text += bytes_of(id);
  }
  return text;
}

bool Tokenizer::is_control(TokenId id) const {
  if (id.value < 0 || static_cast<std::size_t>(id.value) >= control_.size()) return true;
  return control_[static_cast<std::size_t>(id.value)];
}

std::optional<TokenId> Tokenizer::added_token(std::string_view spelling) const {
  const auto found = std::lower_bound(
      added_.begin(), added_.end(), spelling,
      [](const Added& token, std::string_view wanted) { return token.spelling < wanted; });
  if (found == added_.end() || found->spelling != spelling) return std::nullopt;
  return found->id;
}

}  // namespace troupe
