// Distributions of lengths and waits: how they are written, and how they are drawn.
//
//   512                       always that
//   uniform:LOW:HIGH          each value alike, both ends included
//   normal:MEAN:DEVIATION
//   lognormal:MEDIAN:SIGMA    the logarithm is normal with deviation SIGMA
//   exponential:MEAN
//   zipf:LOW:HIGH:EXPONENT    whole numbers; LOW + k is (k + 1)^-EXPONENT times as likely as LOW
//   file:PATH                 one of the file's numbers, each alike (one a line, "#" starts a
//                             comment)
//
// Draws are seeded by the caller and equal on every machine. Units: the caller's.
// Bounds: a file has at most kValuesMax numbers, zipf as many different values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

class Distribution {
 public:
  static constexpr std::size_t kValuesMax = 1u << 22;

  /// Always `value`.
  Distribution(double value = 0) : first_(value) {}
  static Distribution normal(double mean, double deviation);
  static Distribution uniform(double low, double high);
  /// Errors: what is wrong with the text or the file. Values below `least` are refused wherever
  /// they can be seen before they are drawn.
  static Result<Distribution> parse(std::string_view text, double least);

  /// A real number; may be below `least` of a normal distribution.
  double draw(Rng& rng) const;
  /// A whole number from 1 to 1e9.
  std::uint32_t draw_count(Rng& rng) const;
  /// Whether every draw gives this value.
  bool is_always(double value) const { return kind_ == Kind::kFixed && first_ == value; }
  bool is_fixed() const { return kind_ == Kind::kFixed; }
  /// Of a fixed one its value, else the first number of its text.
  double first() const { return first_; }
  /// As it is written.
  std::string text() const;

 private:
  enum class Kind : std::uint8_t {
    kFixed,
    kUniform,
    kNormal,
    kLognormal,
    kExponential,
    kZipf,
    kValues
  };
  Distribution(Kind kind, double first, double second)
      : kind_(kind), first_(first), second_(second) {}
  static Result<Distribution> from_file(std::string path, double least);
  static Result<Distribution> from_numbers(std::string_view text,
                                           const std::vector<double>& numbers, double least);
  Status tabulate_zipf(double exponent);

  Kind kind_ = Kind::kFixed;
  double first_ = 0;
  double second_ = 0;
  double third_ = 0;
  std::string path_;
  /// The file's values, or zipf's cumulated weights.
  std::shared_ptr<const std::vector<double>> values_;
};

/// Normal with mean 0 and deviation 1.
double draw_normal(Rng& rng);
/// Gamma with this shape and mean 1: gaps between arrivals. Shape 1 is exponential.
double draw_gap(Rng& rng, double shape);

}  // namespace troupe
