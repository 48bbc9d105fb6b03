// Rows of JSONL traces.
//
// Mooncake (FAST'25 release): {"timestamp":ms,"input_length":n,"output_length":m,"hash_ids":[…]};
// session_id may be there. Agentic: session, turn, group and group_prefix beside the lengths.
// Fields with other names are left alone.
#include <rapidjson/document.h>

#include <cmath>

#include "actors/load/trace_row.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {

constexpr std::uint32_t kTokensMax = 1u << 30;

Error bad_json(const std::string& why) {
  return Error{Code::kInvalid, why};
}

const rapidjson::Value* member(const rapidjson::Document& row, const char* name) {
  const auto at = row.FindMember(name);
  return at == row.MemberEnd() || at->value.IsNull() ? nullptr : &at->value;
}

/// A whole number of tokens; some traces write 12.0.
Status take_tokens(const rapidjson::Document& row, const char* name, bool needed,
                   std::uint32_t& tokens) {
  const auto* value = member(row, name);
  if (value == nullptr) {
    if (!needed) return ok_status();
    return bad_json(std::string("\"") + name + "\" is missing");
  }
  const double number = value->IsNumber() ? value->GetDouble() : -1;
  if (number < 0 || number > kTokensMax || number != std::floor(number)) {
    return bad_json(std::string("\"") + name + "\": expected a whole number of tokens");
  }
  tokens = static_cast<std::uint32_t>(number);
  return ok_status();
}

std::uint64_t name_number(const rapidjson::Value& name) {
  std::uint64_t hash = name.GetStringLength();
  for (rapidjson::SizeType i = 0; i < name.GetStringLength(); ++i) {
    hash = mix64(hash, static_cast<unsigned char>(name.GetString()[i]));
  }
  return hash;
}

/// A number, or a text that stands for one.
Status take_id(const rapidjson::Document& row, const char* name, std::optional<std::uint64_t>& id) {
  const auto* value = member(row, name);
  if (value == nullptr) return ok_status();
  if (value->IsUint64()) {
    id = value->GetUint64();
  } else if (value->IsString()) {
    id = name_number(*value);
  } else {
    return bad_json(std::string("\"") + name + "\": expected a number or a text");
  }
  return ok_status();
}

Status take_hashes(const rapidjson::Document& json, std::uint32_t block_tokens, TraceRow& row) {
  const auto* hashes = member(json, "hash_ids");
  if (hashes == nullptr) return ok_status();
  if (!hashes->IsArray()) return bad_json("\"hash_ids\": expected a list of numbers");
  const std::uint64_t blocks = (std::uint64_t{row.input_tokens} + block_tokens - 1) / block_tokens;
  if (hashes->Size() != blocks) {
    return bad_json("\"hash_ids\": " + std::to_string(hashes->Size()) + " ids for " +
                    std::to_string(row.input_tokens) + " tokens, expected " +
                    std::to_string(blocks) + " of " + std::to_string(block_tokens) +
                    " tokens each (--trace-block-tokens says how many)");
  }
  row.hash_ids.reserve(hashes->Size());
  for (const auto& id : hashes->GetArray()) {
    if (!id.IsInt64() && !id.IsUint64()) return bad_json("\"hash_ids\": expected numbers");
    row.hash_ids.push_back(id.IsUint64() ? id.GetUint64()
                                         : static_cast<std::uint64_t>(id.GetInt64()));
  }
  return ok_status();
}

Status take_group(const rapidjson::Document& json, TraceRow& row) {
  std::optional<std::uint64_t> group;
  TROUPE_TRY(take_id(json, "group", group));
  TROUPE_TRY(take_tokens(json, "group_prefix", group.has_value(), row.group_tokens));
  if (!group) return ok_status();
  if (!row.session) return bad_json("\"group\" without a \"session\"");
  row.grows = true;
  row.group = *group;
  return ok_status();
}

}  // namespace

Result<TraceRow> parse_json_row(std::string_view line, std::uint32_t block_tokens) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
  if (json.HasParseError() || !json.IsObject()) return bad_json("expected a JSON object");
  TraceRow row;
  if (const auto* time = member(json, "timestamp")) {
    if (!time->IsNumber() || !std::isfinite(time->GetDouble())) {
      return bad_json("\"timestamp\": expected a number of milliseconds");
    }
    row.at_ms = time->GetDouble();
  } else if (member(json, "delay") != nullptr) {
    return bad_json("rows with a \"delay\" and no \"timestamp\" cannot be played; give them times");
  }
  TROUPE_TRY(take_tokens(json, "input_length", true, row.input_tokens));
  TROUPE_TRY(take_tokens(json, "output_length", true, row.output_tokens));
  TROUPE_TRY(take_tokens(json, "turn", false, row.turn));
  TROUPE_TRY(take_id(json, "session_id", row.session));
  TROUPE_TRY(take_id(json, "session", row.session));
  TROUPE_TRY(take_hashes(json, block_tokens, row));
  TROUPE_TRY(take_group(json, row));
  return row;
}

}  // namespace troupe
