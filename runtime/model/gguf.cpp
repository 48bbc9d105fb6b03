#include "runtime/model/gguf.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/model/gguf_index.hpp"

namespace troupe {
namespace {

Error io_error(const std::string& path, const char* what) {
  const int cause = errno;
  return Error{cause == ENOENT ? Code::kNotFound : Code::kIo,
               path + ": cannot " + what + ": " + std::strerror(cause)};
}

Result<const GgufValue*> lookup(const GgufFile& file, const GgufIndex& index,
                                std::string_view key) {
  const auto found = index.values.find(key);
  if (found == index.values.end()) {
    return Error{Code::kNotFound, file.path() + ": no key " + std::string(key)};
  }
  return &found->second;
}

Error wrong_kind(const GgufFile& file, std::string_view key, const GgufValue& value,
                 std::string_view wanted) {
  return Error{Code::kCorrupt, file.path() + ": the key " + std::string(key) + " holds " +
                                   (value.is_array ? "an array of " : "a ") +
                                   std::string(to_string(value.kind)) + ", not " +
                                   std::string(wanted)};
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// Requires: is_integer(kind). False if the number does not fit int64.
bool load_integer(GgufKind kind, const std::byte* at, std::int64_t& out) {
  switch (kind) {
    case GgufKind::kUint8:
      out = load<std::uint8_t>(at);
      return true;
    case GgufKind::kInt8:
      out = load<std::int8_t>(at);
      return true;
    case GgufKind::kUint16:
      out = load<std::uint16_t>(at);
      return true;
    case GgufKind::kInt16:
      out = load<std::int16_t>(at);
      return true;
    case GgufKind::kUint32:
      out = load<std::uint32_t>(at);
      return true;
    case GgufKind::kInt32:
      out = load<std::int32_t>(at);
      return true;
    case GgufKind::kInt64:
      out = load<std::int64_t>(at);
      return true;
    case GgufKind::kUint64: {
      const auto wide = load<std::uint64_t>(at);
      out = static_cast<std::int64_t>(wide);
      return wide <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    }
    default:
      return false;
  }
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TensorBlock block_of(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return {1, 4};
    case TensorType::kF16:
      return {1, 2};
    case TensorType::kBF16:
      return {1, 2};
    case TensorType::kQ4_0:
      return {32, 18};
    case TensorType::kQ4_1:
      return {32, 20};
    case TensorType::kQ8_0:
      return {32, 34};
  }
  TROUPE_ASSERT(false, "every TensorType has a block");
}

std::string_view to_string(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return "F32";
    case TensorType::kF16:
      return "F16";
    case TensorType::kBF16:
      return "BF16";
    case TensorType::kQ4_0:
      return "Q4_0";
    case TensorType::kQ4_1:
      return "Q4_1";
    case TensorType::kQ8_0:
      return "Q8_0";
  }
  return "?";
}

std::uint64_t GgufTensor::elements() const {
  std::uint64_t product = 1;
  for (const auto size : shape) product *= size;
  return product;
}

std::uint64_t GgufTensor::row_bytes() const {
  const TensorBlock block = block_of(type);
  return shape[0] / block.elements * block.bytes;
}

GgufFile::GgufFile(std::string path, std::vector<std::byte> owned,
                   std::span<const std::byte> mapped)
    : path_(std::move(path)), owned_(std::move(owned)), mapped_(mapped) {
  bytes_ = mapped_.empty() ? std::span<const std::byte>(owned_) : mapped_;
}

GgufFile::~GgufFile() {
  if (!mapped_.empty()) ::munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size());
}

Result<std::shared_ptr<const GgufFile>> GgufFile::parse(std::shared_ptr<GgufFile> file) {
  TROUPE_TRY_ASSIGN(file->index_, parse_gguf(file->path_, file->bytes_));
  return std::shared_ptr<const GgufFile>(std::move(file));
}

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return io_error(path, "open it");
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
    ::close(descriptor);
    return Error{Code::kCorrupt, path + ": this is not a file with data in it"};
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) {
    const Error error = io_error(path, "map it");
    ::close(descriptor);
    return error;
  }
  ::close(descriptor);  // the mapping stays
  const std::span mapped(static_cast<const std::byte*>(address), size);
  return parse(std::shared_ptr<GgufFile>(new GgufFile(path, {}, mapped)));
}

Result<std::shared_ptr<const GgufFile>> GgufFile::from_bytes(std::string name,
                                                             std::vector<std::byte> bytes) {
  return parse(std::shared_ptr<GgufFile>(new GgufFile(std::move(name), std::move(bytes), {})));
}

std::span<const GgufTensor> GgufFile::tensors() const {
  return index_->tensors;
}

const GgufTensor* GgufFile::find(std::string_view tensor_name) const {
  const auto found = index_->tensor_by_name.find(tensor_name);
  return found == index_->tensor_by_name.end() ? nullptr : &index_->tensors[found->second];
}

bool GgufFile::has(std::string_view key) const {
  return index_->values.contains(key);
}

std::vector<std::string_view> GgufFile::keys() const {
  return index_->key_order;
}

Result<std::uint64_t> GgufFile::unsigned_value(std::string_view key) const {
  TROUPE_TRY_ASSIGN(const GgufValue* value, lookup(*this, *index_, key));
  if (value->is_array || !is_integer(value->kind)) {
    return wrong_kind(*this, key, *value, "an integer");
  }
  if (value->kind == GgufKind::kUint64) return load<std::uint64_t>(value->payload.data());
  std::int64_t number = 0;
  if (!load_integer(value->kind, value->payload.data(), number) || number < 0) {
    return wrong_kind(*this, key, *value, "an integer of 0 or more");
  }
  return static_cast<std::uint64_t>(number);
}

Result<double> GgufFile::real_value(std::string_view key) const {
  TROUPE_TRY_ASSIGN(const GgufValue* value, lookup(*this, *index_, key));
  if (!value->is_array && value->kind == GgufKind::kFloat32) {
    return static_cast<double>(load<float>(value->payload.data()));
  }
  if (!value->is_array && value->kind == GgufKind::kFloat64) {
    return load<double>(value->payload.data());
  }
  return wrong_kind(*this, key, *value, "a real number");
}

Result<std::string_view> GgufFile::string_value(std::string_view key) const {
  TROUPE_TRY_ASSIGN(const GgufValue* value, lookup(*this, *index_, key));
  if (value->is_array || value->kind != GgufKind::kString) {
    return wrong_kind(*this, key, *value, "a string");
  }
  return text_of(value->payload);
}

Result<bool> GgufFile::bool_value(std::string_view key) const {
  TROUPE_TRY_ASSIGN(const GgufValue* value, lookup(*this, *index_, key));
  if (value->is_array || value->kind != GgufKind::kBool) {
    return wrong_kind(*this, key, *value, "a bool");
  }
  return value->payload[0] != std::byte{0};
}

Result<std::vector<std::string_view>> GgufFile::string_array(std::string_view key) const {
  TROUPE_TRY_ASSIGN(const GgufValue* value, lookup(*this, *index_, key));
  if (!value->is_array || value->kind != GgufKind::kString) {
    return wrong_kind(*this, key, *value, "an array of strings");
  }
  std::vector<std::string_view> strings;
  strings.reserve(value->count);
  auto rest = value->payload;
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const auto length = load<std::uint64_t>(rest.data());
    TROUPE_ASSERT(length <= rest.size() - 8, "the parser has walked this array");
    strings.push_back(text_of(rest.subspan(8, length)));
    rest = rest.subspan(8 + length);
  }
  return strings;
}

Result<std::vector<std::int64_t>> GgufFile::int_array(std::string_view key) const {
  TROUPE_TRY_ASSIGN(const GgufValue* value, lookup(*this, *index_, key));
  if (!value->is_array || !is_integer(value->kind)) {
    return wrong_kind(*this, key, *value, "an array of integers");
  }
  std::vector<std::int64_t> numbers(value->count);
  const std::uint32_t size = size_of(value->kind);
  for (std::uint64_t i = 0; i < value->count; ++i) {
    if (!load_integer(value->kind, value->payload.data() + i * size, numbers[i])) {
      return wrong_kind(*this, key, *value, "an array of 64-bit signed integers");
    }
  }
  return numbers;
}

}  // namespace troupe
