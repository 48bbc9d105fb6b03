// A GGUF file: the weights and metadata of a model, mapped read-only.
//
// Why: GGUF is the form in which small real models are passed around. The file comes from a disk or
// a download, so nothing in it is trusted: every count, length, offset and product is checked
// against the bytes that are there before it is used.
//
// Format: "The GGUF file format" of the ggml project, versions 2 and 3, little-endian.
//
// Invariants after open():
//   1. Every string_view and span points into the file's bytes and lives as long as the GgufFile.
//   2. Keys are unique; tensor names are unique and not empty.
//   3. shape has 1 to 4 dimensions, none zero; shape[0] is a multiple of the type's block.
//   4. data.size() is exactly rows * row bytes; tensors do not overlap; each starts aligned to
//      `general.alignment` (a power of two, 8 or more, default 32) from the start of the file.
//
// Bounds: at most 65,536 keys, 65,536 tensors and 16 Mi array elements a key. A tensor costs this
// class about 150 bytes of memory, its data none.
//
// Threads: immutable after open; share it freely. Ownership: shared_ptr; the mapping ends with the
// last one. A file that is cut short by somebody else while it is mapped ends the process
// (SIGBUS), as with any mapped file: replace model files by renaming, never in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe {

/// How the elements of a tensor are stored; the numbers are those of the file format.
enum class TensorType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,  ///< 32 elements: fp16 scale, 16 bytes of nibbles
  kQ4_1 = 3,  ///< 32 elements: fp16 scale, fp16 minimum, 16 bytes of nibbles
  kQ8_0 = 8,  ///< 32 elements: fp16 scale, 32 signed bytes
  kBF16 = 30,
};

/// `elements` of a row are stored together in `bytes`.
struct TensorBlock {
  std::uint32_t elements;
  std::uint32_t bytes;
};

TensorBlock block_of(TensorType type);
std::string_view to_string(TensorType type);

struct GgufTensor {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<std::uint64_t> shape;  ///< shape[0] is the row length, in elements
  std::span<const std::byte> data;

  std::uint64_t elements() const;
  std::uint64_t rows() const { return elements() / shape[0]; }
  std::uint64_t row_bytes() const;
};

struct GgufIndex;

class GgufFile {
 public:
  /// Maps and checks a file. Errors name the file, the offset and what was wrong there.
  static Result<std::shared_ptr<const GgufFile>> open(const std::string& path);

  /// The same from memory, for tests and fuzzing; `name` stands for the path in errors.
  static Result<std::shared_ptr<const GgufFile>> from_bytes(std::string name,
                                                            std::vector<std::byte> bytes);

  ~GgufFile();
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  /// In the order of the file.
  std::span<const GgufTensor> tensors() const;
  /// Null if there is no such tensor.
  const GgufTensor* find(std::string_view tensor_name) const;

  bool has(std::string_view key) const;
  std::vector<std::string_view> keys() const;  ///< in the order of the file
  /// kNotFound if the key is absent, kCorrupt if it holds another kind of value.
  Result<std::uint64_t> unsigned_value(std::string_view key) const;
  Result<double> real_value(std::string_view key) const;
  Result<std::string_view> string_value(std::string_view key) const;
  Result<bool> bool_value(std::string_view key) const;
  Result<std::vector<std::string_view>> string_array(std::string_view key) const;
  Result<std::vector<std::int64_t>> int_array(std::string_view key) const;

  const std::string& path() const { return path_; }
  std::uint64_t size_bytes() const { return bytes_.size(); }

 private:
  GgufFile(std::string path, std::vector<std::byte> owned, std::span<const std::byte> mapped);
  static Result<std::shared_ptr<const GgufFile>> parse(std::shared_ptr<GgufFile> file);

  std::string path_;
  std::vector<std::byte> owned_;       // empty when mapped
  std::span<const std::byte> mapped_;  // empty when owned
  std::span<const std::byte> bytes_;   // whichever of the two it is
  std::unique_ptr<const GgufIndex> index_;
};

}  // namespace troupe
