// Reads fp32 arrays of an .npz file (a zip of .npy files), for golden data in tests.
//
// Only what numpy.savez and savez_compressed write: local headers in order, stored or deflated,
// little-endian float32, C order. Throws std::runtime_error on anything else.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe::test {

class Npz {
 public:
  explicit Npz(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    const std::size_t end = bytes_.rfind("PK\5\6");
    if (end == std::string::npos) throw std::runtime_error(path + " is not a zip file");
    std::size_t entry = number<std::uint32_t>(end + 16);
    for (auto left = number<std::uint16_t>(end + 10); left > 0; --left) entry = read_entry(entry);
  }

  const std::vector<float>& at(const std::string& name) const { return arrays_.at(name); }

 private:
  template <class T>
  T number(std::size_t offset) const {
    T value;
    if (offset + sizeof value > bytes_.size()) throw std::runtime_error("zip file cut short");
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// Reads one entry of the central directory; returns where the next one starts.
  std::size_t read_entry(std::size_t at) {
    const auto method = number<std::uint16_t>(at + 10);
    const auto packed = number<std::uint32_t>(at + 20);
    const auto size = number<std::uint32_t>(at + 24);
    const auto name_size = number<std::uint16_t>(at + 28);
    const std::size_t local = number<std::uint32_t>(at + 42);
    const std::string name = bytes_.substr(at + 46, name_size);
    const std::size_t data =
        local + 30 + number<std::uint16_t>(local + 26) + number<std::uint16_t>(local + 28);
    const std::string raw = bytes_.substr(data, packed);
    arrays_[name.substr(0, name.rfind(".npy"))] = floats(method == 0 ? raw : inflated(raw, size));
    return at + 46 + name_size + number<std::uint16_t>(at + 30) + number<std::uint16_t>(at + 32);
  }

  static std::string inflated(const std::string& raw, std::size_t size) {
    std::string out(size, '\0');
    z_stream stream{};
    inflateInit2(&stream, -MAX_WBITS);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    stream.avail_in = static_cast<uInt>(raw.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(size);
    const int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("bad deflate data in npz");
    return out;
  }

  static std::vector<float> floats(const std::string& npy) {
    if (npy.compare(0, 8, std::string("\x93NUMPY\1\0", 8)) != 0 ||
        npy.find("'<f4'") == std::string::npos || npy.find("False") == std::string::npos) {
      throw std::runtime_error("not a version 1, C order, float32 npy");
    }
    std::uint16_t header;
    std::memcpy(&header, npy.data() + 8, 2);
    std::vector<float> values((npy.size() - 10 - header) / 4);
    std::memcpy(values.data(), npy.data() + 10 + header, values.size() * 4);
    return values;
  }

  std::string bytes_;
  std::map<std::string, std::vector<float>> arrays_;
};

}  // namespace troupe::test
