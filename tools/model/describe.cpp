#include "tools/model/describe.hpp"

#include <iomanip>
#include <map>

#include "runtime/model/gguf.hpp"
#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"
#include "runtime/recipe/prompt_encoder.hpp"
#include "runtime/recipe/text/utf8.hpp"

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
    const auto name = recognize_prompt_encoder(*chat);
    encoding = name.ok() ? std::string(*name) : "not recognized";
  }
  line(out, "chat", encoding);
}

}  // namespace

Status describe_model(const std::string& path, std::ostream& out) {
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
