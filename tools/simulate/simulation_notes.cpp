#include "tools/simulate/simulation_notes.hpp"

#include <algorithm>

namespace troupe {

void SimulationNotes::note(Time, const ActorRef&, const effect::Note& note) {
  const auto literal = reinterpret_cast<std::uintptr_t>(note.name);
  Series** known = by_literal_.find(literal);
  Series& series = known != nullptr ? **known : *by_literal_.insert(literal, &series_[note.name]);
  switch (note.kind) {
    case effect::NoteKind::kCount:
      series.sum += note.value;
      break;
    case effect::NoteKind::kGauge:
      series.greatest = std::max(series.greatest, note.value);
      break;
    case effect::NoteKind::kObserve:
      series.values.record(note.value);
      break;
    case effect::NoteKind::kInfo:
    case effect::NoteKind::kWarning:
      series.sum += 1;
      break;
  }
}

const SimulationNotes::Series* SimulationNotes::find(std::string_view name) const {
  const auto at = series_.find(name);
  return at == series_.end() ? nullptr : &at->second;
}

double SimulationNotes::counted(std::string_view name) const {
  const Series* series = find(name);
  return series == nullptr ? 0 : series->sum;
}

double SimulationNotes::greatest(std::string_view name) const {
  const Series* series = find(name);
  return series == nullptr ? 0 : series->greatest;
}

const Histogram* SimulationNotes::observed(std::string_view name) const {
  const Series* series = find(name);
  return series == nullptr || series->values.count() == 0 ? nullptr : &series->values;
}

}  // namespace troupe
