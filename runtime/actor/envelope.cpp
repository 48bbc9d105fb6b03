#include "runtime/actor/envelope.hpp"

#include <algorithm>

namespace troupe {

void MessageRegistry::insert(const MessageType& type) {
  const auto at = std::lower_bound(
      types_.begin(), types_.end(), type.info.kind,
      [](const MessageType* t, std::uint16_t kind) { return t->info.kind < kind; });
  if (at != types_.end() && (*at)->info.kind == type.info.kind) {
    TROUPE_ASSERT((*at)->info.name == type.info.name, "two message types have the same kind");
    return;
  }
  types_.insert(at, &type);
}

const MessageType* MessageRegistry::find(std::uint16_t kind) const {
  const auto at =
      std::lower_bound(types_.begin(), types_.end(), kind,
                       [](const MessageType* t, std::uint16_t k) { return t->info.kind < k; });
  return at != types_.end() && (*at)->info.kind == kind ? *at : nullptr;
}

std::vector<const MessageType*> MessageRegistry::all() const {
  return types_;
}

std::uint64_t MessageRegistry::protocol_hash() const {
  Digest digest;
  for (const auto* type : types_) {
    digest.add(type->info.kind);
    digest.add_bytes(type->info.name);
  }
  return digest.value();
}

void append_envelope(const Envelope& envelope, std::string& out) {
  Encoder encoder(out);
  encoder.put(envelope.from);
  encoder.put(envelope.to);
  encoder.put(envelope.message.kind());
  const std::size_t length_at = out.size();
  encoder.put(std::uint32_t{0});
  const std::size_t payload_at = out.size();
  envelope.message.type().encode(envelope.message.payload(), out);
  const std::size_t size = out.size() - payload_at;
  TROUPE_ASSERT(size <= kPayloadMax, "a sender made a payload over kPayloadMax");
  const auto length = static_cast<std::uint32_t>(size);
  std::memcpy(out.data() + length_at, &length, sizeof length);
}

std::string encode_frame(const std::vector<Envelope>& envelopes) {
  TROUPE_ASSERT(envelopes.size() <= kFrameMax, "a frame holds at most kFrameMax envelopes");
  std::string out;
  Encoder(out).put(static_cast<std::uint32_t>(envelopes.size()));
  for (const auto& envelope : envelopes) append_envelope(envelope, out);
  return out;
}

namespace {

Result<Envelope> decode_envelope(Decoder& decoder, std::string_view& rest,
                                 const MessageRegistry& registry) {
  Envelope envelope;
  std::uint16_t kind = 0;
  std::uint32_t length = 0;
  decoder.get(envelope.from);
  decoder.get(envelope.to);
  decoder.get(kind);
  decoder.get(length);
  TROUPE_TRY(decoder.status());
  rest = decoder.rest();
  if (length > kPayloadMax) return Error{Code::kTooLarge, "a payload is over the limit"};
  if (length > rest.size()) return Error{Code::kCorrupt, "a payload is cut short"};
  const MessageType* type = registry.find(kind);
  if (type == nullptr) {
    return Error{Code::kUnsupported, "unknown message kind " + std::to_string(kind)};
  }
  TROUPE_TRY_ASSIGN(envelope.message, type->decode(rest.substr(0, length)));
  rest.remove_prefix(length);
  return envelope;
}

}  // namespace

Result<std::vector<Envelope>> decode_frame(std::string_view bytes,
                                           const MessageRegistry& registry) {
  Decoder head(bytes);
  std::uint32_t count = 0;
  head.get(count);
  TROUPE_TRY(head.status());
  if (count > kFrameMax) return Error{Code::kTooLarge, "a frame holds too many envelopes"};
  std::vector<Envelope> envelopes;
  std::string_view rest = head.rest();
  for (std::uint32_t i = 0; i < count; ++i) {
    Decoder decoder(rest);
    TROUPE_TRY_ASSIGN(auto envelope, decode_envelope(decoder, rest, registry));
    envelopes.push_back(std::move(envelope));
  }
  if (!rest.empty()) return Error{Code::kCorrupt, "bytes after the last envelope of a frame"};
  return envelopes;
}

}  // namespace troupe
