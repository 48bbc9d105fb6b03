// Collects the metrics that cores note during a simulation.
#pragma once

#include <map>
#include <string_view>

#include "actors/traffic/histogram.hpp"
#include "runtime/actor/note_sink.hpp"
#include "runtime/base/flat_map.hpp"

namespace troupe {

class SimulationNotes final : public NoteSink {
 public:
  void note(Time now, const ActorRef& from, const effect::Note& note) override;

  /// The sum of a counter over all actors and labels; 0 if nobody counted.
  double counted(std::string_view name) const;
  /// The greatest value that a gauge had.
  double greatest(std::string_view name) const;
  /// nullptr if nobody observed one.
  const Histogram* observed(std::string_view name) const;

 private:
  struct Series {
    double sum = 0;
    double greatest = 0;
    Histogram values;
  };
  const Series* find(std::string_view name) const;

  std::map<std::string_view, Series> series_;  ///< names are literals: they live forever
  FlatMap<Series*> by_literal_;                ///< the same, found without comparing text
};

}  // namespace troupe
