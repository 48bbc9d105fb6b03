// Values of a run over virtual time, in bounded memory: when the points are too many, neighbours
// become one. What a report draws.
//
// Threads: one.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace troupe {

/// Lines that belong into one chart.
struct RunChart {
  std::string title;
  std::string unit;
  std::vector<std::string> lines;
  bool logarithmic = false;
  /// points[i]: of lines[i], one a time. NaN: nothing to say.
  std::vector<std::vector<double>> points;
};

class RunSeries {
 public:
  static constexpr std::size_t kPointsMost = 600;  ///< even

  /// Before the first add(), whose values come in this order.
  void add_chart(RunChart chart) {
    charts_.push_back(std::move(chart));
    charts_.back().points.resize(charts_.back().lines.size());
  }
  /// One sample: for each chart a value a line.
  void add(double time, const std::vector<std::vector<double>>& values) {
    sums_.resize(charts_.size());
    for (std::size_t chart = 0; chart < charts_.size(); ++chart) {
      sums_[chart].resize(charts_[chart].lines.size());
      for (std::size_t line = 0; line < sums_[chart].size(); ++line) {
        sums_[chart][line].add(values[chart][line]);
      }
    }
    if (++samples_ < merged_) return;
    samples_ = 0;
    times_.push_back(time);
    for (std::size_t chart = 0; chart < charts_.size(); ++chart) {
      for (std::size_t line = 0; line < sums_[chart].size(); ++line) {
        charts_[chart].points[line].push_back(sums_[chart][line].take());
      }
    }
    if (times_.size() == kPointsMost) halve();
  }

  const std::vector<double>& times() const { return times_; }
  const std::vector<RunChart>& charts() const { return charts_; }
  /// Samples that one point stands for.
  std::size_t merged() const { return merged_; }

 private:
  /// The mean of what says something.
  struct Sum {
    double total = 0;
    std::size_t count = 0;
    void add(double value) {
      if (std::isnan(value)) return;
      total += value;
      ++count;
    }
    double take() {
      const double mean = count == 0 ? std::nan("") : total / static_cast<double>(count);
      *this = {};
      return mean;
    }
  };

  void halve() {
    const std::size_t half = kPointsMost / 2;
    for (std::size_t i = 0; i < half; ++i) times_[i] = times_[2 * i + 1];
    times_.resize(half);
    for (RunChart& chart : charts_) {
      for (auto& line : chart.points) {
        for (std::size_t i = 0; i < half; ++i) {
          Sum both;
          both.add(line[2 * i]);
          both.add(line[2 * i + 1]);
          line[i] = both.take();
        }
        line.resize(half);
      }
    }
    merged_ *= 2;
  }

  std::vector<double> times_;
  std::vector<RunChart> charts_;
  std::vector<std::vector<Sum>> sums_;  ///< of the point that is being made
  std::size_t samples_ = 0;             ///< in it
  std::size_t merged_ = 1;
};

}  // namespace troupe
