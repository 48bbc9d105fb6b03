// Lets one caller in at a time and turns the others away: for jobs that may overlap when one of
// them was given up as late, and that must not wait for each other.
//
// Threads: any. Ownership: a Turn ends before what it was taken of.
#pragma once

#include <atomic>

namespace troupe {

class OneAtATime {
 public:
  /// Holds the place until its end; false if somebody else has it.
  class Turn {
   public:
    explicit Turn(OneAtATime& place) : place_(place.taken_.exchange(true) ? nullptr : &place) {}
    ~Turn() {
      if (place_ != nullptr) place_->taken_ = false;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return place_ != nullptr; }

   private:
    OneAtATime* place_;
  };

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace troupe
