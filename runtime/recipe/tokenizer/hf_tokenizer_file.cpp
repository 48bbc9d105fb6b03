#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "runtime/recipe/tokenizer/hf_pre_tokenizer.hpp"

namespace troupe {
namespace {

using rapidjson::Value;

constexpr std::uintmax_t kFileBytesMax = 256u << 20;
constexpr std::uint64_t kHolesMax = 4096;

/// Spellings of the families that we read: what begins a text, and what ends a turn, the main one
/// of a family first.
constexpr std::array<std::string_view, 2> kBegins = {"<｜begin▁of▁sentence｜>",
                                                     "<|begin_of_text|>"};
constexpr std::array<std::string_view, 6> kEnds = {
    "<｜end▁of▁sentence｜>", "<|im_end|>",     "<|eot_id|>", "<|eom_id|>",
    "<|endoftext|>",         "<|end_of_text|>"};

Error corrupt(const std::string& why) {
  return {Code::kCorrupt, why};
}

Error unsupported(const std::string& why) {
  return {Code::kUnsupported, why};
}

std::string_view text_of(const Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

/// The member, or a null.
const Value& member(const Value& object, const char* name) {
  static const Value kNull;
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? kNull : found->value;
}

/// Anything but absent, null, false and the empty text.
bool is_set(const Value& value) {
  return !value.IsNull() && !value.IsFalse() && !(value.IsString() && text_of(value).empty());
}

class Reader {
 public:
  explicit Reader(const Value& root) : root_(root) {}

  Result<Vocabulary> read() {
    const Value& model = member(root_, "model");
    if (!model.IsObject()) return corrupt("it has no object \"model\"");
    TROUPE_TRY(check_model(model));
    TROUPE_TRY_ASSIGN(out_.pre_tokenizer, recognize_pre_tokenizer(member(root_, "pre_tokenizer")));
    TROUPE_TRY(read_normalizer());
    TROUPE_TRY(make_room(model));
    TROUPE_TRY(read_vocab(member(model, "vocab")));
    TROUPE_TRY(read_added());
    TROUPE_TRY(read_merges(member(model, "merges")));
    out_.whole_words = member(model, "ignore_merges").IsTrue();
    find_begin_and_ends();
    return std::move(out_);
  }

 private:
  static Status check_model(const Value& model) {
    const Value& type = member(model, "type");
    if (!type.IsString() || text_of(type) != "BPE") {
      return unsupported("its model is " +
                         (type.IsString() ? excerpt(text_of(type), 64) : "of no type") +
                         "; only BPE is read");
    }
    for (const auto* option :
         {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
      if (is_set(member(model, option))) {
        return unsupported(std::string("its model sets ") + option);
      }
    }
    return ok_status();
  }

  Status read_normalizer() {
    const Value* step = &member(root_, "normalizer");
    if (step->IsObject() && member(*step, "normalizers").IsArray()) {
      const Value& steps = member(*step, "normalizers");
      if (steps.Empty()) return ok_status();
      if (steps.Size() > 1) return unsupported("it has more than one normalizer");
      step = &steps[0];
    }
    if (step->IsNull()) return ok_status();
    const Value& type = step->IsObject() ? member(*step, "type") : *step;
    out_.nfc = type.IsString() && text_of(type) == "NFC";
    if (out_.nfc) return ok_status();
    return unsupported("its normalizer is " +
                       (type.IsString() ? excerpt(text_of(type), 64) : "of no type") +
                       "; only NFC is done");
  }

  /// One place an id, all of them unused at first.
  Status make_room(const Value& model) {
    const Value& vocab = member(model, "vocab");
    const Value& added = member(root_, "added_tokens");
    if (!vocab.IsObject()) return corrupt("its model has no object \"vocab\"");
    if (!added.IsNull() && !added.IsArray()) return corrupt("its added_tokens are no array");
    std::uint64_t count = vocab.MemberCount();
    if (added.IsArray()) count += added.Size();
    ids_end_ = 2 * count + kHolesMax;
    std::uint64_t size = 0;
    const auto look_at = [&](const Value& id) {
      if (id.IsUint() && id.GetUint() < ids_end_) size = std::max(size, id.GetUint() + 1ul);
    };
    for (const auto& token : vocab.GetObject()) look_at(token.value);
    for (Value::ConstValueIterator at = added_begin(); at != added_end(); ++at) {
      if (at->IsObject()) look_at(member(*at, "id"));
    }
    out_.tokens.resize(size);
    out_.kinds.assign(size, TokenKind::kUnused);
    return ok_status();
  }

  Value::ConstValueIterator added_begin() const {
    const Value& added = member(root_, "added_tokens");
    return added.IsArray() ? added.Begin() : nullptr;
  }
  Value::ConstValueIterator added_end() const {
    const Value& added = member(root_, "added_tokens");
    return added.IsArray() ? added.End() : nullptr;
  }

  Result<std::size_t> checked_id(std::string_view token, const Value& id) const {
    if (id.IsUint() && id.GetUint() < ids_end_) return std::size_t{id.GetUint()};
    return corrupt("the token \"" + excerpt(token, 64) + "\" has no id, or one above " +
                   std::to_string(ids_end_ - 1));
  }

  Status read_vocab(const Value& vocab) {
    for (const auto& entry : vocab.GetObject()) {
      const std::string_view token = text_of(entry.name);
      TROUPE_TRY_ASSIGN(const std::size_t id, checked_id(token, entry.value));
      if (out_.kinds[id] != TokenKind::kUnused) return taken(id, token);
      out_.tokens[id] = token;
      out_.kinds[id] = TokenKind::kNormal;
    }
    return ok_status();
  }

  Error taken(std::size_t id, std::string_view token) const {
    return corrupt("the id " + std::to_string(id) + " is that of \"" +
                   excerpt(out_.tokens[id], 64) + "\" and of \"" + excerpt(token, 64) + "\"");
  }

  Status read_added() {
    for (Value::ConstValueIterator at = added_begin(); at != added_end(); ++at) {
      if (!at->IsObject() || !member(*at, "content").IsString()) {
        return corrupt("an added token is no object with a content");
      }
      const std::string_view token = text_of(member(*at, "content"));
      TROUPE_TRY_ASSIGN(const std::size_t id, checked_id(token, member(*at, "id")));
      for (const auto* option : {"single_word", "lstrip", "rstrip"}) {
        if (!is_set(member(*at, option))) continue;
        return unsupported("the added token \"" + excerpt(token, 64) + "\" sets " + option);
      }
      const bool is_free = out_.kinds[id] == TokenKind::kUnused;
      const bool same = out_.kinds[id] == TokenKind::kNormal && out_.tokens[id] == token;
      if (!is_free && !same) return taken(id, token);
      out_.tokens[id] = token;
      out_.kinds[id] = member(*at, "special").IsTrue() ? TokenKind::kControl : TokenKind::kAdded;
      if (is_set(member(*at, "normalized")))
        out_.match_late.push_back(TokenId(static_cast<std::int32_t>(id)));
    }
    return ok_status();
  }

  /// Each is "left right", or in newer files ["left", "right"].
  Status read_merges(const Value& merges) {
    if (!merges.IsArray()) return corrupt("its model has no array \"merges\"");
    out_.merges.reserve(merges.Size());
    for (const Value& merge : merges.GetArray()) {
      if (merge.IsString()) {
        out_.merges.emplace_back(text_of(merge));
        continue;
      }
      const bool pair =
          merge.IsArray() && merge.Size() == 2 && merge[0].IsString() && merge[1].IsString();
      if (!pair || text_of(merge[0]).find(' ') != std::string_view::npos) {
        return corrupt("merge " + std::to_string(out_.merges.size()) + " is no pair of tokens");
      }
      std::string joined(text_of(merge[0]));
      out_.merges.push_back(joined.append(" ").append(text_of(merge[1])));
    }
    return ok_status();
  }

  std::optional<TokenId> added(std::string_view spelling) const {
    for (Value::ConstValueIterator at = added_begin(); at != added_end(); ++at) {
      if (text_of(member(*at, "content")) != spelling) continue;
      return TokenId(static_cast<std::int32_t>(member(*at, "id").GetUint()));
    }
    return std::nullopt;
  }

  void find_begin_and_ends() {
    for (const auto spelling : kBegins) {
      if (!out_.bos) out_.bos = added(spelling);
    }
    for (const auto spelling : kEnds) {
      if (const auto id = added(spelling)) out_.ends.push_back(*id);
    }
    if (!out_.ends.empty()) out_.eos = out_.ends.front();
    out_.add_bos =
        out_.bos && template_begins_with(out_.tokens[static_cast<std::size_t>(out_.bos->value)]);
  }

  /// Does a post-processor put this token before a text?
  bool template_begins_with(std::string_view token) const {
    const Value& processor = member(root_, "post_processor");
    if (!processor.IsObject()) return false;
    if (begins_with(processor, token)) return true;
    const Value& steps = member(processor, "processors");
    if (!steps.IsArray()) return false;
    for (const Value& step : steps.GetArray()) {
      if (step.IsObject() && begins_with(step, token)) return true;
    }
    return false;
  }

  static bool begins_with(const Value& processor, std::string_view token) {
    const Value& single = member(processor, "single");
    if (!single.IsArray() || single.Empty() || !single[0].IsObject()) return false;
    const Value& special = member(single[0], "SpecialToken");
    if (!special.IsObject() || !member(special, "id").IsString()) return false;
    return text_of(member(special, "id")) == token;
  }

  const Value& root_;
  std::uint64_t ids_end_ = 0;
  Vocabulary out_;
};

Result<std::string> read_file(const std::string& path) {
  std::error_code cause;
  if (!std::filesystem::is_regular_file(path, cause)) {
    return Error{Code::kNotFound, "there is no file " + path};
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, cause);
  if (cause || bytes > kFileBytesMax) {
    return Error{Code::kTooLarge, path + " has more than 256 MB; a tokenizer.json has about 10"};
  }
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in.read(text.data(), static_cast<std::streamsize>(bytes))) {
    return Error{Code::kIo, "cannot read " + path};
  }
  return text;
}

}  // namespace

Result<Vocabulary> read_hf_tokenizer(std::string_view json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      json.data(), json.size());
  if (document.HasParseError()) {
    return corrupt(std::string("it is no JSON: ") +
                   rapidjson::GetParseError_En(document.GetParseError()) + " At byte " +
                   std::to_string(document.GetErrorOffset()) + ".");
  }
  if (!document.IsObject()) return corrupt("it is JSON, but no object");
  return Reader(document).read();
}

Result<std::shared_ptr<const Tokenizer>> load_tokenizer_file(const std::string& path) {
  TROUPE_TRY_ASSIGN(const std::string json, read_file(path));
  const auto named = [&](const Error& error) {
    return Error{error.code, path + " cannot be used as a tokenizer: " + error.message};
  };
  const auto vocabulary = read_hf_tokenizer(json);
  if (!vocabulary.ok()) return named(vocabulary.error());
  auto tokenizer = BpeTokenizer::build(*vocabulary);
  if (!tokenizer.ok()) return named(tokenizer.error());
  return tokenizer;
}

}  // namespace troupe
