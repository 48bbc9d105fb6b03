// Rows of CSV traces.
//
// Azure LLM inference: TIMESTAMP,ContextTokens,GeneratedTokens, times as 2023-11-16
// 18:15:46.6805900 or 2024-05-10 00:00:00.009930+00:00 (UTC whatever the end says: only differences
// count). BurstGPT: Timestamp (seconds), Request tokens, Response tokens, perhaps Session ID, other
// columns beside them. Fields may be quoted. Neither says which prompts share a beginning.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "actors/load/trace_row.hpp"
#include "runtime/base/finite_number.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {

Error bad_csv(const std::string& why) {
  return Error{Code::kInvalid, why};
}

using Cells = std::vector<std::string_view>;

/// Takes a quoted field off the line, up to its comma. Quotes that are doubled in it stay
/// so: no field that is read has any.
Result<std::string_view> take_quoted(std::string_view& line) {
  std::size_t end = line.find('"', 1);
  while (end != std::string_view::npos && line.substr(end + 1).starts_with('"')) {
    end = line.find('"', end + 2);
  }
  if (end == std::string_view::npos) {
    return bad_csv("a quote is not closed; a field must end on its line");
  }
  const std::string_view field = line.substr(1, end - 1);
  line.remove_prefix(end + 1);
  if (!line.empty() && !line.starts_with(',')) {
    return bad_csv("there is text behind the closing quote of '" +
                   std::string(field.substr(0, 40)) + "'");
  }
  return field;
}

/// By RFC 4180, but for fields of several lines.
Result<Cells> cells_of(std::string_view line) {
  Cells cells;
  for (;;) {
    if (line.starts_with('"')) {
      TROUPE_TRY_ASSIGN(const std::string_view field, take_quoted(line));
      cells.push_back(field);
    } else {
      cells.push_back(line.substr(0, line.find(',')));
      line.remove_prefix(cells.back().size());
    }
    if (line.empty()) return cells;
    line.remove_prefix(1);
  }
}

std::optional<std::size_t> column(const Cells& cells, std::string_view name) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == name) return i;
  }
  return std::nullopt;
}

/// Days from 0000-03-01, as if the calendar had always been ours: only differences count. Years
/// begin in March, so that a leap day ends one.
std::int64_t day_number(int year, int month, int day) {
  const int years = month < 3 ? year - 1 : year;
  const int months = (month + 9) % 12;
  return 365LL * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
}

std::optional<double> date_ms(std::string_view cell) {
  const std::string text(cell);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2d-%2d %2d:%2d:%n", &year, &month, &day, &hour,
                               &minute, &used);
  if (read != 5 || used == 0) return std::nullopt;
  const std::string rest = text.substr(static_cast<std::size_t>(used));
  const auto seconds = finite_number(rest.substr(0, rest.find_first_not_of("0123456789.")));
  if (!seconds || *seconds >= 61 || year < 1 || month < 1 || month > 12 || day < 1 || day > 31 ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59) {
    return std::nullopt;
  }
  const auto minutes = (day_number(year, month, day) * 24 + hour) * 60 + minute;
  return static_cast<double>(minutes) * 60'000 + *seconds * 1e3;
}

Status take_tokens(std::string_view cell, const char* what, std::uint32_t& tokens) {
  const auto number = finite_number(cell);
  if (!number || *number < 0 || *number > (1u << 30) || *number != std::floor(*number)) {
    return bad_csv(std::string("expected a whole number of ") + what + " tokens, found '" +
                   std::string(cell.substr(0, 40)) + "'");
  }
  tokens = static_cast<std::uint32_t>(*number);
  return ok_status();
}

}  // namespace

Result<CsvColumns> parse_csv_header(std::string_view line) {
  TROUPE_TRY_ASSIGN(const Cells cells, cells_of(line));
  CsvColumns columns;
  const auto azure = column(cells, "TIMESTAMP"), burst = column(cells, "Timestamp");
  const auto input = azure ? column(cells, "ContextTokens") : column(cells, "Request tokens");
  const auto output = azure ? column(cells, "GeneratedTokens") : column(cells, "Response tokens");
  if ((!azure && !burst) || !input || !output) {
    return bad_csv(
        "no format that is known: expected JSON objects, or a first line with "
        "TIMESTAMP,ContextTokens,GeneratedTokens (Azure) or Timestamp,…,Request tokens,Response "
        "tokens (BurstGPT)");
  }
  columns.dates = azure.has_value();
  columns.time = azure ? *azure : *burst;
  columns.input = *input;
  columns.output = *output;
  columns.session = column(cells, "Session ID");
  return columns;
}

Result<TraceRow> parse_csv_row(std::string_view line, const CsvColumns& columns) {
  TROUPE_TRY_ASSIGN(const Cells cells, cells_of(line));
  const std::size_t least = std::max({columns.time, columns.input, columns.output}) + 1;
  if (cells.size() < least) {
    return bad_csv("expected at least " + std::to_string(least) + " columns, found " +
                   std::to_string(cells.size()));
  }
  TraceRow row;
  const std::string_view time = cells[columns.time];
  row.at_ms = columns.dates ? date_ms(time) : finite_number(time);
  if (!row.at_ms) {
    return bad_csv("'" + std::string(time.substr(0, 40)) + "' is no " +
                   (columns.dates ? "date as 2023-11-16 18:15:46.68" : "number of seconds"));
  }
  if (!columns.dates) *row.at_ms *= 1e3;
  TROUPE_TRY(take_tokens(cells[columns.input], "request", row.input_tokens));
  TROUPE_TRY(take_tokens(cells[columns.output], "response", row.output_tokens));
  if (columns.session && *columns.session < cells.size() && !cells[*columns.session].empty()) {
    std::uint64_t hash = 0;
    for (const char c : cells[*columns.session]) hash = mix64(hash, static_cast<unsigned char>(c));
    row.session = hash;
  }
  return row;
}

}  // namespace troupe
