// What the header of a GGUF file says, checked: keys, values and tensors, as views into its bytes.
//
// Why: parsing a hostile file is one job, asking it questions (gguf.hpp) another. Only gguf.cpp
// and gguf_index.cpp need this header.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/model/gguf.hpp"

namespace troupe {

/// The kinds of metadata values; the numbers are those of the file format.
enum class GgufKind : std::uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

std::string_view to_string(GgufKind kind);
/// Bytes of one value; 0 for strings and arrays.
std::uint32_t size_of(GgufKind kind);
bool is_integer(GgufKind kind);

/// A value in the file. `payload` covers exactly its bytes: for an array the elements, which are
/// already known to be complete, for a string the characters.
struct GgufValue {
  GgufKind kind = GgufKind::kUint8;  ///< of the elements, if is_array
  bool is_array = false;
  std::uint64_t count = 1;   ///< of elements
  std::uint64_t offset = 0;  ///< of the payload in the file, for error messages
  std::span<const std::byte> payload;
};

struct GgufIndex {
  std::vector<std::string_view> key_order;
  std::map<std::string_view, GgufValue> values;
  std::vector<GgufTensor> tensors;
  std::map<std::string_view, std::size_t> tensor_by_name;  ///< views of tensors[i].name
};

/// Reads and checks the whole header. `name` is used in error messages only.
Result<std::unique_ptr<const GgufIndex>> parse_gguf(const std::string& name,
                                                    std::span<const std::byte> bytes);

}  // namespace troupe
