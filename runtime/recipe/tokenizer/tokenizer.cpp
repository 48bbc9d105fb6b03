#include "runtime/recipe/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/normal_form.hpp"

namespace troupe {
namespace {

/// Calls on_token(id) and on_text(text) for what a text consists of, in order.
template <class OnToken, class OnText>
void split_at(const SpellingSet& spellings, std::string_view text, const OnToken& on_token,
              const OnText& on_text) {
  std::size_t start = 0;
  while (const auto found = spellings.find_next(text, start)) {
    if (found->begin > start) on_text(text.substr(start, found->begin - start));
    on_token(found->id);
    start = found->end;
  }
  if (start < text.size()) on_text(text.substr(start));
}

bool is_added_kind(TokenKind kind) {
  return kind == TokenKind::kControl || kind == TokenKind::kAdded ||
         kind == TokenKind::kUserDefined;
}

}  // namespace

Tokenizer::Tokenizer(Contents contents)
    : pieces_(std::move(contents.pieces)),
      kinds_(std::move(contents.kinds)),
      nfc_(contents.nfc),
      bos_(contents.bos),
      eos_(contents.eos),
      ends_(std::move(contents.ends)),
      add_bos_(contents.add_bos) {
  TROUPE_ASSERT(pieces_.size() == kinds_.size(), "each id has bytes and a kind");
  std::vector<bool> is_late(pieces_.size(), false);
  for (const TokenId id : contents.match_late) is_late[static_cast<std::size_t>(id.value)] = true;
  std::vector<SpellingSet::Spelling> added;
  std::vector<SpellingSet::Spelling> early;
  std::vector<SpellingSet::Spelling> late;
  std::vector<SpellingSet::Spelling> user_defined;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!is_added_kind(kinds_[i])) continue;
    const SpellingSet::Spelling spelling{pieces_[i], TokenId(static_cast<std::int32_t>(i))};
    added.push_back(spelling);
    if (kinds_[i] == TokenKind::kUserDefined) user_defined.push_back(spelling);
    if (!is_late[i]) early.push_back(spelling);
    if (is_late[i]) {
      const auto normal = nfc_ ? to_nfc(spelling.text) : std::nullopt;
      late.push_back(normal ? SpellingSet::Spelling{*normal, spelling.id} : spelling);
    }
  }
  added_ = SpellingSet(std::move(added));
  early_ = SpellingSet(std::move(early));
  late_ = SpellingSet(std::move(late));
  user_defined_ = SpellingSet(std::move(user_defined));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool parse_special) const {
  std::vector<TokenId> ids;
  split_at(
      parse_special ? early_ : user_defined_, text, [&](TokenId id) { ids.push_back(id); },
      [&](std::string_view rest) {
        if (parse_special) {
          encode_late(rest, ids);
        } else {
          encode_plain(rest, ids);
        }
      });
  return ids;
}

void Tokenizer::encode_late(std::string_view text, std::vector<TokenId>& ids) const {
  const auto normal = nfc_ ? to_nfc(text) : std::nullopt;
  split_at(
      late_, normal ? *normal : text, [&](TokenId id) { ids.push_back(id); },
      [&](std::string_view rest) { encode_text(rest, ids); });
}

void Tokenizer::encode_plain(std::string_view text, std::vector<TokenId>& ids) const {
  const auto normal = nfc_ ? to_nfc(text) : std::nullopt;
  const std::string_view shown = normal ? *normal : text;
  if (!shown.empty()) encode_text(shown, ids);
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
  if (id.value < 0 || static_cast<std::size_t>(id.value) >= kinds_.size()) return true;
  const TokenKind kind = kinds_[static_cast<std::size_t>(id.value)];
  return kind == TokenKind::kControl || kind == TokenKind::kUnused;
}

bool Tokenizer::is_added(TokenId id) const {
  if (id.value < 0 || static_cast<std::size_t>(id.value) >= kinds_.size()) return false;
  return is_added_kind(kinds_[static_cast<std::size_t>(id.value)]);
}

std::optional<TokenId> Tokenizer::added_token(std::string_view spelling) const {
  return added_.find(spelling);
}

}  // namespace troupe
