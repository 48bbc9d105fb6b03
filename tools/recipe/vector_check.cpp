#include "tools/recipe/vector_check.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <optional>
#include <utility>

#include "tools/recipe/run_vector.hpp"

namespace troupe {
namespace {

constexpr std::array kNeverCompared = std::to_array<std::string_view>({"tokenizer", "python_type"});
constexpr std::array kOfStageParse = std::to_array<std::string_view>({"message", "body", "status"});

template <std::size_t N>
bool has(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string printed(const JsonTape& tape, JsonTape::Index index) {
  std::string text;
  tape.print(index, kCompactJson, text);
  return text;
}

std::optional<JsonDifference> compare(const Vector& vector, const VectorResult& result) {
  const JsonTape& tape = vector.tape();
  const bool parse_stage = vector.text_of(tape.find(vector.expect(), "stage")) == "parse";
  const std::string* refusal = find_member(result, "message");
  const bool wants_refusal = tape.find(vector.expect(), "stage") != JsonTape::kNone ||
                             tape.find(vector.expect(), "message") != JsonTape::kNone;
  if (refusal != nullptr && !wants_refusal) {
    return JsonDifference{"message", "nothing", *refusal};
  }
  std::optional<JsonDifference> first;
  tape.each(vector.expect(), [&](std::string_view name, JsonTape::Index expected) {
    if (first || has(kNeverCompared, name) || (parse_stage && has(kOfStageParse, name))) return;
    const std::string* got = find_member(result, name);
    if (got == nullptr) {
      first = JsonDifference{std::string(name), printed(tape, expected), "nothing"};
    } else {
      first = first_difference(std::string(name), printed(tape, expected), *got);
    }
  });
  return first;
}

bool wants_ids(const Vector& vector) {
  const auto wants = [&](std::string_view name) {
    return vector.tape().find(vector.expect(), name) != JsonTape::kNone;
  };
  return wants("token_ids") || wants("token_ids_digest");
}

}  // namespace

Status VectorCheck::check(const Vector& vector) {
  Count& count = counts_[vector.kind()];
  if (!vector.expects_something()) {
    ++count.failed;
    failures_.push_back({vector.name(), {"expect", "members to compare", "none"}});
    return ok_status();
  }
  TROUPE_TRY_ASSIGN(const VectorResult result, run_vector(vector, lab_, wants_ids(vector)));
  if (auto difference = compare(vector, result)) {
    ++count.failed;
    failures_.push_back({vector.name(), std::move(*difference)});
  } else {
    ++count.passed;
  }
  return ok_status();
}

void VectorCheck::report(std::ostream& out, std::size_t shown) const {
  for (const auto& [kind, count] : counts_) {
    out << std::left << std::setw(10) << to_string(kind) << std::right << std::setw(6)
        << count.passed << " passed" << std::setw(6) << count.failed << " failed\n";
  }
  for (std::size_t i = 0; i < std::min(shown, failures_.size()); ++i) {
    const auto& [name, difference] = failures_[i];
    out << "\n"
        << name << ": " << difference.where << "\n  expected " << difference.expected
        << "\n  got      " << difference.got << "\n";
  }
  if (failures_.size() > shown) out << "\nand " << failures_.size() - shown << " more\n";
}

}  // namespace troupe
