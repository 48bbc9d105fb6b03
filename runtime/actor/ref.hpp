// References: names of actors that never dangle.
//
// An `ActorRef` says where (node, incarnation), who (local id) and which life. A child's local id
// is a hash of its parent's and a counter, so that ids are the same in every run of a seed;
// sixteen children in sequence are neighbours, for tables of them (base/id_map.hpp). A
// restart keeps the id and raises the life: a message to the old life comes back as Undeliverable.
// Only hosts hold routes; a reference is a value that anyone may copy, store and send.
//
// `Ref<P>` is an ActorRef whose protocol is known: sending a message outside of P does not compile.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "runtime/base/rng.hpp"
#include "runtime/base/strong.hpp"

namespace troupe {

struct NodeId : Strong<NodeId, std::uint32_t> {
  using Strong::Strong;
};

struct ActorRef {
  NodeId node;
  std::uint32_t incarnation = 0;  ///< of the node: grows whenever it joins anew
  std::uint64_t local = 0;        ///< 0: nobody
  std::uint32_t life = 0;

  explicit operator bool() const { return local != 0; }
  friend auto operator<=>(const ActorRef&, const ActorRef&) = default;
  static void fields(auto& self, auto&& visit) {
    visit("node", self.node);
    visit("incarnation", self.incarnation);
    visit("local", self.local);
    visit("life", self.life);
  }
};

/// Ids of a parent's children that are neighbours.
inline constexpr std::uint64_t kChildrenTogether = 4'096;

/// Different for all actors that a process will ever know together; neighbours for neighbours of a
/// node in the same life; never 0.
constexpr std::uint64_t hash_of(const ActorRef& ref) {
  const std::uint64_t hash = mix64(ref.local / kChildrenTogether, mix64(ref.node.value, ref.life)) /
                                 kChildrenTogether * kChildrenTogether +
                             ref.local % kChildrenTogether;
  return hash == 0 ? kChildrenTogether : hash;
}

/// "2.1/7f3a…#3": node.incarnation/local id#life.
std::string to_string(const ActorRef& ref);

/// The local id of the counter-th child of `parent`. Never 0.
constexpr std::uint64_t child_id(std::uint64_t parent, std::uint64_t counter) {
  const std::uint64_t id =
      mix64(parent, counter / kChildrenTogether) / kChildrenTogether * kChildrenTogether +
      counter % kChildrenTogether;
  return id == 0 ? kChildrenTogether : id;
}

/// The local id of a node's root actor called `name`.
constexpr std::uint64_t root_id(NodeId node, std::uint64_t name) {
  return child_id(mix64(0x726f6f74, node.value), name);
}

/// The messages that an actor accepts.
template <class... Messages>
struct Protocol {
  template <class M>
  static constexpr bool accepts = (std::is_same_v<M, Messages> || ...);
};

template <class P>
struct Ref : ActorRef {
  Ref() = default;
  explicit Ref(const ActorRef& ref) : ActorRef(ref) {}
};

}  // namespace troupe

template <>
struct std::hash<troupe::ActorRef> {
  std::size_t operator()(const troupe::ActorRef& ref) const noexcept {
    return ref.local ^ (static_cast<std::uint64_t>(ref.life) << 48) ^ ref.node.value;
  }
};
