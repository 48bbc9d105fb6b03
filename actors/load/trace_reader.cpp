#include "actors/load/trace_reader.hpp"

namespace troupe {

Error TraceReader::here(const Error& error) const {
  return Error{error.code, lines_.where() + ": " + error.message};
}

Result<TraceReader> TraceReader::open(const std::string& path, std::uint32_t block_tokens) {
  TROUPE_TRY_ASSIGN(LineReader lines, LineReader::open(path));
  TraceReader reader(std::move(lines), block_tokens);
  TROUPE_TRY_ASSIGN(const auto line, reader.next_line());
  if (!line) return Error{Code::kInvalid, path + ": there is no row in it"};
  if (line->starts_with('{')) {
    reader.first_ = std::string(*line);
    return reader;
  }
  auto columns = parse_csv_header(*line);
  if (!columns.ok()) return reader.here(columns.error());
  reader.columns_ = *columns;
  return reader;
}

Result<std::optional<std::string_view>> TraceReader::next_line() {
  for (;;) {
    TROUPE_TRY_ASSIGN(const auto line, lines_.next());
    if (!line || line->find_first_not_of(" \t") != std::string_view::npos) return line;
  }
}

Result<TraceRow> TraceReader::parse(std::string_view line) const {
  auto row = columns_ ? parse_csv_row(line, *columns_) : parse_json_row(line, block_tokens_);
  if (!row.ok()) return row;
  // Whether it can be played is the source's to say: that depends on the speed.
  if (row->at_ms && !(std::abs(*row->at_ms) <= 1e14)) {
    return Error{Code::kInvalid, "its time is no time: at most 1e14 ms are"};
  }
  if (row->at_ms && last_ms_ && *row->at_ms < *last_ms_) {
    return Error{Code::kInvalid, "its time is before that of the row above; sort the trace"};
  }
  if (!row->at_ms && last_ms_) return Error{Code::kInvalid, "it has no time; the rows above have"};
  return row;
}

Result<std::optional<TraceRow>> TraceReader::next() {
  for (;;) {
    std::optional<std::string_view> line;
    const std::optional<std::string> first = std::exchange(first_, std::nullopt);
    if (first) {
      line = *first;
    } else {
      TROUPE_TRY_ASSIGN(line, next_line());
    }
    if (!line) return std::optional<TraceRow>();
    auto row = parse(*line);
    if (!row.ok()) return here(row.error());
    last_ms_ = row->at_ms;
    if (row->input_tokens == 0 || row->output_tokens == 0) {
      ++left_out_;
      continue;
    }
    ++rows_;
    return std::optional(std::move(row).value());
  }
}

}  // namespace troupe
