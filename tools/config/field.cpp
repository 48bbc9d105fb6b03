// Field: typing, checking and printing one value. The kinds are the alternatives of Target; each
// visitor below has one overload a kind.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "tools/config/scalar.hpp"
#include "tools/config/schema.hpp"

namespace troupe::config {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += separator;
    result += word;
  }
  return result;
}

// A YAML scalar that reads back as this string: plain where that is safe, else in double quotes.
std::string yaml_string(const std::string& text) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  const bool is_word = text == "true" || text == "false" || text == "null";
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos &&
                        text.front() != '-' && text.front() != '.' && !is_word;
  if (is_plain) return text;
  std::string result = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') result += '\\';
    if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 5> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      result += escape.data();
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

std::string kind_name(const Target& target) {
  struct {
    std::string operator()(bool*) const { return "true or false"; }
    std::string operator()(std::int64_t*) const { return "a whole number"; }
    std::string operator()(double*) const { return "a number"; }
    std::string operator()(std::string*) const { return "a string"; }
    std::string operator()(Duration*) const { return "a duration with its unit (250ms, 10s, 5m)"; }
    std::string operator()(Bytes*) const { return "a size " + size_units(); }
    std::string operator()(std::vector<std::string>*) const { return "a list of strings"; }
    std::string operator()(const Choice& choice) const {
      return "one of " + joined(choice.names, ", ");
    }
  } visitor;
  return std::visit(visitor, target);
}

std::string limit_text(const Target& target, double limit) {
  if (std::holds_alternative<Duration*>(target)) {
    return format(Duration(static_cast<std::int64_t>(limit)));
  }
  if (std::holds_alternative<Bytes*>(target)) {
    return format(Bytes(static_cast<std::uint64_t>(limit)));
  }
  if (std::holds_alternative<std::int64_t*>(target)) {
    return std::to_string(static_cast<std::int64_t>(limit));
  }
  return format(limit);
}

// Types one text and stores it; the caller has checked that the value is no list.
struct Assign {
  const Field& field;
  const std::string& text;

  template <class T>
  Status store(T* member, Result<T> parsed, double amount) const {
    if (!parsed.ok() || amount < field.low || amount > field.high) {
      return Error{Code::kInvalid,
                   "expected " + field.expectation() + ", found " + in_quotes(text)};
    }
    *member = *parsed;
    return ok_status();
  }

  Status operator()(bool* member) const { return store(member, parse_bool(text), 0); }
  Status operator()(std::int64_t* member) const {
    const auto parsed = parse_integer(text);
    return store(member, parsed, parsed.ok() ? static_cast<double>(*parsed) : 0);
  }
  Status operator()(double* member) const {
    const auto parsed = parse_real(text);
    return store(member, parsed, parsed.ok() ? *parsed : 0);
  }
  Status operator()(Duration* member) const {
    const auto parsed = parse_duration(text);
    return store(member, parsed, parsed.ok() ? static_cast<double>(parsed->value) : 0);
  }
  Status operator()(Bytes* member) const {
    const auto parsed = parse_bytes(text);
    return store(member, parsed, parsed.ok() ? static_cast<double>(parsed->value) : 0);
  }
  Status operator()(std::string* member) const {
    *member = text;
    return ok_status();
  }
  Status operator()(std::vector<std::string>*) const {
    TROUPE_ASSERT(false, "lists are stored by assign_list");
    return ok_status();
  }
  Status operator()(const Choice& choice) const {
    const auto found = std::find(choice.names.begin(), choice.names.end(), text);
    if (found == choice.names.end()) {
      return Error{Code::kInvalid,
                   "expected " + field.expectation() + ", found " + in_quotes(text)};
    }
    choice.set(static_cast<std::size_t>(found - choice.names.begin()));
    return ok_status();
  }
};

Status assign_list(const Field& field, std::vector<std::string>* member, const RawValue& value) {
  std::set<std::string> seen;
  for (const std::string& item : value.items) {
    const auto& allowed = field.allowed_items;
    const bool is_known =
        allowed.empty() || std::find(allowed.begin(), allowed.end(), item) != allowed.end();
    if (!is_known || !seen.insert(item).second) {
      return Error{Code::kInvalid, "expected " + field.expectation() + ", found " +
                                       in_quotes(item) + (is_known ? " twice" : "")};
    }
  }
  if (value.items.empty() && !field.allowed_items.empty()) {
    return Error{Code::kInvalid, "expected " + field.expectation() + ", found an empty list"};
  }
  *member = value.items;
  return ok_status();
}

}  // namespace

std::string Field::expectation() const {
  std::string text = kind_name(target);
  if (!allowed_items.empty()) text += " (" + joined(allowed_items, ", ") + "; each at most once)";
  const bool has_limits = std::isfinite(low) && std::isfinite(high);
  if (has_limits) text += " from " + limit_text(target, low) + " to " + limit_text(target, high);
  return text;
}

Status Field::assign(const RawValue& value) {
  if (is_list()) return assign_list(*this, std::get<std::vector<std::string>*>(target), value);
  if (value.is_list || value.items.size() != 1) {
    return Error{Code::kInvalid, "expected " + expectation() + ", found a list"};
  }
  const bool is_text =
      std::holds_alternative<std::string*>(target) || std::holds_alternative<Choice>(target);
  if (value.is_quoted && !is_text) {
    return Error{Code::kInvalid, "expected " + expectation() + ", found the string " +
                                     in_quotes(value.items.front()) + " (remove the quotes)"};
  }
  return std::visit(Assign{*this, value.items.front()}, target);
}

std::string Field::current() const {
  struct {
    std::string operator()(bool* member) const { return *member ? "true" : "false"; }
    std::string operator()(std::int64_t* member) const { return std::to_string(*member); }
    std::string operator()(double* member) const { return format(*member); }
    std::string operator()(std::string* member) const { return yaml_string(*member); }
    std::string operator()(Duration* member) const { return format(*member); }
    std::string operator()(Bytes* member) const { return format(*member); }
    std::string operator()(std::vector<std::string>* member) const {
      std::string text = "[";
      for (const std::string& item : *member) {
        if (text.size() > 1) text += ", ";
        text += yaml_string(item);
      }
      return text += "]";
    }
    std::string operator()(const Choice& choice) const { return choice.names[choice.get()]; }
  } visitor;
  return std::visit(visitor, target);
}

}  // namespace troupe::config
