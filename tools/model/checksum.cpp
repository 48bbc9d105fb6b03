#include "tools/model/checksum.hpp"

#include <openssl/evp.h>

#include <fstream>
#include <vector>

#include "runtime/base/assert.hpp"

namespace troupe {

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  TROUPE_ASSERT(context_ != nullptr, "OpenSSL has memory for a digest");
  TROUPE_ASSERT(EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1, "OpenSSL has SHA-256");
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_);
}

void Sha256::add(std::span<const std::byte> data) {
  TROUPE_ASSERT(EVP_DigestUpdate(context_, data.data(), data.size()) == 1, "memory is hashed");
}

std::string Sha256::finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  TROUPE_ASSERT(EVP_DigestFinal_ex(context_, digest, &size) == 1, "finish() is called once");
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 0xF];
  }
  return text;
}

Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::kIo, "cannot read " + path};
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(std::as_bytes(std::span(buffer.data(), static_cast<std::size_t>(in.gcount()))));
  }
  if (in.bad()) return Error{Code::kIo, "cannot read all of " + path};
  return hash.finish();
}

}  // namespace troupe
