// What the table of a message type holds, and how a folder makes its own.
//
// Included by the .cpp that owns messages, which names each of them once:
//   template const MessageType& message_type<SubmitRow>();
// A message that nobody names does not link.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "runtime/actor/message.hpp"

namespace troupe {

namespace detail {

template <class M>
void destroy(const Payload* payload) {
  delete static_cast<const PayloadOf<M>*>(payload);
}
template <class M>
void encode(const Payload& payload, std::string& out) {
  Encoder(out).put(value_of<M>(payload));
}
template <class M>
Result<Message> decode(std::string_view bytes) {
  Decoder decoder(bytes);
  M value{};
  decoder.get(value);
  if (decoder.ok() && !decoder.rest().empty()) decoder.fail("bytes after the last field");
  TROUPE_TRY(decoder.status());
  return make_message<M>(std::move(value));
}
template <class M>
std::uint64_t digest(const Payload& payload) {
  Digest digest(M::info.kind);
  FieldDigester(digest).put(value_of<M>(payload));
  return digest.value();
}
template <class M>
void print(const Payload& payload, std::string& out) {
  FieldPrinter(out).put(value_of<M>(payload));
}

}  // namespace detail

template <class M>
const MessageType& message_type() {
  static constexpr MessageType type{M::info,
                                    &detail::destroy<M>,
                                    &detail::encode<M>,
                                    &detail::decode<M>,
                                    &detail::digest<M>,
                                    &detail::print<M>};
  return type;
}

}  // namespace troupe
