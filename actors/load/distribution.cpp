#include "actors/load/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <optional>

#include "actors/load/line_reader.hpp"
#include "runtime/base/finite_number.hpp"

namespace troupe {

namespace {

constexpr double kCountMax = 1e9;

Error no_distribution(std::string_view text, const std::string& why) {
  return Error{Code::kInvalid, "'" + std::string(text) + "': " + why};
}

std::string digits(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

}  // namespace

double draw_normal(Rng& rng) {
  // Box and Muller: one of the two values is enough here.
  const double radius = std::sqrt(-2 * std::log(1.0 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

double draw_gap(Rng& rng, double shape) {
  if (shape == 1) return rng.exponential(1);
  // Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); shapes below 1
  // are drawn one higher and scaled by a power of a uniform.
  const double boost = shape < 1 ? std::pow(1.0 - rng.uniform(), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw_normal(rng);
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1.0 - rng.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v * boost / shape;
    }
  }
}

Distribution Distribution::normal(double mean, double deviation) {
  return deviation == 0 ? Distribution(mean) : Distribution(Kind::kNormal, mean, deviation);
}

Distribution Distribution::uniform(double low, double high) {
  return Distribution(Kind::kUniform, low, high);
}

Result<Distribution> Distribution::parse(std::string_view text, double least) {
  if (text.starts_with("file:")) return from_file(std::string(text.substr(5)), least);
  std::vector<double> numbers;
  const std::size_t colon = text.find(':');
  std::string_view rest = colon == std::string_view::npos ? text : text.substr(colon + 1);
  for (;;) {
    const std::size_t end = rest.find(':');
    const auto number = finite_number(std::string(rest.substr(0, end)));
    if (!number) {
      return no_distribution(
          text,
          "expected a number, or uniform:LOW:HIGH, normal:MEAN:DEVIATION, "
          "lognormal:MEDIAN:SIGMA, exponential:MEAN, zipf:LOW:HIGH:EXPONENT, file:PATH");
    }
    numbers.push_back(*number);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return from_numbers(text, numbers, least);
}

Result<Distribution> Distribution::from_numbers(std::string_view text,
                                                const std::vector<double>& numbers, double least) {
  struct Row {
    std::string_view name;
    Kind kind;
    std::size_t numbers;
  };
  static constexpr Row kRows[] = {{"uniform", Kind::kUniform, 2},
                                  {"normal", Kind::kNormal, 2},
                                  {"lognormal", Kind::kLognormal, 2},
                                  {"exponential", Kind::kExponential, 1},
                                  {"zipf", Kind::kZipf, 3}};
  const std::size_t colon = text.find(':');
  const std::string_view name = colon == std::string_view::npos ? "" : text.substr(0, colon);
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.name == name; });
  if (row == std::end(kRows) && !name.empty()) {
    return no_distribution(text, "there is no distribution " + std::string(name));
  }
  const Kind kind = name.empty() ? Kind::kFixed : row->kind;
  const std::size_t expected = name.empty() ? 1 : row->numbers;
  if (numbers.size() != expected) {
    return no_distribution(text, "expected " + std::to_string(expected) + " number(s)");
  }
  if (numbers[0] < least || numbers[0] > kCountMax) {
    return no_distribution(text, "expected values from " + digits(least) + " to 1e9");
  }
  Distribution made(kind, numbers[0], expected > 1 ? numbers[1] : 0);
  const bool range = kind == Kind::kUniform || kind == Kind::kZipf;
  if (range && (made.second_ < made.first_ || made.second_ > kCountMax)) {
    return no_distribution(text, "the second number is the upper end");
  }
  if (made.second_ < 0) return no_distribution(text, "the second number is not below 0");
  if (kind == Kind::kLognormal && made.first_ <= 0)
    return no_distribution(text, "a median is above 0");
  if (kind == Kind::kZipf) {
    auto status = made.tabulate_zipf(numbers[2]);
    if (!status.ok()) return no_distribution(text, status.error().message);
  }
  return made;
}

Status Distribution::tabulate_zipf(double exponent) {
  if (exponent < 0 || exponent > 100) return Error{Code::kInvalid, "the exponent is from 0 to 100"};
  if (first_ != std::floor(first_) || second_ != std::floor(second_)) {
    return Error{Code::kInvalid, "the ends are whole numbers"};
  }
  if (second_ - first_ >= static_cast<double>(kValuesMax)) {
    return Error{Code::kInvalid, "at most " + std::to_string(kValuesMax) + " different values"};
  }
  third_ = exponent;
  std::vector<double> cumulated;
  double sum = 0;
  for (double rank = 1; rank <= second_ - first_ + 1; ++rank) {
    sum += std::pow(rank, -exponent);
    cumulated.push_back(sum);
  }
  values_ = std::make_shared<const std::vector<double>>(std::move(cumulated));
  return ok_status();
}

Result<Distribution> Distribution::from_file(std::string path, double least) {
  TROUPE_TRY_ASSIGN(LineReader lines, LineReader::open(path));
  std::vector<double> values;
  for (;;) {
    TROUPE_TRY_ASSIGN(const auto text, lines.next());
    if (!text) break;
    std::string line(*text);
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    const auto value = finite_number(line);
    if (!value || *value < least || *value > kCountMax) {
      return Error{Code::kInvalid,
                   lines.where() + ": expected a number from " + digits(least) + " to 1e9"};
    }
    if (values.size() == kValuesMax) {
      return Error{Code::kTooLarge, path + ": more than " + std::to_string(kValuesMax) +
                                        " numbers; take a sample of them"};
    }
    values.push_back(*value);
  }
  if (values.empty()) return Error{Code::kInvalid, path + ": there is no number in it"};
  Distribution made(Kind::kValues, values.front(), 0);
  made.path_ = std::move(path);
  made.values_ = std::make_shared<const std::vector<double>>(std::move(values));
  return made;
}

double Distribution::draw(Rng& rng) const {
  switch (kind_) {
    case Kind::kFixed:
      return first_;
    case Kind::kUniform:
      return first_ + (second_ - first_) * rng.uniform();
    case Kind::kNormal:
      return first_ + second_ * draw_normal(rng);
    case Kind::kLognormal:
      return first_ * std::exp(second_ * draw_normal(rng));
    case Kind::kExponential:
      return rng.exponential(first_);
    case Kind::kZipf: {
      const double point = rng.uniform() * values_->back();
      return first_ + static_cast<double>(
                          std::upper_bound(values_->begin(), std::prev(values_->end()), point) -
                          values_->begin());
    }
    case Kind::kValues:
      return (*values_)[rng.below(values_->size())];
  }
  return first_;
}

std::uint32_t Distribution::draw_count(Rng& rng) const {
  if (kind_ == Kind::kUniform) {
    const double low = std::clamp(std::round(first_), 1.0, kCountMax);
    const double high = std::clamp(std::round(second_), low, kCountMax);
    return static_cast<std::uint32_t>(low) +
           static_cast<std::uint32_t>(rng.below(static_cast<std::uint64_t>(high - low) + 1));
  }
  return static_cast<std::uint32_t>(std::clamp(std::round(draw(rng)), 1.0, kCountMax));
}

std::string Distribution::text() const {
  const std::string first = digits(first_), second = digits(second_);
  switch (kind_) {
    case Kind::kFixed:
      return first;
    case Kind::kUniform:
      return "uniform:" + first + ":" + second;
    case Kind::kNormal:
      return "normal:" + first + ":" + second;
    case Kind::kLognormal:
      return "lognormal:" + first + ":" + second;
    case Kind::kExponential:
      return "exponential:" + first;
    case Kind::kZipf:
      return "zipf:" + first + ":" + second + ":" + digits(third_);
    case Kind::kValues:
      return "file:" + path_;
  }
  return first;
}

}  // namespace troupe
