// The rows of a trace file in order, one at a time: millions of rows need no more memory than one.
//
// The format is seen at the first line: JSON objects (Mooncake, agentic), or the header of a CSV
// file (Azure, BurstGPT); plain or gzip. Rows without an input or an output token, as BurstGPT has
// for requests that failed, are left out and counted. Empty lines are left out.
//
// Errors: "FILE:LINE: …": a row that breaks its format, times that go back, the file.
#pragma once

#include "actors/load/line_reader.hpp"
#include "actors/load/trace_row.hpp"

namespace troupe {

class TraceReader {
 public:
  /// Looks at the first line, too.
  static Result<TraceReader> open(const std::string& path, std::uint32_t block_tokens);

  Result<std::optional<TraceRow>> next();
  std::uint64_t rows() const { return rows_; }  ///< given out so far
  std::uint64_t left_out() const { return left_out_; }

 private:
  TraceReader(LineReader lines, std::uint32_t block_tokens)
      : lines_(std::move(lines)), block_tokens_(block_tokens) {}
  Result<std::optional<std::string_view>> next_line();
  Result<TraceRow> parse(std::string_view line) const;
  Error here(const Error& error) const;

  LineReader lines_;
  std::uint32_t block_tokens_;
  std::optional<CsvColumns> columns_;  ///< nothing: JSONL
  std::optional<std::string> first_;   ///< a JSONL file's first line, until it is asked for
  std::optional<double> last_ms_;
  std::uint64_t rows_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace troupe
