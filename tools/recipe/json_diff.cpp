#include "tools/recipe/json_diff.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

using Index = JsonTape::Index;
using Difference = std::optional<JsonDifference>;

constexpr std::size_t kExcerptBytes = 120;  // of a value in a report: one line of a terminal

std::string shown(const JsonTape& tape, Index index) {
  std::string text;
  tape.print(index, kCompactJson, text);
  return excerpt(text, kExcerptBytes);
}

/// The text around byte `at`, from a little before it.
std::string shown_from(std::string_view text, std::size_t at) {
  constexpr std::size_t kBefore = 24;
  std::size_t begin = at > kBefore ? at - kBefore : 0;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  std::string quoted;
  append_json_string(quoted, text.substr(begin));
  return (begin > 0 ? "..." : "") + excerpt(quoted, kExcerptBytes);
}

bool is_call_id(std::string_view pattern, std::string_view id) {
  constexpr std::size_t kTail = 24;
  const std::string_view prefix = pattern.substr(0, pattern.size() - 1);
  if (!id.starts_with(prefix) || id.size() != prefix.size() + kTail) return false;
  const std::string_view tail = id.substr(prefix.size());
  const auto is = [](int (*test)(int), std::string_view part) {
    return std::all_of(part.begin(), part.end(),
                       [&](char c) { return test(static_cast<unsigned char>(c)) != 0; });
  };
  return is(std::isalnum, tail.substr(0, 20)) && is(std::isdigit, tail.substr(20));
}

Difference compare_texts(std::string where, std::string_view expected, std::string_view got) {
  if (expected == got) return std::nullopt;
  if (expected.starts_with("call_") && expected.ends_with("_*") && is_call_id(expected, got))
    return std::nullopt;
  const std::size_t shorter = std::min(expected.size(), got.size());
  const auto differ =
      std::mismatch(expected.begin(), expected.begin() + shorter, got.begin()).first;
  const auto at = static_cast<std::size_t>(differ - expected.begin());
  return JsonDifference{where + ", byte " + std::to_string(at), shown_from(expected, at),
                        shown_from(got, at)};
}

/// 1 and 1.0 are the same value; integers that doubles cannot tell apart are not.
bool same_number(std::string_view expected, std::string_view got) {
  const auto is_integer = [](std::string_view token) {
    return token.find_first_of(".eE") == std::string_view::npos;
  };
  if (expected == got) return true;
  return !(is_integer(expected) && is_integer(got)) &&
         json_number_value(expected) == json_number_value(got);
}

class Comparer {
 public:
  Comparer(const JsonTape& expected, const JsonTape& got) : expected_(expected), got_(got) {}

  Difference compare(const std::string& where, Index expected, Index got) const {
    const JsonKind kind = expected_.kind(expected);
    if (kind != got_.kind(got)) return differ(where, expected, got);
    switch (kind) {
      case JsonKind::kNull:
      case JsonKind::kFalse:
      case JsonKind::kTrue:
        return std::nullopt;
      case JsonKind::kNumber:
        if (same_number(expected_.text(expected), got_.text(got))) return std::nullopt;
        return differ(where, expected, got);
      case JsonKind::kString:
        return compare_texts(where, expected_.text(expected), got_.text(got));
      case JsonKind::kArray:
      case JsonKind::kObject:
        return compare_members(where, expected, got);
    }
    return std::nullopt;
  }

 private:
  using Members = std::vector<std::pair<std::string_view, Index>>;

  static Members members_of(const JsonTape& tape, Index container) {
    Members members;
    tape.each(container,
              [&](std::string_view key, Index value) { members.emplace_back(key, value); });
    return members;
  }

  Difference differ(const std::string& where, Index expected, Index got) const {
    return JsonDifference{where, shown(expected_, expected), shown(got_, got)};
  }

  Difference compare_members(const std::string& where, Index expected, Index got) const {
    const bool object = expected_.kind(expected) == JsonKind::kObject;
    const Members wanted = members_of(expected_, expected);
    const Members had = members_of(got_, got);
    for (std::size_t i = 0; i < std::max(wanted.size(), had.size()); ++i) {
      const std::string at = where + "[" + std::to_string(i) + "]";
      if (i >= had.size()) return missing(object, where, at, wanted[i]);
      if (i >= wanted.size()) return surplus(object, where, at, had[i]);
      if (wanted[i].first != had[i].first) {
        return JsonDifference{where + ", member " + std::to_string(i), excerpt(wanted[i].first, 60),
                              excerpt(had[i].first, 60)};
      }
      const std::string path = object ? member_path(where, wanted[i].first) : at;
      if (auto found = compare(path, wanted[i].second, had[i].second)) return found;
    }
    return std::nullopt;
  }

  static std::string member_path(const std::string& where, std::string_view key) {
    return where + (where.empty() ? "" : ".") + std::string(key);
  }
  Difference missing(bool object, const std::string& where, const std::string& at,
                     const std::pair<std::string_view, Index>& member) const {
    return JsonDifference{object ? member_path(where, member.first) : at,
                          shown(expected_, member.second), "nothing"};
  }
  Difference surplus(bool object, const std::string& where, const std::string& at,
                     const std::pair<std::string_view, Index>& member) const {
    return JsonDifference{object ? member_path(where, member.first) : at, "nothing",
                          shown(got_, member.second)};
  }

  const JsonTape& expected_;
  const JsonTape& got_;
};

}  // namespace

Difference first_difference(std::string where, const JsonTape& expected, Index expected_at,
                            const JsonTape& got, Index got_at) {
  return Comparer(expected, got).compare(where, expected_at, got_at);
}

Difference first_difference(std::string where, std::string_view expected, std::string_view got) {
  const auto wanted = JsonDocument::parse(expected);
  const auto had = JsonDocument::parse(got);
  if (!wanted) return JsonDifference{std::move(where), "no JSON: " + excerpt(expected, 60), ""};
  if (!had) return JsonDifference{std::move(where), excerpt(expected, 60), excerpt(got, 60)};
  return first_difference(std::move(where), wanted->tape(), JsonDocument::kRoot, had->tape(),
                          JsonDocument::kRoot);
}

}  // namespace troupe
