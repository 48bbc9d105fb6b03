#include "runtime/model/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "runtime/base/digest.hpp"
#include "runtime/model/kv_cache.hpp"

namespace troupe {

namespace {
/// A block of every quantization, and enough of a row of floats.
constexpr std::size_t kSampleBytes = 64;
}  // namespace

std::string fingerprint_of(const GgufFile& file) {
  Digest digest(file.size_bytes());
  for (const auto& tensor : file.tensors()) {
    digest.add_bytes(tensor.name);
    digest.add(static_cast<std::uint64_t>(tensor.type));
    for (const auto side : tensor.shape) digest.add(side);
    const auto sample = tensor.data.first(std::min(tensor.data.size(), kSampleBytes));
    digest.add_bytes({reinterpret_cast<const char*>(sample.data()), sample.size()});
  }
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(digest.value()));
  return text.data();
}

std::string kv_layout_of(const ModelConfig& config) {
  return "f32 " + std::to_string(kBlockTokens) + " tokens x " + std::to_string(config.layers) +
         " layers x " + std::to_string(config.kv_heads) + " heads x " +
         std::to_string(config.head_dim);
}

}  // namespace troupe
