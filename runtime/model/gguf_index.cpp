#include "runtime/model/gguf_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "runtime/model/gguf_cursor.hpp"

static_assert(std::endian::native == std::endian::little, "GGUF numbers are read as they lie");

namespace troupe {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kKeysMax = 65'536;
constexpr std::uint64_t kTensorsMax = 65'536;
constexpr std::uint64_t kArrayMax = 16ull << 20;
constexpr std::uint64_t kKeyBytesMax = 65'535;  // the format's own limit
constexpr std::uint64_t kNameBytesMax = 256;    // ggml writes at most 64
constexpr std::uint64_t kStringBytesMax = 64ull << 20;
constexpr std::uint32_t kDimensionsMax = 4;
constexpr std::uint64_t kAlignmentMax = 1ull << 20;

/// Names of the types that the format has, for the message about those that we do not run.
std::string type_name(std::uint32_t type) {
  static constexpr std::pair<std::uint32_t, std::string_view> kNames[] = {
      {6, "Q5_0"},    {7, "Q5_1"},     {9, "Q8_1"},   {10, "Q2_K"},   {11, "Q3_K"},
      {12, "Q4_K"},   {13, "Q5_K"},    {14, "Q6_K"},  {15, "Q8_K"},   {16, "IQ2_XXS"},
      {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},
      {22, "IQ2_S"},  {23, "IQ4_XS"},  {24, "I8"},    {25, "I16"},    {26, "I32"},
      {27, "I64"},    {28, "F64"},     {29, "IQ1_M"}, {34, "TQ1_0"},  {35, "TQ2_0"},
      {39, "MXFP4"}};
  for (const auto& [number, name] : kNames) {
    if (number == type) return std::string(name) + " (" + std::to_string(type) + ")";
  }
  return std::to_string(type);
}

bool is_supported(std::uint32_t type) {
  switch (static_cast<TensorType>(type)) {
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kQ4_0:
    case TensorType::kQ4_1:
    case TensorType::kQ8_0:
    case TensorType::kBF16:
      return true;
  }
  return false;
}

/// File text in an error message: short, and printable whatever the file holds.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 64)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > 64 ? "...\"" : "\"");
}

/// A tensor as its header describes it, before its data is looked up.
struct Placement {
  std::uint64_t described_at;  // offset of the description in the file
  std::uint64_t offset;        // of the data, from the start of the data section
  std::uint64_t bytes;
};

class Parser {
 public:
  Parser(const std::string& name, std::span<const std::byte> bytes)
      : name_(name), bytes_(bytes), cursor_(name_, bytes), index_(std::make_unique<GgufIndex>()) {}

  Result<std::unique_ptr<const GgufIndex>> run() {
    TROUPE_TRY(read_counts());
    for (std::uint64_t i = 0; i < key_count_; ++i) TROUPE_TRY(read_key());
    TROUPE_TRY(read_alignment());
    for (std::uint64_t i = 0; i < tensor_count_; ++i) TROUPE_TRY(read_tensor());
    if (unsupported_ > 0) return unsupported_error();
    TROUPE_TRY(place_tensors());
    return std::unique_ptr<const GgufIndex>(std::move(index_));
  }

 private:
  Status read_counts() {
    TROUPE_TRY_ASSIGN(const auto magic, cursor_.number<std::uint32_t>("the magic number"));
    if (magic != kMagic) return cursor_.corrupt(0, "this is not a GGUF file (no magic number)");
    TROUPE_TRY_ASSIGN(const auto version, cursor_.number<std::uint32_t>("the version"));
    if (version != 2 && version != 3) {
      return Error{Code::kUnsupported, name_ + ": at byte 4: GGUF version " +
                                           std::to_string(version) + "; versions 2 and 3 are read"};
    }
    TROUPE_TRY_ASSIGN(tensor_count_, count(kTensorsMax, "tensor count"));
    TROUPE_TRY_ASSIGN(key_count_, count(kKeysMax, "key count"));
    return ok_status();
  }

  Result<std::uint64_t> count(std::uint64_t max, std::string_view what) {
    const auto at = cursor_.offset();
    TROUPE_TRY_ASSIGN(const auto value, cursor_.number<std::uint64_t>(what));
    if (value > max) {
      return cursor_.corrupt(at, std::string(what) + " is " + std::to_string(value) +
                                     ", the limit is " + std::to_string(max));
    }
    return value;
  }

  Result<GgufKind> read_kind() {
    const auto at = cursor_.offset();
    TROUPE_TRY_ASSIGN(const auto raw, cursor_.number<std::uint32_t>("a value's type"));
    if (raw > static_cast<std::uint32_t>(GgufKind::kFloat64)) {
      return cursor_.corrupt(at, "unknown value type " + std::to_string(raw));
    }
    return static_cast<GgufKind>(raw);
  }

  Status read_key() {
    const auto at = cursor_.offset();
    TROUPE_TRY_ASSIGN(const auto key, cursor_.string(kKeyBytesMax, "a key"));
    if (key.empty()) return cursor_.corrupt(at, "a key is empty");
    TROUPE_TRY_ASSIGN(const auto kind, read_kind());
    GgufValue value{.kind = kind};
    if (kind == GgufKind::kArray) {
      TROUPE_TRY(read_array(key, value));
    } else {
      TROUPE_TRY(read_scalar(key, value));
    }
    if (!index_->values.emplace(key, value).second) {
      return cursor_.corrupt(at, "the key " + in_quotes(key) + " is there twice");
    }
    index_->key_order.push_back(key);
    return ok_status();
  }

  Status read_scalar(std::string_view key, GgufValue& value) {
    if (value.kind == GgufKind::kString) {
      TROUPE_TRY_ASSIGN(const auto text, cursor_.string(kStringBytesMax, in_quotes(key)));
      value.payload = std::as_bytes(std::span(text));
      value.offset = cursor_.offset() - text.size();
      return ok_status();
    }
    value.offset = cursor_.offset();
    TROUPE_TRY_ASSIGN(value.payload, cursor_.take(size_of(value.kind), in_quotes(key)));
    return ok_status();
  }

  Status read_array(std::string_view key, GgufValue& value) {
    const auto at = cursor_.offset();
    TROUPE_TRY_ASSIGN(value.kind, read_kind());
    if (value.kind == GgufKind::kArray) {
      return Error{Code::kUnsupported, name_ + ": at byte " + std::to_string(at) + ": the key " +
                                           in_quotes(key) + " holds an array of arrays"};
    }
    value.is_array = true;
    TROUPE_TRY_ASSIGN(value.count, count(kArrayMax, "the length of " + in_quotes(key)));
    value.offset = cursor_.offset();
    if (value.kind != GgufKind::kString) {
      TROUPE_TRY_ASSIGN(value.payload,
                        cursor_.take(value.count * size_of(value.kind), in_quotes(key)));
      return ok_status();
    }
    for (std::uint64_t i = 0; i < value.count; ++i) {
      TROUPE_TRY(cursor_.string(kStringBytesMax, in_quotes(key)));
    }
    value.payload = bytes_.subspan(value.offset, cursor_.offset() - value.offset);
    return ok_status();
  }

  Status read_alignment() {
    const auto found = index_->values.find("general.alignment");
    if (found == index_->values.end()) return ok_status();
    const GgufValue& value = found->second;
    std::uint32_t alignment = 0;
    if (value.kind == GgufKind::kUint32 && !value.is_array) {
      std::memcpy(&alignment, value.payload.data(), sizeof alignment);
    }
    if (!std::has_single_bit(alignment) || alignment < 8 || alignment > kAlignmentMax) {
      return cursor_.corrupt(value.offset,
                             "general.alignment must be a uint32, a power of two from 8 to " +
                                 std::to_string(kAlignmentMax));
    }
    alignment_ = alignment;
    return ok_status();
  }

  Status read_tensor() {
    const auto at = cursor_.offset();
    TROUPE_TRY_ASSIGN(const auto name, cursor_.string(kNameBytesMax, "a tensor's name"));
    if (name.empty()) return cursor_.corrupt(at, "a tensor has no name");
    GgufTensor tensor{.name = std::string(name)};
    TROUPE_TRY(read_shape(tensor));
    TROUPE_TRY_ASSIGN(const auto type, cursor_.number<std::uint32_t>("a tensor's type"));
    TROUPE_TRY_ASSIGN(const auto offset, cursor_.number<std::uint64_t>("a tensor's offset"));
    if (!is_supported(type)) {
      if (unsupported_++ == 0)
        first_unsupported_ = in_quotes(name) + " has type " + type_name(type);
      return ok_status();
    }
    tensor.type = static_cast<TensorType>(type);
    TROUPE_TRY_ASSIGN(const auto bytes, data_bytes(tensor, at));
    placements_.push_back({at, offset, bytes});
    index_->tensors.push_back(std::move(tensor));
    return ok_status();
  }

  Status read_shape(GgufTensor& tensor) {
    const auto at = cursor_.offset();
    TROUPE_TRY_ASSIGN(const auto dimensions, cursor_.number<std::uint32_t>("a tensor's shape"));
    if (dimensions < 1 || dimensions > kDimensionsMax) {
      return cursor_.corrupt(at, "the tensor " + in_quotes(tensor.name) + " has " +
                                     std::to_string(dimensions) + " dimensions, not 1 to 4");
    }
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      const auto where = cursor_.offset();
      TROUPE_TRY_ASSIGN(const auto size, cursor_.number<std::uint64_t>("a tensor's shape"));
      if (size == 0) {
        return cursor_.corrupt(where,
                               "the tensor " + in_quotes(tensor.name) + " has an empty dimension");
      }
      tensor.shape.push_back(size);
    }
    return ok_status();
  }

  /// Bytes of the data, from shape and type; refuses products that do not fit the file anyway.
  Result<std::uint64_t> data_bytes(const GgufTensor& tensor, std::uint64_t at) const {
    const TensorBlock block = block_of(tensor.type);
    if (tensor.shape[0] % block.elements != 0) {
      return cursor_.corrupt(at, "the rows of tensor " + in_quotes(tensor.name) + " have " +
                                     std::to_string(tensor.shape[0]) +
                                     " elements, not a multiple of " +
                                     std::to_string(block.elements));
    }
    const std::uint64_t factors[] = {block.bytes, tensor.shape[0] / block.elements};
    std::uint64_t bytes = 1;
    const auto grow = [&](std::uint64_t factor) {
      if (factor > bytes_.size() / bytes) return false;
      bytes *= factor;
      return true;
    };
    bool fits = grow(factors[0]) && grow(factors[1]);
    for (std::size_t i = 1; fits && i < tensor.shape.size(); ++i) fits = grow(tensor.shape[i]);
    if (!fits) {
      return cursor_.corrupt(at, "the tensor " + in_quotes(tensor.name) +
                                     " is larger than the file (" + std::to_string(bytes_.size()) +
                                     " bytes)");
    }
    return bytes;
  }

  Error unsupported_error() const {
    std::string message = name_ + ": tensor " + first_unsupported_ +
                          ", which this build does not run (it runs F32, F16, BF16, Q4_0, Q4_1, "
                          "Q8_0)";
    if (unsupported_ > 1) message += "; so have " + std::to_string(unsupported_ - 1) + " others";
    return Error{Code::kUnsupported, message + ". Take a file in one of those formats."};
  }

  Status place_tensors() {
    const std::uint64_t start = (cursor_.offset() + alignment_ - 1) / alignment_ * alignment_;
    for (std::size_t i = 0; i < placements_.size(); ++i) {
      const Placement& placement = placements_[i];
      GgufTensor& tensor = index_->tensors[i];
      const bool inside = start <= bytes_.size() && placement.bytes <= bytes_.size() - start &&
                          placement.offset <= bytes_.size() - start - placement.bytes;
      if (!inside || placement.offset % alignment_ != 0) {
        return cursor_.corrupt(placement.described_at,
                               "the data of tensor " + in_quotes(tensor.name) + " (offset " +
                                   std::to_string(placement.offset) + ", " +
                                   std::to_string(placement.bytes) + " bytes) " +
                                   (inside ? "is not aligned" : "lies outside of the file"));
      }
      tensor.data = bytes_.subspan(start + placement.offset, placement.bytes);
      if (!index_->tensor_by_name.emplace(tensor.name, i).second) {
        return cursor_.corrupt(placement.described_at,
                               "the tensor " + in_quotes(tensor.name) + " is there twice");
      }
    }
    return check_overlaps();
  }

  Status check_overlaps() const {
    std::vector<std::size_t> order(placements_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(placements_[a].offset, a) < std::pair(placements_[b].offset, b);
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const Placement& before = placements_[order[i - 1]];
      const Placement& after = placements_[order[i]];
      if (after.offset < before.offset + before.bytes) {
        return cursor_.corrupt(after.described_at,
                               "the tensors " + in_quotes(index_->tensors[order[i - 1]].name) +
                                   " and " + in_quotes(index_->tensors[order[i]].name) +
                                   " overlap");
      }
    }
    return ok_status();
  }

  const std::string name_;
  std::span<const std::byte> bytes_;
  GgufCursor cursor_;
  std::unique_ptr<GgufIndex> index_;
  std::vector<Placement> placements_;  // same order as index_->tensors
  std::uint64_t tensor_count_ = 0;
  std::uint64_t key_count_ = 0;
  std::uint64_t alignment_ = 32;
  std::uint64_t unsupported_ = 0;
  std::string first_unsupported_;
};

}  // namespace

std::string_view to_string(GgufKind kind) {
  static constexpr std::string_view kNames[] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                                "int32",  "float32", "bool",   "string", "array",
                                                "uint64", "int64",   "float64"};
  return kNames[static_cast<std::uint32_t>(kind)];
}

std::uint32_t size_of(GgufKind kind) {
  static constexpr std::uint32_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kSizes[static_cast<std::uint32_t>(kind)];
}

bool is_integer(GgufKind kind) {
  return size_of(kind) > 0 && kind != GgufKind::kBool && kind != GgufKind::kFloat32 &&
         kind != GgufKind::kFloat64;
}

Result<std::unique_ptr<const GgufIndex>> parse_gguf(const std::string& name,
                                                    std::span<const std::byte> bytes) {
  return Parser(name, bytes).run();
}

}  // namespace troupe
