#include "tools/config/dump.hpp"

namespace troupe::config {

namespace {

std::string comment(const Field& field) {
  std::string text = "  # " + field.doc + "\n  # " + field.expectation();
  if (!field.unit.empty()) text += ", in " + field.unit;
  return text + "; --" + field.flag + ", " + field.env_name() + "\n";
}

std::string source(const Field& field) {
  std::string text(to_string(field.source));
  if (!field.origin.empty()) text += " " + field.origin;
  return text;
}

}  // namespace

std::string dump(const Schema& schema) {
  std::string text;
  std::string section;
  for (const auto& field : schema.fields()) {
    if (section != section_of(field->path)) {
      section = section_of(field->path);
      text += (text.empty() ? "" : "\n") + section + ":\n";
    }
    const bool is_masked = field->is_secret && field->current() != "\"\"";
    text += comment(*field);
    text += std::string("  ") + (is_masked ? "# " : "") + std::string(key_of(field->path)) + ": " +
            (is_masked ? "\"***\"" : field->current()) + "  # " + source(*field) + "\n";
  }
  return text;
}

}  // namespace troupe::config
