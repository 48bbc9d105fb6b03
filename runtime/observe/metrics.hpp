// Metrics: what cores note, as a Prometheus page.
//
// Names that dashboards already know keep their `vllm:` form (DEFAULTS.md section 3); new facts
// have the prefix troupe_. The table in metrics.cpp says each name's kind, help, label and buckets;
// a name that is not in the table is a wiring fault and fails an assertion at its first note, so
// that no client can make a new series.
//
// Threads: note() and render() from any thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/actor/note_sink.hpp"

namespace troupe {

class Metrics {
 public:
  /// `model_name` is the label that vLLM puts on every series.
  explicit Metrics(std::string model_name);
  ~Metrics();

  void note(const ActorRef& from, const effect::Note& note);
  /// A value that is read rather than noted (actors alive, dead letters); sets a gauge.
  void set(const char* name, double value);
  /// The text exposition format.
  std::string render();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe
