// Any bytes as a GGUF file: open answers with an Error or with a file whose every value and every
// tensor byte can be read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/assert.hpp"
#include "runtime/model/gguf.hpp"

namespace {

std::uint64_t read_everything(const troupe::GgufFile& file) {
  std::uint64_t sum = 0;
  for (const auto key : file.keys()) {
    TROUPE_ASSERT(file.has(key), "keys() lists what is there");
    if (const auto value = file.unsigned_value(key)) sum += *value;
    if (const auto value = file.real_value(key)) sum += *value > 0;
    if (const auto value = file.bool_value(key)) sum += *value;
    if (const auto value = file.string_value(key)) sum += value->size();
    if (const auto values = file.string_array(key)) {
      for (const auto text : *values) sum += text.empty() ? 0 : static_cast<unsigned char>(text[0]);
    }
    if (const auto values = file.int_array(key)) sum += values->size();
  }
  for (const auto& tensor : file.tensors()) {
    TROUPE_ASSERT(tensor.data.size() == tensor.rows() * tensor.row_bytes(), "exact data");
    TROUPE_ASSERT(file.find(tensor.name) == &tensor, "unique names");
    sum += static_cast<std::uint64_t>(tensor.data.front()) ^
           static_cast<std::uint64_t>(tensor.data.back());
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const auto file =
      troupe::GgufFile::from_bytes("fuzz.gguf", std::vector<std::byte>(begin, begin + size));
  if (file.ok()) {
    volatile std::uint64_t sink = read_everything(**file);
    (void)sink;
  } else {
    TROUPE_ASSERT(file.error().message.starts_with("fuzz.gguf"), "the error names the file");
  }
  return 0;
}
