#include "actors/traffic/chunk_counter.hpp"

#include <rapidjson/document.h>

namespace troupe {

namespace {

bool has_text(const rapidjson::Value& delta, const char* name) {
  const auto at = delta.FindMember(name);
  return at != delta.MemberEnd() && at->value.IsString() && at->value.GetStringLength() > 0;
}

bool delta_has_output(const rapidjson::Value& choice) {
  if (!choice.IsObject()) return false;
  const auto delta = choice.FindMember("delta");
  if (delta == choice.MemberEnd() || !delta->value.IsObject()) return false;
  const auto calls = delta->value.FindMember("tool_calls");
  return has_text(delta->value, "content") || has_text(delta->value, "reasoning_content") ||
         has_text(delta->value, "reasoning") ||
         (calls != delta->value.MemberEnd() && calls->value.IsArray() && !calls->value.Empty());
}

std::string error_code(const rapidjson::Value& error) {
  if (!error.IsObject()) return {};
  const auto code = error.FindMember("code");
  return code != error.MemberEnd() && code->value.IsString() ? code->value.GetString() : "";
}

}  // namespace

std::uint32_t ChunkCounter::feed(std::string_view bytes) {
  const std::uint32_t before = counted_;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > kEventMax) {
      oversized_ = true;
      partial_.clear();
    } else if (!oversized_) {
      partial_ += piece;
    }
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    if (oversized_) ++counted_;
    line(partial_);
    partial_.clear();
    oversized_ = false;
  }
  return counted_ - before;
}

void ChunkCounter::line(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (!text.starts_with("data:")) return;
  text.remove_prefix(5);
  if (text.starts_with(' ')) text.remove_prefix(1);
  if (text == "[DONE]") {
    done_ = true;
  } else {
    event(text);
  }
}

void ChunkCounter::event(std::string_view data) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(data.data(), data.size());
  if (document.HasParseError() || !document.IsObject()) return;
  const auto error = document.FindMember("error");
  if (error != document.MemberEnd() && !error->value.IsNull()) error_ = error_code(error->value);
  const auto choices = document.FindMember("choices");
  if (choices != document.MemberEnd() && choices->value.IsArray()) {
    for (const auto& choice : choices->value.GetArray()) {
      if (delta_has_output(choice)) ++counted_;
    }
  }
  const auto usage = document.FindMember("usage");
  if (usage == document.MemberEnd() || !usage->value.IsObject()) return;
  const auto tokens = usage->value.FindMember("completion_tokens");
  if (tokens != usage->value.MemberEnd() && tokens->value.IsUint()) {
    usage_tokens_ = tokens->value.GetUint();
  }
}

}  // namespace troupe
