// A conversation that is kept between requests of /v1/responses: bodies and response objects in,
// bodies out. What an earlier request said as `instructions` is no part of it, as with the vendor.
//
// Why texts: stored items are the client's and ours as they were sent. Put before the items of the
// next request they go through the same checks as if the client had sent them all.
//
// Texts are valid JSON or give nothing; "items" are the elements of a list with commas between.
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::recipe {

/// The value of previous_response_id, if it is a text that is not empty. The body is not parsed for
/// it, and may be no JSON.
std::optional<std::string> previous_response_of(std::string_view body);

/// The items of a body's input as they were written; a text is a user's message. Requires: the body
/// is valid JSON, which is not parsed again.
std::string input_items_of(std::string_view body);

/// The items of a response object's output.
std::optional<std::string> output_items_of(std::string_view response);

/// The body with `earlier` items before its own, and without previous_response_id.
std::optional<std::string> with_earlier_items(std::string_view body, std::string_view earlier);

/// Appends items to items.
void append_items(std::string& items, std::string_view more);

}  // namespace troupe::recipe
