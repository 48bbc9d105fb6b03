// The vectors of the reference implementation (recipe SPEC 8), run and compared as
// `troupe recipe check --compat deepseek` does it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "tests/runtime/recipe/deepseek_files.hpp"
#include "tools/recipe/vector_check.hpp"

namespace troupe::test {

/// With the tokenizers and prompt packs that were pulled.
inline LabOptions pulled_files() {
  LabOptions options;
  options.pulled = [](std::string_view model, PulledFile file) {
    return file == PulledFile::kTokenizer ? deepseek_tokenizer_path(std::string(model))
                                          : deepseek_pack_path(std::string(model));
  };
  return options;
}

/// With the texts of the prompt packs alone, for what needs no tokenizer.
inline LabOptions packs_only() {
  LabOptions options;
  options.prompt_pack = shared_path("recipe/constants.json");
  return options;
}

/// Expects that the vectors of a file come out in compat mode; how many there were.
inline std::uint64_t run_vectors(const std::string& path, LabOptions options) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  options.compat = recipe::Compat::kDeepseek;
  auto lab = RecipeLab::open(std::move(options)).value();
  VectorCheck check(lab);
  for (const Vector& vector : read_vectors(text, recipe::Protocol::kChat).value()) {
    const Status status = check.check(vector);
    EXPECT_TRUE(status.ok()) << to_string(status.error());
    if (!status.ok()) break;
  }
  std::ostringstream report;
  check.report(report, 5);
  EXPECT_TRUE(check.failures().empty()) << report.str();
  std::uint64_t count = 0;
  for (const auto& [kind, each] : check.counts()) count += each.passed + each.failed;
  return count;
}

}  // namespace troupe::test
