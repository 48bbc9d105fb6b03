// One recorded request, whatever format it was written in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe {

struct TraceRow {
  std::optional<double> at_ms;  ///< of the trace's own clock
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::optional<std::uint64_t> session;
  std::uint32_t turn = 0;
  /// Equal ids at equal places are equal blocks of the prompt; empty: not recorded.
  std::vector<std::uint64_t> hash_ids;
  /// All prompts of the session are beginnings of one text, which starts with its group's.
  bool grows = false;
  std::uint64_t group = 0;
  std::uint32_t group_tokens = 0;
};

/// What a CSV file's first line says about the others.
struct CsvColumns {
  std::size_t time = 0;
  std::size_t input = 0;
  std::size_t output = 0;
  std::optional<std::size_t> session;
  bool dates = false;  ///< times are dates (Azure), else seconds (BurstGPT)
};

/// A line of JSONL: Mooncake's fields, or those of the agentic traces beside them. Errors: what is
/// wrong, without file and line.
Result<TraceRow> parse_json_row(std::string_view line, std::uint32_t block_tokens);
/// Azure: TIMESTAMP,ContextTokens,GeneratedTokens. BurstGPT: Timestamp,[Session ID,…],Request
/// tokens,Response tokens,… in any order.
Result<CsvColumns> parse_csv_header(std::string_view line);
Result<TraceRow> parse_csv_row(std::string_view line, const CsvColumns& columns);

}  // namespace troupe
