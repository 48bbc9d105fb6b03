// References: names of actors that never dangle.
//
// An `ActorRef` says where (node, incarnation), who (local id) and which life. A child's local id
// is a hash of its parent's and a counter, so that ids are the same in every run of a seed; those
// that come together are neighbours, for tables of them (base/id_map.hpp). A restart keeps the id
// and raises the life: a message to the old life comes back as Undeliverable.
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

/// So many ids are neighbours.
inline constexpr std::uint64_t kNeighbours = 4'096;

namespace detail {
/// The place-th of a block of neighbours. Never 0.
constexpr std::uint64_t neighbour(std::uint64_t block, std::uint64_t place) {
  const std::uint64_t id = block / kNeighbours * kNeighbours + place % kNeighbours;
  return id == 0 ? kNeighbours : id;
}
}  // namespace detail

/// Different for all actors that a process will ever know together; neighbours for neighbours of
/// the same life; never 0.
constexpr std::uint64_t hash_of(const ActorRef& ref) {
  return detail::neighbour(mix64(ref.local / kNeighbours, ref.life), ref.local);
}

/// "2.1/7f3a…#3": node.incarnation/local id#life.
std::string to_string(const ActorRef& ref);

/// The local id of the counter-th child of that life of `parent`. Never 0. Children in sequence are
/// neighbours, but for the first: it is one of its cousins, since whoever has many alike with one
/// child each (the groups of a cluster) made them neighbours.
constexpr std::uint64_t child_id(const ActorRef& parent, std::uint64_t counter) {
  if (counter == 1) {
    return detail::neighbour(mix64(0x66697273, mix64(parent.local / kNeighbours, parent.life)),
                             parent.local);
  }
  return detail::neighbour(mix64(mix64(parent.local, parent.life), counter / kNeighbours), counter);
}

/// The local id of a node's root actor called `name`: a neighbour of those of other nodes.
constexpr std::uint64_t root_id(NodeId node, std::uint64_t name) {
  return detail::neighbour(mix64(mix64(0x726f6f74, name), node.value / kNeighbours), node.value);
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
