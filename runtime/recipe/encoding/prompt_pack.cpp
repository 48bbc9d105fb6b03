#include "runtime/recipe/encoding/prompt_pack.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/base/assert.hpp"

namespace troupe::recipe {
namespace {

using Json = rapidjson::Value;

std::string_view string_of(const Json& value) {
  return {value.GetString(), value.GetStringLength()};
}

/// Reads the members of one version's object and keeps the first thing wrong.
class PackReader {
 public:
  PackReader(const Json& object, std::string_view version) : object_(object), version_(version) {}

  PackText text(const char* name) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    if (!value->IsObject() || !value->HasMember("text") || !(*value)["text"].IsString()) {
      fail(name, "must be an object with a string \"text\"");
      return {};
    }
    PackText result{std::string(string_of((*value)["text"])), {}};
    const auto ranges = value->FindMember("special_byte_ranges");
    if (ranges == value->MemberEnd() || !read_ranges(ranges->value, result)) {
      fail(name, "needs \"special_byte_ranges\": ascending, disjoint pairs inside the text");
    }
    return result;
  }

  std::string string(const char* name) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    if (value->IsString()) return std::string(string_of(*value));
    fail(name, "must be a string");
    return {};
  }

  std::pair<std::string, std::string> pair(const char* name) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    if (value->IsArray() && value->Size() == 2 && (*value)[0].IsString() && (*value)[1].IsString())
      return {std::string(string_of((*value)[0])), std::string(string_of((*value)[1]))};
    fail(name, "must be an array of two strings");
    return {};
  }

  ToolDefinition tool(const char* name) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    ToolDefinition result;
    const auto field = [&](const char* key) -> const Json* {
      if (!value->IsObject()) return nullptr;
      const auto found = value->FindMember(key);
      return found == value->MemberEnd() ? nullptr : &found->value;
    };
    const Json* tool_name = field("name");
    const Json* description = field("description");
    const Json* parameters = field("parameters");
    if (tool_name == nullptr || !tool_name->IsString() || description == nullptr ||
        !description->IsString() || parameters == nullptr || !parameters->IsObject()) {
      fail(name, "must be a tool: string \"name\" and \"description\", object \"parameters\"");
      return {};
    }
    rapidjson::StringBuffer buffer;
    rapidjson::Writer writer(buffer);
    parameters->Accept(writer);
    result.name = string_of(*tool_name);
    result.description = string_of(*description);
    result.parameters.assign(buffer.GetString(), buffer.GetSize());
    return result;
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  const Json* member(const char* name) {
    const auto found = object_.FindMember(name);
    if (found != object_.MemberEnd()) return &found->value;
    fail(name, "is missing");
    return nullptr;
  }

  void fail(const char* name, const char* what) {
    if (error_) return;
    error_ = Error{Code::kCorrupt, "prompt pack: \"" + std::string(version_) + "." + name + "\" " +
                                       what + "; derive it anew with 'troupe model pull'"};
  }

  static bool read_ranges(const Json& ranges, PackText& result) {
    if (!ranges.IsArray()) return false;
    std::size_t from = 0;
    for (const Json& range : ranges.GetArray()) {
      if (!range.IsArray() || range.Size() != 2 || !range[0].IsUint64() || !range[1].IsUint64())
        return false;
      const ByteRange bytes{range[0].GetUint64(), range[1].GetUint64()};
      if (bytes.begin < from || bytes.end <= bytes.begin || bytes.end > result.text.size())
        return false;
      result.specials.push_back(bytes);
      from = bytes.end;
    }
    return true;
  }

  const Json& object_;
  std::string_view version_;
  std::optional<Error> error_;
};

Result<PromptPack> read_pack(const Json& object, ModelVersion version, std::string_view key) {
  PackReader reader(object, key);
  PromptPack pack;
  pack.effort_low = reader.text("effort_low");
  pack.effort_high = reader.text("effort_high");
  pack.effort_max = reader.text("effort_max");
  pack.tools_head = reader.text("tools_head");
  pack.tools_sep = reader.text("tools_sep");
  pack.tools_tail = reader.text("tools_tail");
  pack.json_object = reader.text("json_object");
  pack.json_schema_head = reader.text("json_schema_head");
  pack.required_suffix = reader.text("required_suffix");
  pack.unsupported_document = reader.string("unsupported_document_responses");
  pack.apply_patch = reader.tool("apply_patch_tool");
  if (version == ModelVersion::kDeepseekV4) {
    pack.unsupported_image = reader.string("unsupported_image_v4");
    std::tie(pack.mid_system_begin, pack.mid_system_end) = reader.pair("messages_mid_system");
  } else {
    pack.updated_tools_head = reader.string("updated_tools_head");
  }
  if (reader.error()) return *reader.error();
  return pack;
}

}  // namespace

Result<PromptPack> parse_prompt_pack(std::string_view json, ModelVersion version) {
  TROUPE_ASSERT(version != ModelVersion::kChatml, "only DeepSeek's formats have a prompt pack");
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(json.data(), json.size());
  if (document.HasParseError()) {
    return Error{Code::kCorrupt, std::string("prompt pack: not JSON: ") +
                                     rapidjson::GetParseError_En(document.GetParseError()) +
                                     " at byte " + std::to_string(document.GetErrorOffset())};
  }
  const char* key = version == ModelVersion::kDeepseekV4 ? "v4" : "v4.1";
  if (!document.IsObject() || !document.HasMember(key) || !document[key].IsObject()) {
    return Error{Code::kCorrupt,
                 std::string("prompt pack: no object \"") + key + "\": it is for another model"};
  }
  return read_pack(document[key], version, key);
}

Result<PromptPack> load_prompt_pack(const std::string& path, ModelVersion version) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{Code::kNotFound, "cannot read the prompt pack " + path +
                                      "; 'troupe model pull deepseek-v4' and 'deepseek-v4.1' "
                                      "derive one"};
  }
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  auto pack = parse_prompt_pack(json, version);
  if (!pack.ok()) return Error{pack.error().code, path + ": " + pack.error().message};
  return pack;
}

}  // namespace troupe::recipe
