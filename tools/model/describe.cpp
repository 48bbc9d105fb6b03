#include "tools/model/describe.hpp"

#include <iomanip>
#include <map>

#include "runtime/model/gguf.hpp"
#include "runtime/recipe/encoding/encoding.hpp"
#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"
#include "tools/model/catalogue.hpp"
#include "tools/model/checksum.hpp"

namespace troupe {
namespace {

/// Text from the file, fit for a terminal.
std::string shown(const Result<std::string_view>& text) {
  return text.ok() ? excerpt(*text, 100) : "-";
}

std::string shown(const Result<std::uint64_t>& number) {
  return number.ok() ? std::to_string(*number) : "-";
}

void line(std::ostream& out, const char* name, const std::string& value) {
  out << std::left << std::setw(14) << name << value << "\n";
}

void describe_tensors(const GgufFile& file, std::ostream& out) {
  std::map<std::string_view, std::uint64_t> counts;
  std::uint64_t parameters = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    ++counts[to_string(tensor.type)];
    parameters += tensor.elements();
  }
  std::string types;
  for (const auto& [type, count] : counts) {
    types.append(types.empty() ? "" : ", ").append(std::to_string(count)).append(" ").append(type);
  }
  line(out, "parameters", std::to_string(parameters));
  line(out, "tensors", types.empty() ? "-" : types);
}

void describe_tokenizer(const GgufFile& file, std::ostream& out) {
  const auto tokens = file.string_array("tokenizer.ggml.tokens");
  const auto split = file.string_value("tokenizer.ggml.pre");
  std::string text = shown(file.string_value("tokenizer.ggml.model")) + ", pre-tokenizer " +
                     shown(split) + ", " + (tokens.ok() ? std::to_string(tokens->size()) : "-") +
                     " tokens";
  if (split.ok() && !find_pre_tokenizer(*split).ok()) text += " (NOT SUPPORTED)";
  line(out, "tokenizer", text);
  const auto chat = file.string_value("tokenizer.chat_template");
  std::string encoding = "-";
  if (chat.ok()) {
    const auto name = recipe::recognize_encoding(*chat);
    encoding = name.ok() ? std::string(*name) : "not recognized";
  }
  line(out, "chat", encoding);
}

Status describe_tokenizer_file(const std::string& path, std::ostream& out) {
  TROUPE_TRY_ASSIGN(const auto tokenizer, load_tokenizer_file(path));
  TROUPE_TRY_ASSIGN(const std::string hash, sha256_of_file(path));
  std::size_t added = 0;
  for (std::size_t id = 0; id < tokenizer->size(); ++id) {
    added += tokenizer->is_added(TokenId(static_cast<std::int32_t>(id)));
  }
  const auto spelled = [&](std::optional<TokenId> id) {
    if (!id) return std::string("-");
    return std::to_string(id->value) + " " + excerpt(tokenizer->bytes_of(*id), 100);
  };
  line(out, "file", path);
  line(out, "kind", "tokenizer, without a model");
  line(out, "sha256", hash);
  line(out, "tokens", std::to_string(tokenizer->size()) + ", " + std::to_string(added) + " added");
  line(out, "begin", spelled(tokenizer->bos()));
  line(out, "end", spelled(tokenizer->eos()));
  for (const KnownModel& model : known_models()) {
    if (model.sha256 != hash) continue;
    line(out, "known as", std::string(model.name) + ", " + std::string(model.licence));
    if (!model.note.empty()) line(out, "note", std::string(model.note));
  }
  return ok_status();
}

}  // namespace

Status describe_model(const std::string& path, std::ostream& out) {
  if (path.ends_with(".json")) return describe_tokenizer_file(path, out);
  TROUPE_TRY_ASSIGN(const auto file, GgufFile::open(path));
  const auto architecture = file->string_value("general.architecture");
  const std::string prefix = architecture.ok() ? std::string(*architecture) + "." : "";
  line(out, "file", path);
  line(out, "bytes", std::to_string(file->size_bytes()));
  line(out, "name", shown(file->string_value("general.name")));
  line(out, "licence", shown(file->string_value("general.license")));
  line(out, "architecture", shown(architecture));
  line(out, "layers", shown(file->unsigned_value(prefix + "block_count")));
  line(out, "width", shown(file->unsigned_value(prefix + "embedding_length")));
  line(out, "context", shown(file->unsigned_value(prefix + "context_length")));
  describe_tensors(*file, out);
  describe_tokenizer(*file, out);
  return ok_status();
}

}  // namespace troupe
