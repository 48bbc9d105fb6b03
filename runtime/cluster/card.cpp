#include "runtime/cluster/card.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

constexpr Duration kHeartbeatMin = milliseconds(10);
constexpr Duration kHeartbeatMax = seconds(60);
constexpr std::size_t kTextMax = 1024;
constexpr std::size_t kRolesMax = 16;

std::string hex(std::uint64_t number) {
  char text[16];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number, 16);
  return std::string(text, end);
}

std::string both(const std::string& self, const std::string& other) {
  return " (" + self + " here, " + other + " there)";
}

bool well_formed(const NodeCard& card) {
  const bool texts = card.version.size() <= kTextMax && card.model.size() <= kTextMax &&
                     card.kv_layout.size() <= kTextMax && card.roles.size() <= kRolesMax &&
                     std::all_of(card.roles.begin(), card.roles.end(),
                                 [](const std::string& role) { return role.size() <= kTextMax; });
  const bool root =
      !card.root || (card.root.node == card.node && card.root.incarnation == card.incarnation);
  return texts && root && card.heartbeat >= kHeartbeatMin && card.heartbeat <= kHeartbeatMax;
}

}  // namespace

std::optional<std::string> mismatch(const NodeCard& self, const NodeCard& other) {
  const std::string same_build = ": both nodes must run the same build";
  if (self.link_version != other.link_version) {
    return "link version differs" +
           both(std::to_string(self.link_version), std::to_string(other.link_version)) + same_build;
  }
  if (!well_formed(other)) return std::string("its card is not well-formed");
  if (self.version != other.version) {
    return "version differs" + both(self.version, other.version) + same_build;
  }
  if (self.protocol_hash != other.protocol_hash) {
    return "protocol hash differs" + both(hex(self.protocol_hash), hex(other.protocol_hash)) +
           same_build;
  }
  if (self.node == other.node) {
    return "node id " + std::to_string(self.node.value) +
           " is taken: give each node an id of its own, or none";
  }
  if (!self.model.empty() && !other.model.empty() && self.model != other.model) {
    return "model differs" + both(self.model, other.model) + ": both nodes must serve the same one";
  }
  if (!self.kv_layout.empty() && !other.kv_layout.empty() && self.kv_layout != other.kv_layout) {
    return "KV layout differs" + both(self.kv_layout, other.kv_layout);
  }
  return std::nullopt;
}

std::string name_of(const NodeCard& card) {
  return "node " + std::to_string(card.node.value) + " (incarnation " +
         std::to_string(card.incarnation) + ")";
}

}  // namespace troupe
