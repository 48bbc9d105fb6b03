// How many tokens a request will probably produce, by its class of traffic.
//
// Why: a decode GPU must have room for a request's output too, which nobody knows when it is
// placed. Too small a guess ends in preemption, too large a one wastes memory; the running mean of
// the class is the middle. The class is whatever the entrypoint tells apart (chat, agent, batch).
//
// Pure; one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace troupe {

class OutputEstimate {
 public:
  static constexpr std::uint8_t kClasses = 16;

  /// `most`: the request's own bound; 0 if it has none.
  std::uint32_t of(std::uint8_t traffic, std::uint32_t most) const {
    const auto guess = static_cast<std::uint32_t>(means_[traffic % kClasses]);
    return most == 0 ? guess : std::min(guess, most);
  }
  void ended(std::uint8_t traffic, std::uint32_t tokens) {
    double& mean = means_[traffic % kClasses];
    mean += kNewest * (tokens - mean);
  }

 private:
  /// Weight of the newest request: the mean follows some hundred of them.
  static constexpr double kNewest = 0.01;
  static constexpr std::array<double, kClasses> starting_means() {
    std::array<double, kClasses> means{};
    for (double& mean : means) mean = 800;  // the output of the seeds' example (77K in, 800 out)
    return means;
  }
  std::array<double, kClasses> means_ = starting_means();
};

}  // namespace troupe
