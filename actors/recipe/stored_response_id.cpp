#include "actors/recipe/stored_response_id.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "actors/gateway/answer_id.hpp"
#include "runtime/base/assert.hpp"

namespace troupe {

namespace {

constexpr std::size_t kTailBytes = 16;

void append_hex(std::string& text, unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  text += kDigits[byte >> 4];
  text += kDigits[byte & 15];
}

}  // namespace

std::string stored_response_id(RequestId id, const std::string& secret) {
  TROUPE_ASSERT(!secret.empty(), "a keyed hash needs a key");
  std::string text = answer_id(recipe::Protocol::kResponses, id);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const auto* done =
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash, &size);
  TROUPE_ASSERT(done != nullptr && size >= kTailBytes, "OpenSSL has SHA-256");
  for (std::size_t i = 0; i < kTailBytes; ++i) append_hex(text, hash[i]);
  return text;
}

}  // namespace troupe
