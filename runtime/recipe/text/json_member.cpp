#include "runtime/recipe/text/json_member.hpp"

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe {

namespace {

class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  /// True if `c` comes next, which is taken.
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// With its quotes.
  std::optional<std::string_view> string() {
    skip_space();
    const std::size_t begin = at_;
    if (!skip_string()) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }
  std::optional<std::string_view> value() {
    skip_space();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',')) break;
      if (c == '"') {
        if (!skip_string()) return std::nullopt;
      } else {
        if (c == '{' || c == '[') ++depth;
        if (closes) --depth;
        ++at_;
      }
    }
    std::string_view found = text_.substr(begin, at_ - begin);
    while (!found.empty() && is_space(found.back())) found.remove_suffix(1);
    return found.empty() || depth > 0 ? std::nullopt : std::optional(found);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool skip_string() {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        return ++at_, true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_name(std::string_view quoted, std::string_view name) {
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  if (inner.find('\\') == std::string_view::npos) return inner == name;
  const auto key = JsonDocument::parse(quoted);
  return key && key->tape().text(JsonDocument::kRoot) == name;
}

}  // namespace

std::optional<std::string_view> json_member(std::string_view object, std::string_view name) {
  std::optional<std::string_view> found;
  Scan scan(object);
  if (!scan.take('{')) return std::nullopt;
  do {
    const auto key = scan.string();
    if (!key || !scan.take(':')) return found;
    const auto value = scan.value();
    if (!value) return found;
    if (is_name(*key, name)) found = value;
  } while (scan.take(','));
  return found;
}

}  // namespace troupe
