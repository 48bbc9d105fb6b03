// What GET shows of a kept response: all of it, or pages of the items that were its input.
//
// Pages are OpenAI's: `limit` (1 to 100, 20 without it), `order` (asc, or desc without it), `after`
// (the id of the last item seen). Items are the request's own, not those of the conversation that
// it went on with. An item that came without an id has one made of its place and the response's id,
// so that it can be named in `after`; messages are shown in their long form.
//
// Threads: pure functions; a page is made on the Compute pool.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "actors/request/request_messages.hpp"
#include "runtime/recipe/text/api_error.hpp"

namespace troupe {

struct ShownItems {
  std::uint32_t limit = 20;
  bool ascending = false;
  std::string after;  ///< empty: from the beginning
};

/// The query of a GET. The error names the parameter. Without `input_items` only `stream` counts,
/// which is refused: a kept response is not streamed again.
std::variant<ShownItems, ApiError> read_shown(std::string_view query, bool input_items);

/// The answer to a query that read_shown() took; 400 if `after` names no item.
Prepared input_items_answer(const StoredResponse& response, std::string_view query);

}  // namespace troupe
