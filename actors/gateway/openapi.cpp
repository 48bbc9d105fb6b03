#include "actors/gateway/openapi.hpp"

#include "actors/gateway/openapi_data.hpp"
#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe {

namespace {

constexpr auto kRoot = JsonDocument::kRoot;

// Of every path.
constexpr std::string_view kOptions =
    R"("options":{"summary":"The methods of this path.","security":[],"responses":{"204":{)"
    R"("description":"They are named.","headers":{"allow":{"required":true,"schema":{)"
    R"("type":"string"}}}},"4XX":{"$ref":"#/components/responses/EitherRefused"},)"
    R"("5XX":{"$ref":"#/components/responses/EitherFailed"}}})";
// Of every path with a GET.
constexpr std::string_view kHead =
    R"("head":{"summary":"As GET, without the body.","responses":{"2XX":{"description":"Yes."},)"
    R"("4XX":{"description":"No."},"5XX":{"description":"Not now."}}})";

JsonDocument parsed(std::string_view text) {
  auto document = JsonDocument::parse(text);
  TROUPE_ASSERT(document, "our own document is valid JSON");
  return std::move(*document);
}

/// A member's beginning; the value follows.
void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
}

void append_paths(std::string& out, const JsonTape& tape, JsonTape::Index paths) {
  out += '{';
  tape.each(paths, [&](std::string_view path, JsonTape::Index item) {
    append_key(out, path);
    tape.print(item, kCompactJson, out);
    out.back() = ',';  // the item goes on
    if (tape.find(item, "get") != JsonTape::kNone) out.append(kHead).append(",");
    out.append(kOptions).append("}");
  });
  out += '}';
}

void append_components(std::string& out, const JsonTape& tape, JsonTape::Index components) {
  out += '{';
  tape.each(components, [&](std::string_view key, JsonTape::Index value) {
    append_key(out, key);
    tape.print(value, kCompactJson, out);
  });
  append_key(out, "schemas");
  out += '{';
  for (const std::string_view text : kOpenapiSchemas) {
    const JsonDocument schemas = parsed(text);
    schemas.tape().each(kRoot, [&](std::string_view name, JsonTape::Index schema) {
      append_key(out, name);
      schemas.tape().print(schema, kCompactJson, out);
    });
  }
  out += "}}";
}

}  // namespace

std::string openapi_document(std::string_view version) {
  const JsonDocument frame = parsed(kOpenapiFrame);
  const JsonTape& tape = frame.tape();
  std::string out = "{";
  tape.each(kRoot, [&](std::string_view key, JsonTape::Index value) {
    append_key(out, key);
    if (key == "paths") return append_paths(out, tape, value);
    if (key == "components") return append_components(out, tape, value);
    tape.print(value, kCompactJson, out);
  });
  constexpr std::string_view kPlace = "\"VERSION\"";
  std::string said;
  append_json_string(said, version);
  const auto at = out.find(kPlace);
  TROUPE_ASSERT(at != std::string::npos, "the frame has a place for the version");
  return out.replace(at, kPlace.size(), said) + "}";
}

}  // namespace troupe
