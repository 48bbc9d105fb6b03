// Builds GGUF files in memory, right ones and wrong ones, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/model/gguf.hpp"
#include "runtime/model/gguf_index.hpp"

namespace troupe::test {

class GgufBuilder {
 public:
  struct Tensor {
    std::string name;
    std::uint32_t type;
    std::vector<std::uint64_t> shape;
    std::uint64_t offset;  // in the data section
  };

  std::uint32_t magic = 0x46554747;
  std::uint32_t version = 3;
  std::uint64_t extra_keys = 0;     // counted in the header, but not there
  std::uint64_t extra_tensors = 0;  // the same
  std::uint64_t alignment = 32;     // of the data section as built
  std::uint64_t data_bytes = 0;
  std::vector<Tensor> tensors;

  template <class T>
  static void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static void put_string(std::string& out, std::string_view text) {
    put<std::uint64_t>(out, text.size());
    out += text;
  }

  /// A key whose payload is given as it lies in the file.
  void raw_key(std::string_view key, std::uint32_t kind, std::string_view payload) {
    put_string(keys_, key);
    put(keys_, kind);
    keys_ += payload;
    ++key_count_;
  }
  template <class T>
  void key(std::string_view name, GgufKind kind, T value) {
    std::string payload;
    put(payload, value);
    raw_key(name, static_cast<std::uint32_t>(kind), payload);
  }
  void string_key(std::string_view name, std::string_view text) {
    std::string payload;
    put_string(payload, text);
    raw_key(name, static_cast<std::uint32_t>(GgufKind::kString), payload);
  }
  void strings_key(std::string_view name, const std::vector<std::string>& texts) {
    std::string payload;
    put(payload, static_cast<std::uint32_t>(GgufKind::kString));
    put<std::uint64_t>(payload, texts.size());
    for (const auto& text : texts) put_string(payload, text);
    raw_key(name, static_cast<std::uint32_t>(GgufKind::kArray), payload);
  }
  template <class T>
  void array_key(std::string_view name, GgufKind kind, const std::vector<T>& values) {
    std::string payload;
    put(payload, static_cast<std::uint32_t>(kind));
    put<std::uint64_t>(payload, values.size());
    for (const T value : values) put(payload, value);
    raw_key(name, static_cast<std::uint32_t>(GgufKind::kArray), payload);
  }

  std::string text() const {
    std::string out;
    put(out, magic);
    put(out, version);
    put<std::uint64_t>(out, tensors.size() + extra_tensors);
    put<std::uint64_t>(out, key_count_ + extra_keys);
    out += keys_;
    for (const auto& tensor : tensors) {
      put_string(out, tensor.name);
      put<std::uint32_t>(out, static_cast<std::uint32_t>(tensor.shape.size()));
      for (const auto size : tensor.shape) put(out, size);
      put(out, tensor.type);
      put(out, tensor.offset);
    }
    if (data_bytes > 0) {
      out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
      for (std::uint64_t i = 0; i < data_bytes; ++i) out += static_cast<char>(i * 7);
    }
    return out;
  }

  static Result<std::shared_ptr<const GgufFile>> open(std::string_view text) {
    std::vector<std::byte> bytes(text.size());
    if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
    return GgufFile::from_bytes("test.gguf", std::move(bytes));
  }
  Result<std::shared_ptr<const GgufFile>> open() const { return open(text()); }

 private:
  std::string keys_;
  std::uint64_t key_count_ = 0;
};

}  // namespace troupe::test
