// API keys: who may call, by a secret that is nowhere written down. Pure.
//
// A key is "tk-ID-SECRET". The configuration keeps one entry a key (`troupe keys new` makes both):
//
//   NAME:ID:sha256:SALT:DIGEST[:rate=N][:concurrent=N][:priority=low|normal|high]
//
// SALT and DIGEST in hexadecimal, DIGEST = SHA-256(SALT bytes, then the whole key). A plain hash is
// enough because the secret is 192 random bits: there is nothing to guess, and a slow hash on an io
// thread would be a gift to attackers. The ID finds the entry, so that one hash is computed a
// request, however many keys there are; digests are compared in constant time, and an unknown ID
// costs the same as a wrong secret.
//
// Limits: rate in requests a minute, concurrent in requests at one time; without them there is
// none. Names are what metrics show; each names one key.
// Threads: immutable after parse(); any.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe {

/// Who may use how much of a full gateway (admission.hpp).
enum class Priority : std::uint8_t { kLow = 0, kNormal, kHigh };

struct TenantLimits {
  std::string name;
  std::uint32_t requests_per_minute = 0;  ///< 0: no limit
  std::uint32_t concurrent = 0;           ///< 0: no limit
  Priority priority = Priority::kNormal;
};

class KeyRing {
 public:
  static constexpr std::size_t kSaltBytes = 16;
  static constexpr std::size_t kDigestBytes = 32;

  /// The error names the entry by its number and says what was expected.
  static Result<KeyRing> parse(const std::vector<std::string>& entries);

  bool empty() const { return keys_.empty(); }
  /// Whose key this is; null: nobody's.
  const TenantLimits* find(std::string_view key) const;
  /// In the order of the entries.
  const std::vector<TenantLimits>& tenants() const { return tenants_; }

 private:
  struct Key {
    std::array<unsigned char, kSaltBytes> salt{};
    std::array<unsigned char, kDigestBytes> digest{};
    std::size_t tenant = 0;
  };
  Status add(std::string_view entry);

  std::map<std::string, Key, std::less<>> keys_;  ///< by id
  std::vector<TenantLimits> tenants_;
};

/// The key of `Authorization: Bearer KEY` or, without that, `x-api-key: KEY`; empty: none. Header
/// names are in lower case.
std::string_view presented_key(const std::vector<std::pair<std::string, std::string>>& headers);

struct NewKey {
  std::string key;    ///< for the client, once
  std::string entry;  ///< for the configuration
};

/// What make_api_key() needs of chance: id, secret and salt.
constexpr std::size_t kNewKeyBytes = 6 + 24 + KeyRing::kSaltBytes;

/// `random` are bytes that nobody can guess. An error: the name or a limit cannot be written.
Result<NewKey> make_api_key(const TenantLimits& limits,
                            const std::array<unsigned char, kNewKeyBytes>& random);

}  // namespace troupe
