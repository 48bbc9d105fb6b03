// RapidJSON compares 16 bytes at a time if told so. Its templates are named differently in this
// file, so that they are not mixed with those that other files instantiate without it.
#define RAPIDJSON_NAMESPACE troupe_rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace troupe_rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include "runtime/recipe/text/json_events.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <cstring>
#include <string>

#include "runtime/recipe/text/json_number.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

namespace rj = troupe_rapidjson;

constexpr std::size_t kLookAhead = 16;

/// True if an escape may spell a surrogate: \ud8.. to \udf.. in either case.
bool may_escape_surrogates(std::string_view text) {
  for (std::size_t at = text.find("\\u"); at != std::string_view::npos;
       at = text.find("\\u", at + 2)) {
    if (at + 2 < text.size() && (text[at + 2] | 0x20) == 'd') return true;
  }
  return false;
}

/// UTF-8 has no surrogates (ED A0..BF xx), so that one in a string came from an escape.
bool holds_surrogate(std::string_view text) {
  for (std::size_t at = text.find('\xED'); at != std::string_view::npos;
       at = text.find('\xED', at + 1)) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) return true;
  }
  return false;
}

/// What RapidJSON calls; counts the depth and refuses what it lets pass.
class Handler {
 public:
  Handler(JsonEvents& events, bool surrogates) : events_(events), surrogates_(surrogates) {}

  bool Null() { return events_.null(); }
  bool Bool(bool value) { return events_.boolean(value); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* text, rj::SizeType bytes, bool) {
    const std::string_view token(text, bytes);
    if (!is_finite_json_number(token)) return refuse("a number is out of range");
    return events_.number(token);
  }
  bool String(const char* text, rj::SizeType bytes, bool) {
    return is_text({text, bytes}) && events_.string({text, bytes});
  }
  bool Key(const char* text, rj::SizeType bytes, bool) {
    return is_text({text, bytes}) && events_.key({text, bytes});
  }
  bool StartObject() { return enter() && events_.begin_object(); }
  bool EndObject(rj::SizeType) { return --depth_, events_.end_object(); }
  bool StartArray() { return enter() && events_.begin_array(); }
  bool EndArray(rj::SizeType) { return --depth_, events_.end_array(); }

  const std::string& refusal() const { return refusal_; }

 private:
  bool refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }
  bool is_text(std::string_view text) {
    if (!surrogates_ || !holds_surrogate(text)) return true;
    return refuse("a string holds half of a surrogate pair, which is no character");
  }
  bool enter() {
    if (++depth_ <= kJsonDepthMax) return true;
    return refuse("it is nested deeper than " + std::to_string(kJsonDepthMax) + " levels");
  }

  JsonEvents& events_;
  const bool surrogates_;
  std::size_t depth_ = 0;
  std::string refusal_;
};

Error bad_json(std::string_view why, std::size_t at) {
  return {Code::kInvalid, std::string(why) + " (at byte " + std::to_string(at) + ")"};
}

}  // namespace

JsonBuffer::JsonBuffer(std::string_view text) : size_(text.size()) {
  bytes_.reserve(text.size() + kLookAhead);
  bytes_.assign(text.begin(), text.end());
  bytes_.resize(text.size() + kLookAhead, '\0');
}

Status parse_json_events(JsonBuffer& buffer, JsonEvents& events) {
  const std::string_view text(buffer.data(), buffer.size());
  if (const auto bad = find_non_text(text)) {
    return bad_json("it holds bytes that are no UTF-8 text", *bad);
  }
  Handler handler(events, may_escape_surrogates(text));
  rj::InsituStringStream stream(buffer.data());
  rj::Reader reader;
  constexpr unsigned kFlags =
      rj::kParseInsituFlag | rj::kParseIterativeFlag | rj::kParseNumbersAsStringsFlag;
  const rj::ParseResult result = reader.Parse<kFlags>(stream, handler);
  if (!result.IsError()) return ok_status();
  if (result.Code() != rj::kParseErrorTermination) {
    return bad_json(rj::GetParseError_En(result.Code()), result.Offset());
  }
  if (!handler.refusal().empty()) return bad_json(handler.refusal(), result.Offset());
  return Error{Code::kCancelled, "the reader of the JSON wanted no more of it"};
}

}  // namespace troupe
