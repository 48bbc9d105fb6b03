// Answers a second in the middle half of a run: what a cluster sustains, without the start, when
// nothing has ended yet, and without the end, when nothing more arrives.
//
// Under more load than it takes, that is a cluster's capacity. Bounded: when the samples are too
// many, every other one goes. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/time.hpp"

namespace troupe {

class AnswerRate {
 public:
  /// So many answers until now. `now` and `answers` never go back.
  void add(Time now, std::uint64_t answers) {
    if (calls_++ % stride_ != 0) return;
    samples_.push_back({now, answers});
    if (samples_.size() < kSamplesMost) return;
    for (std::size_t i = 0; i < kSamplesMost / 2; ++i) samples_[i] = samples_[2 * i];
    samples_.resize(kSamplesMost / 2);
    stride_ *= 2;
  }

  /// 0: fewer than four samples, which have no middle.
  double middle() const {
    const std::size_t quarter = samples_.size() / 4;
    if (quarter == 0) return 0;
    const Sample& from = samples_[quarter];
    const Sample& to = samples_[samples_.size() - quarter];
    const double span = (to.at - from.at).seconds();
    return span > 0 ? static_cast<double>(to.answers - from.answers) / span : 0;
  }

 private:
  static constexpr std::size_t kSamplesMost = 4096;
  struct Sample {
    Time at;
    std::uint64_t answers = 0;
  };
  std::vector<Sample> samples_;
  std::uint64_t calls_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace troupe
