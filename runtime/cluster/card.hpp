// A node's card: what it says of itself when it joins, and when two nodes may work together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/actor/ref.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// The form of the link's own messages (link_messages.hpp). Grows when they change.
inline constexpr std::uint32_t kLinkVersion = 1;

struct NodeCard {
  std::uint32_t link_version = kLinkVersion;
  std::string version;              ///< of Troupe
  std::uint64_t protocol_hash = 0;  ///< MessageRegistry::protocol_hash
  NodeId node;
  std::uint32_t incarnation = 0;  ///< of its process: the one in its actors' references
  std::vector<std::string> roles;
  std::string model;           ///< name and fingerprint; empty: serves none
  std::string kv_layout;       ///< empty: holds none
  std::uint32_t capacity = 0;  ///< requests at once
  Duration heartbeat;          ///< how often it promises to be heard
  ActorRef root;

  static void fields(auto& self, auto&& visit) {
    visit("link_version", self.link_version);
    visit("version", self.version);
    visit("protocol_hash", self.protocol_hash);
    visit("node", self.node);
    visit("incarnation", self.incarnation);
    visit("roles", self.roles);
    visit("model", self.model);
    visit("kv_layout", self.kv_layout);
    visit("capacity", self.capacity);
    visit("heartbeat", self.heartbeat);
    visit("root", self.root);
  }
};

/// Why `self` refuses `other`, for people; nothing: they match.
std::optional<std::string> mismatch(const NodeCard& self, const NodeCard& other);

/// "node 7 (incarnation 3)".
std::string name_of(const NodeCard& card);

}  // namespace troupe
