// Runs vectors and compares what comes out with what they expect.
//
// Each member of "expect" is compared with the result's, but for: "tokenizer" and "python_type",
// which describe how the vector was made; "message", "body" and "status" of a refusal at stage
// "parse", which are the parser's own (recipe SPEC section 6). What the result has beside is not
// looked at, except a refusal: where none is expected it is a failure.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tools/recipe/json_diff.hpp"
#include "tools/recipe/recipe_lab.hpp"
#include "tools/recipe/vector.hpp"

namespace troupe {

class VectorCheck {
 public:
  struct Count {
    std::uint64_t passed = 0;
    std::uint64_t failed = 0;
  };
  struct Failure {
    std::string name;  ///< of the vector: id and place
    JsonDifference difference;
  };

  /// `lab` outlives it.
  explicit VectorCheck(RecipeLab& lab) : lab_(lab) {}

  /// Counts the vector; one that expects nothing has failed. Errors keep it from being run.
  Status check(const Vector& vector);

  const std::map<VectorKind, Count>& counts() const { return counts_; }
  const std::vector<Failure>& failures() const { return failures_; }

  /// The counts by kind and the first `shown` failures, for people.
  void report(std::ostream& out, std::size_t shown) const;

 private:
  RecipeLab& lab_;
  std::map<VectorKind, Count> counts_;
  std::vector<Failure> failures_;
};

}  // namespace troupe
