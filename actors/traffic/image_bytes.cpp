#include "actors/traffic/image_bytes.hpp"

#include <zlib.h>

#include <string_view>
#include <vector>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {

void put_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
}

/// Length, type, data, checksum of type and data (PNG specification, section 5.3).
void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  put_number(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  out.append(type).append(data);
  put_number(out,
             static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(out.data() + begin),
                                              static_cast<uInt>(out.size() - begin))));
}

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int code =
      compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  TROUPE_ASSERT(code == Z_OK, "the bound of zlib holds");
  out.resize(size);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kDigits[(three >> (18 - 6 * k)) & 63];
    }
  }
  return out;
}

}  // namespace

std::string png_file(const PromptImage& image) {
  constexpr std::uint32_t kSideMax = 65'535;
  TROUPE_ASSERT(image.width > 0 && image.height > 0, "an image has pixels");
  TROUPE_ASSERT(image.width <= kSideMax && image.height <= kSideMax, "the flags bound it");
  std::string row(1, '\0');  // no filter
  for (std::uint32_t x = 0; x < image.width; ++x) {
    row += static_cast<char>(image.content >> (x % 8 * 8));
  }
  std::string pixels;
  pixels.reserve(row.size() * image.height);
  for (std::uint32_t y = 0; y < image.height; ++y) pixels += row;
  std::string header;
  put_number(header, image.width);
  put_number(header, image.height);
  header += std::string{8, 0, 0, 0, 0};  // bits, grey, deflate, adaptive filters, not interlaced
  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", compressed(pixels));
  put_chunk(file, "IEND", "");
  return file;
}

std::string image_url(const PromptImage& image) {
  return "data:image/png;base64," + base64(png_file(image));
}

}  // namespace troupe
