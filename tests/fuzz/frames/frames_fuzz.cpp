// What a peer may send: any bytes as a frame, and as the payload of each kind. What is taken has
// one spelling, so that it comes out as it went in.
#include "actors/node/wire_messages.hpp"
#include "runtime/base/assert.hpp"

namespace {

const troupe::MessageRegistry& registry() {
  static const troupe::MessageRegistry made = troupe::wire_messages();
  return made;
}

void take_payload(std::string_view input) {
  const auto types = registry().all();
  const auto& type = *types[static_cast<unsigned char>(input[0]) % types.size()];
  input.remove_prefix(1);
  const auto decoded = type.decode(input);
  if (!decoded) return;
  std::string out;
  type.encode(decoded->payload(), out);
  TROUPE_ASSERT(out == input, "a payload comes out as it went in");
  TROUPE_ASSERT(!decoded->describe().empty(), "a message can be printed");
}

void take_frame(std::string_view input) {
  const auto decoded = troupe::decode_frame(input, registry());
  if (decoded) {
    TROUPE_ASSERT(troupe::encode_frame(*decoded) == input, "a frame comes out as it went in");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  if ((input[0] & 0x80) != 0) {
    take_frame(input.substr(1));
  } else {
    take_payload(input);
  }
  return 0;
}
