// Who a node is: its id and its incarnation, drawn once at the start of its process.
//
// A node without a configured id draws one at random, so that nobody must hand out ids before the
// actor system (which needs one) can exist. The incarnation comes from the wall clock in units of
// 1/8 s, so that a process that starts later under the same configured id has a greater one.
#pragma once

#include <cstdint>

#include "runtime/actor/ref.hpp"

namespace troupe {

/// 1 … 2^31 - 1, from the operating system's random numbers: among 1,000 nodes two are the same
/// once in 4,000 clusters. The handshake refuses the second.
NodeId draw_node_id();

/// Grows with time; 32 bits last from 2025 to 2042.
std::uint32_t draw_incarnation();

}  // namespace troupe
