#include "runtime/cluster/identity.hpp"

#include <chrono>
#include <random>

namespace troupe {

NodeId draw_node_id() {
  std::random_device system;
  return NodeId(std::uniform_int_distribution<std::uint32_t>(1, 0x7fffffff)(system));
}

std::uint32_t draw_incarnation() {
  constexpr std::int64_t k2025 = 1'735'689'600'000;  // 2025-01-01T00:00:00Z in ms
  constexpr std::int64_t kUnit = 125;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return ms > k2025 ? static_cast<std::uint32_t>((ms - k2025) / kUnit) + 1 : 1;
}

}  // namespace troupe
