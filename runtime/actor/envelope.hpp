// Envelopes: one message on its way, and the codec that carries it to another node.
//
// Wire form of an envelope: from, to (ActorRef each), kind (u16), payload length (u32), payload. A
// frame is the envelopes of one turn to one node, one after another, behind a count (u32).
//
// Bounds: a payload is at most kPayloadMax bytes and a frame at most kFrameMax envelopes; decode
// refuses what is larger, truncated, of unknown kind, or followed by more bytes, and never
// allocates more than in proportion to its input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"

namespace troupe {

struct Envelope {
  ActorRef from;
  ActorRef to;
  Message message;
};

/// The types that may come over a wire, by kind. Filled once at start-up, then only read.
class MessageRegistry {
 public:
  /// Requires: no other type has M's kind.
  template <class M>
  void add() {
    insert(message_type<M>());
  }
  template <class... Ms>
  void add(Protocol<Ms...>) {
    (add<Ms>(), ...);
  }

  /// nullptr if nobody registered the kind.
  const MessageType* find(std::uint16_t kind) const;
  /// All types, by kind: for the test that sends each through the codec.
  std::vector<const MessageType*> all() const;
  /// A hash over kinds and names: nodes that differ refuse each other.
  std::uint64_t protocol_hash() const;

 private:
  void insert(const MessageType& type);
  std::vector<const MessageType*> types_;  ///< sorted by kind
};

inline constexpr std::size_t kPayloadMax = 64u << 20;
inline constexpr std::size_t kFrameMax = 1u << 16;

/// Requires: a payload within kPayloadMax (senders bound them).
void append_envelope(const Envelope& envelope, std::string& out);
/// Requires: payloads within kPayloadMax, at most kFrameMax envelopes.
std::string encode_frame(const std::vector<Envelope>& envelopes);
Result<std::vector<Envelope>> decode_frame(std::string_view bytes, const MessageRegistry& registry);

}  // namespace troupe
