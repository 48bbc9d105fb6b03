// In which order the items of a Responses history are read.
//
// Why not as they come: clients put messages between a call and its output (Codex does), while in a
// conversation the results of calls follow them directly. So outputs that come late are read before
// whatever stands between. An output whose call is not open stays where it is, and is refused
// there.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/recipe/request/responses_shape.hpp"

namespace troupe::recipe {

/// Every position of `items` once.
std::vector<std::size_t> reading_order(const List<ResponsesItem>& items);

}  // namespace troupe::recipe
