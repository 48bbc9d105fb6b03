// What faults of a plan did to a run, and when: for those who look at its curves.
//
// Bounded: of more than kMost the first ones are kept, the others counted. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/time.hpp"
#include "runtime/simulation/fault_plan.hpp"

namespace troupe {

/// "kill decode_instance 1", "slow storage_read to 0.1": as in a plan. `which`: of its pool.
std::string text_of(const ClusterFault& fault, std::uint32_t which);

class FaultMarks {
 public:
  static constexpr std::size_t kMost = 200;
  struct Mark {
    Time at;
    std::string text;
  };

  void add(Time at, std::string text) {
    if (marks_.size() < kMost) {
      marks_.push_back({at, std::move(text)});
    } else {
      ++left_out_;
    }
  }
  const std::vector<Mark>& all() const { return marks_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::vector<Mark> marks_;
  std::uint64_t left_out_ = 0;
};

}  // namespace troupe
