#include "actors/gateway/api_keys.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {

constexpr std::string_view kPrefix = "tk-";
constexpr std::size_t kIdDigits = 12;
constexpr std::size_t kNameBytesMax = 64;
constexpr std::uint32_t kLimitMax = 1'000'000;
constexpr const char* kForm =
    "expected NAME:ID:sha256:SALT:DIGEST[:rate=N][:concurrent=N][:priority=low|normal|high], as "
    "troupe keys new prints it";

using Digest = std::array<unsigned char, KeyRing::kDigestBytes>;

Digest digest_of(std::span<const unsigned char> salt, std::string_view key) {
  Digest digest{};
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool made = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1 &&
                    EVP_DigestUpdate(context, salt.data(), salt.size()) == 1 &&
                    EVP_DigestUpdate(context, key.data(), key.size()) == 1 &&
                    EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1;
  EVP_MD_CTX_free(context);
  TROUPE_ASSERT(made, "OpenSSL hashes with SHA-256");
  return digest;
}

std::string hex(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// False: not exactly so many bytes in lower-case hexadecimal.
bool read_hex(std::string_view text, std::span<unsigned char> out) {
  if (text.size() != 2 * out.size() || !is_hex(text)) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, out[i], 16);
  }
  return true;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_' || c == '.';
         });
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

bool read_count(std::string_view text, std::uint32_t& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && out >= 1 &&
         out <= kLimitMax;
}

constexpr std::pair<std::string_view, Priority> kPriorities[] = {
    {"low", Priority::kLow}, {"normal", Priority::kNormal}, {"high", Priority::kHigh}};

/// "rate=60" and its like.
bool read_limit(std::string_view text, TenantLimits& out) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const auto key = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  if (key == "rate") return read_count(value, out.requests_per_minute);
  if (key == "concurrent") return read_count(value, out.concurrent);
  if (key != "priority") return false;
  for (const auto& [name, priority] : kPriorities) {
    if (name == value) return out.priority = priority, true;
  }
  return false;
}

}  // namespace

Result<KeyRing> KeyRing::parse(const std::vector<std::string>& entries) {
  KeyRing ring;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Status added = ring.add(entries[i]);
    if (!added.ok()) {
      return Error{Code::kInvalid, "entry " + std::to_string(i + 1) + ": " + added.error().message};
    }
  }
  return ring;
}

Status KeyRing::add(std::string_view entry) {
  const auto parts = split(entry);
  TenantLimits tenant;
  Key key;
  bool good = parts.size() >= 5 && is_name(parts[0]) && parts[1].size() == kIdDigits &&
              is_hex(parts[1]) && parts[2] == "sha256" && read_hex(parts[3], key.salt) &&
              read_hex(parts[4], key.digest);
  for (std::size_t i = 5; good && i < parts.size(); ++i) good = read_limit(parts[i], tenant);
  if (!good) return Error{Code::kInvalid, kForm};
  tenant.name = parts[0];
  const bool known = std::any_of(tenants_.begin(), tenants_.end(),
                                 [&](const TenantLimits& t) { return t.name == tenant.name; });
  key.tenant = tenants_.size();
  if (known || !keys_.emplace(parts[1], key).second) {
    return Error{Code::kInvalid, "the name '" + tenant.name + "' or its key is there twice"};
  }
  tenants_.push_back(std::move(tenant));
  return ok_status();
}

const TenantLimits* KeyRing::find(std::string_view key) const {
  const bool formed = key.starts_with(kPrefix) && key.size() > kPrefix.size() + kIdDigits;
  const auto at = keys_.find(formed ? key.substr(kPrefix.size(), kIdDigits) : std::string_view());
  static const Key nobody;
  const Key& candidate = at == keys_.end() ? nobody : at->second;
  const Digest digest = digest_of(candidate.salt, key);
  const bool same = CRYPTO_memcmp(digest.data(), candidate.digest.data(), digest.size()) == 0;
  return same && at != keys_.end() ? &tenants_[candidate.tenant] : nullptr;
}

std::string_view presented_key(const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string_view from_header;
  for (const auto& [name, value] : headers) {
    constexpr std::string_view kBearer = "bearer ";
    const bool bearer = name == "authorization" && value.size() > kBearer.size() &&
                        std::equal(kBearer.begin(), kBearer.end(), value.begin(),
                                   [](char a, char b) { return a == (b | 0x20); });
    if (bearer) return std::string_view(value).substr(kBearer.size());
    if (name == "x-api-key") from_header = value;
  }
  return from_header;
}

Result<NewKey> make_api_key(const TenantLimits& limits,
                            const std::array<unsigned char, kNewKeyBytes>& random) {
  if (!is_name(limits.name)) {
    return Error{Code::kInvalid, "a name has 1 to 64 letters, digits, dashes, underscores or dots"};
  }
  if (limits.requests_per_minute > kLimitMax || limits.concurrent > kLimitMax) {
    return Error{Code::kInvalid, "a limit is at most 1000000"};
  }
  const std::span<const unsigned char> bytes(random);
  const std::string id = hex(bytes.subspan(0, 6));
  const auto salt = bytes.subspan(30);
  NewKey made;
  made.key = std::string(kPrefix) + id + "-" + hex(bytes.subspan(6, 24));
  made.entry =
      limits.name + ":" + id + ":sha256:" + hex(salt) + ":" + hex(digest_of(salt, made.key));
  if (limits.requests_per_minute > 0) {
    made.entry += ":rate=" + std::to_string(limits.requests_per_minute);
  }
  if (limits.concurrent > 0) made.entry += ":concurrent=" + std::to_string(limits.concurrent);
  for (const auto& [name, priority] : kPriorities) {
    if (priority == limits.priority && priority != Priority::kNormal) {
      made.entry += ":priority=" + std::string(name);
    }
  }
  return made;
}

}  // namespace troupe
