#include "actors/traffic/chunk_counter.hpp"

#include <rapidjson/document.h>

namespace troupe {

namespace {

std::string_view text_in(const rapidjson::Value& delta, const char* name) {
  const auto at = delta.FindMember(name);
  if (at == delta.MemberEnd() || !at->value.IsString()) return {};
  return {at->value.GetString(), at->value.GetStringLength()};
}

const rapidjson::Value* object_in(const rapidjson::Value& value, const char* name) {
  if (!value.IsObject()) return nullptr;
  const auto at = value.FindMember(name);
  return at == value.MemberEnd() || !at->value.IsObject() ? nullptr : &at->value;
}

bool has_output(const rapidjson::Value& delta) {
  const auto calls = delta.FindMember("tool_calls");
  return !text_in(delta, "content").empty() || !text_in(delta, "reasoning_content").empty() ||
         !text_in(delta, "reasoning").empty() ||
         (calls != delta.MemberEnd() && calls->value.IsArray() && !calls->value.Empty());
}

void take_count(const rapidjson::Value& usage, const char* name,
                std::optional<std::uint32_t>& count) {
  const auto at = usage.FindMember(name);
  if (at != usage.MemberEnd() && at->value.IsUint()) count = at->value.GetUint();
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
      const auto* delta = object_in(choice, "delta");
      if (delta == nullptr || !has_output(*delta)) continue;
      ++counted_;
      keep(text_in(*delta, "content"));
    }
  }
  const auto* usage = object_in(document, "usage");
  if (usage == nullptr) return;
  take_count(*usage, "completion_tokens", usage_.output_tokens);
  take_count(*usage, "prompt_tokens", usage_.prompt_tokens);
  const auto* details = object_in(*usage, "prompt_tokens_details");
  if (details != nullptr) take_count(*details, "cached_tokens", usage_.cached_tokens);
}

void ChunkCounter::keep(std::string_view text) {
  if (keeps_text_) text_ += text.substr(0, kTextMax - text_.size());
}

}  // namespace troupe
