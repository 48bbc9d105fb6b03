// Where metrics and log lines of cores go.
//
// A core asks for a Note; the world (simulation) or the live system hands it to one sink. In
// simulation calls come from one thread; live they come from every scheduler thread, so that a
// sink that serves a live system locks its own state.
#pragma once

#include "runtime/actor/effects.hpp"

namespace troupe {

class NoteSink {
 public:
  virtual ~NoteSink() = default;
  virtual void note(Time now, const ActorRef& from, const effect::Note& note) = 0;
};

}  // namespace troupe
