#include "runtime/recipe/request/error_body.hpp"

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {
namespace {

constexpr std::string_view kInvalidRequest = "invalid_request_error";

void append_text_or_null(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    append_json_string(out, text);
  }
}

}  // namespace

std::string error_body(Protocol protocol, Compat compat, const RequestError& error) {
  std::string out;
  if (protocol == Protocol::kMessages && compat == Compat::kDefault) {
    out += R"({"type":"error","error":{"type":)";
    append_json_string(out, error.status == 404 ? "not_found_error" : kInvalidRequest);
    out += R"(,"message":)";
    append_json_string(out, error.message);
    return out += "}}";
  }
  out += R"({"error":{"message":)";
  append_json_string(out, error.message);
  out += R"(,"type":)";
  append_json_string(out, kInvalidRequest);
  out += R"(,"param":)";
  append_text_or_null(out, error.param);
  out += R"(,"code":)";
  append_text_or_null(out, error.code);
  return out += "}}";
}

}  // namespace troupe::recipe
