// One self-contained page of a simulated run: curves, distributions, slowest requests, all figures.
//
// The page (report_page.html) and Chart.js, which is Debian's, are part of the program; the data of
// the run is put into the page as JSON. It loads nothing from anywhere.
#pragma once

#include <string>

#include "actors/traffic/report_text.hpp"
#include "runtime/simulation/fault_marks.hpp"
#include "tools/simulate/request_timelines.hpp"
#include "tools/simulate/run_series.hpp"

namespace troupe {

struct ReportPage {
  std::string title;
  std::string command;  ///< that gives the same run again
  const TrafficReport* traffic = nullptr;
  const RunSeries* series = nullptr;
  const FaultMarks* marks = nullptr;  ///< nullptr: its plan has no faults
  std::vector<RequestTimeline> slowest;
  ReportLines facts;
};

std::string html_of(const ReportPage& page);

/// Writes a file at once or not at all.
/// Errors: kInvalid with the path and the reason.
Status write_report_file(const std::string& path, const std::string& text);

}  // namespace troupe
