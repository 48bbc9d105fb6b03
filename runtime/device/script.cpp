#include "runtime/device/script.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace troupe {

namespace {

/// A script is written by hand: this is more than any test needs.
constexpr std::size_t kScriptBytesMax = 8u << 20;
constexpr std::int64_t kDelayMaxMs = 3'600'000;

Error invalid(std::string message) {
  return Error{Code::kInvalid, std::move(message)};
}

Result<std::string> from_hex(std::string_view hex, const std::string& where) {
  auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (hex.size() % 2 != 0) return invalid(where + ": \"bytes\" needs an even number of digits");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return invalid(where + ": \"bytes\" holds hexadecimal digits only");
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Result<std::vector<TokenId>> token_list(const rapidjson::Value& value, const std::string& where) {
  if (!value.IsArray()) return invalid(where + ": \"tokens\" is a list of token ids");
  std::vector<TokenId> tokens;
  for (const auto& token : value.GetArray()) {
    if (!token.IsInt() || token.GetInt() < 0) {
      return invalid(where + ": \"tokens\" holds ids, which are numbers from 0 on");
    }
    tokens.emplace_back(token.GetInt());
  }
  return tokens;
}

Result<ScriptChunk> parse_chunk(const rapidjson::Value& value, bool control,
                                const ScriptEncoder& encode, const std::string& where) {
  if (!value.IsObject()) return invalid(where + " is an object with text, tokens or bytes");
  ScriptChunk chunk;
  int contents = 0;
  for (auto at = value.MemberBegin(); at != value.MemberEnd(); ++at) {
    const auto& member = *at;
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (name == "delay_ms") {
      if (!member.value.IsNumber() || member.value.GetDouble() < 0 ||
          member.value.GetDouble() > static_cast<double>(kDelayMaxMs)) {
        return invalid(where + ": \"delay_ms\" is a number from 0 to 3600000");
      }
      chunk.delay = from_seconds(member.value.GetDouble() / 1000);
      continue;
    }
    ++contents;
    if (name == "tokens") {
      TROUPE_TRY_ASSIGN(chunk.tokens, token_list(member.value, where));
    } else if ((name == "text" || name == "bytes") && member.value.IsString()) {
      std::string text(member.value.GetString(), member.value.GetStringLength());
      if (name == "bytes") {
        TROUPE_TRY_ASSIGN(text, from_hex(text, where));
      }
      chunk.tokens = encode(text, control && name == "text");
    } else {
      return invalid(where + ": unknown or mistyped key \"" + std::string(name) +
                     "\"; a chunk has text, tokens or bytes, and delay_ms");
    }
  }
  if (contents != 1) return invalid(where + " has exactly one of text, tokens, bytes");
  return chunk;
}

Result<ScriptFinish> parse_finish(const rapidjson::Value& value) {
  const std::string_view name = value.IsString() ? value.GetString() : "";
  if (name == "stop") return ScriptFinish::kStop;
  if (name == "length") return ScriptFinish::kLength;
  if (name == "stall") return ScriptFinish::kStall;
  if (name == "die") return ScriptFinish::kDie;
  return invalid("\"finish\" is one of stop, length, stall, die");
}

}  // namespace

Result<Script> parse_script(std::string_view json, const ScriptEncoder& encode) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      json.data(), json.size());
  if (document.HasParseError()) {
    return invalid("not JSON at byte " + std::to_string(document.GetErrorOffset()) + ": " +
                   rapidjson::GetParseError_En(document.GetParseError()));
  }
  if (!document.IsObject() || !document.HasMember("chunks") || !document["chunks"].IsArray()) {
    return invalid("a script is an object with a list \"chunks\"");
  }
  bool control = false;
  if (document.HasMember("control")) {
    if (!document["control"].IsBool()) return invalid("\"control\" is true or false");
    control = document["control"].GetBool();
  }
  Script script;
  const rapidjson::Value& root = document;
  for (auto at = root.MemberBegin(); at != root.MemberEnd(); ++at) {
    const auto& member = *at;
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (name == "finish") {
      TROUPE_TRY_ASSIGN(script.finish, parse_finish(member.value));
    } else if (name != "chunks" && name != "control") {
      return invalid("unknown key \"" + std::string(name) +
                     "\"; a script has chunks, finish, control");
    }
  }
  const auto chunks = document["chunks"].GetArray();
  for (rapidjson::SizeType i = 0; i < chunks.Size(); ++i) {
    TROUPE_TRY_ASSIGN(auto chunk,
                      parse_chunk(chunks[i], control, encode, "chunks[" + std::to_string(i) + "]"));
    script.chunks.push_back(std::move(chunk));
  }
  return script;
}

Result<Script> load_script(const std::string& directory, std::string_view name,
                           const ScriptEncoder& encode) {
  const bool plain = !name.empty() && name.front() != '.' && name.size() <= 128 &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                     });
  if (!plain) return Error{Code::kNotFound, "a script's name has letters, digits, '-', '_', '.'"};
  const std::string path = directory + "/" + std::string(name) + ".json";
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
    return Error{Code::kInvalid, "script " + std::string(name) + " is not a regular file"};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Code::kNotFound, "there is no script " + std::string(name)};
  std::ostringstream text;
  text << file.rdbuf();
  const std::string json = text.str();
  if (json.size() > kScriptBytesMax)
    return Error{Code::kTooLarge, "script " + std::string(name) + " is over 8 MiB"};
  Result<Script> script = parse_script(json, encode);
  if (!script.ok())
    return Error{script.error().code,
                 "script " + std::string(name) + ": " + script.error().message};
  return script;
}

}  // namespace troupe
