#include "runtime/http/body_decoder.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>

#include "runtime/base/assert.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

using Piece = std::array<char, BodyDecoder::kPieceBytes>;

/// Where pieces are decoded to; a sink copies what it keeps.
Piece& decoded_piece() {
  thread_local Piece piece;
  return piece;
}

/// gzip and both forms of deflate.
class ZlibDecoder final : public BodyDecoder {
 public:
  enum class Format { kGzip, kDeflate };

  explicit ZlibDecoder(Format format) : format_(format) {
    if (format_ == Format::kGzip) begin(15 + 16);  // zlib: 32 KiB window, gzip wrapper only
  }
  ~ZlibDecoder() override {
    if (begun_) inflateEnd(&stream_);
  }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;

  Outcome feed(std::string_view& bytes, std::size_t& room, const Sink& sink) override {
    if (!begun_) {
      while (start_size_ < start_.size() && !bytes.empty()) {
        start_[start_size_++] = bytes.front();
        bytes.remove_prefix(1);
      }
      if (start_size_ < start_.size()) return Outcome::kMore;
      begin(has_zlib_header() ? 15 : -15);
      std::string_view start(start_.data(), start_.size());
      std::size_t enough = kPieceBytes;  // two bytes mean less
      const auto outcome = decode(start, enough, sink);
      if (outcome != Outcome::kMore) return outcome;
    }
    return decode(bytes, room, sink);
  }

  bool finish() const override { return ended_; }

 private:
  void begin(int window_bits) {
    const int made = inflateInit2(&stream_, window_bits);
    TROUPE_ASSERT(made == Z_OK, "zlib has memory for a window");
    begun_ = true;
  }

  /// RFC 1950 section 2.2: method 8, and the two bytes are a multiple of 31.
  bool has_zlib_header() const {
    const unsigned first = static_cast<unsigned char>(start_[0]);
    const unsigned second = static_cast<unsigned char>(start_[1]);
    return (first & 0x0f) == 8 && (first * 256 + second) % 31 == 0;
  }

  Outcome decode(std::string_view& bytes, std::size_t& room, const Sink& sink) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    const Outcome outcome = inflate_some(room, sink);
    bytes.remove_prefix(bytes.size() - stream_.avail_in);
    return outcome;
  }

  Outcome inflate_some(std::size_t& room, const Sink& sink) {
    Piece& piece = decoded_piece();
    while (stream_.avail_in > 0 || full_) {
      if (room == 0) return Outcome::kPaused;
      if (ended_ && !next_member()) return Outcome::kCorrupt;
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return Outcome::kCorrupt;
      const std::size_t count = piece.size() - stream_.avail_out;
      room -= std::min(room, count);
      if (count > 0 && !sink({piece.data(), count})) return Outcome::kRefused;
      ended_ = result == Z_STREAM_END;
      full_ = !ended_ && stream_.avail_out == 0;
    }
    return Outcome::kMore;
  }

  bool next_member() {
    if (format_ != Format::kGzip) return false;
    ended_ = false;
    return inflateReset(&stream_) == Z_OK;
  }

  const Format format_;
  z_stream stream_{};
  bool begun_ = false;
  bool ended_ = false;  ///< at the end of a stream or member
  bool full_ = false;   ///< the last call filled the piece: there may be more without input
  std::array<char, 2> start_{};
  std::size_t start_size_ = 0;
};

class ZstdDecoder final : public BodyDecoder {
 public:
  /// RFC 9659: a decoder on the web need not take windows above 8 MiB, an encoder must not ask.
  static constexpr int kWindowLogMax = 23;

  ZstdDecoder() : stream_(ZSTD_createDCtx()) {
    TROUPE_ASSERT(stream_ != nullptr, "zstd has memory for a decoder");
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindowLogMax);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Outcome feed(std::string_view& bytes, std::size_t& room, const Sink& sink) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    const Outcome outcome = decompress_some(in, room, sink);
    bytes.remove_prefix(in.pos);
    return outcome;
  }

  bool finish() const override { return ended_; }

 private:
  Outcome decompress_some(ZSTD_inBuffer& in, std::size_t& room, const Sink& sink) {
    Piece& piece = decoded_piece();
    while (in.pos < in.size || full_) {
      if (room == 0) return Outcome::kPaused;
      ZSTD_outBuffer out{piece.data(), piece.size(), 0};
      const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(result)) return Outcome::kCorrupt;
      room -= std::min(room, out.pos);
      if (out.pos > 0 && !sink({piece.data(), out.pos})) return Outcome::kRefused;
      ended_ = result == 0;
      full_ = !ended_ && out.pos == out.size;
    }
    return Outcome::kMore;
  }

  ZSTD_DCtx* stream_;
  bool ended_ = false;  ///< at the end of a frame
  bool full_ = false;   ///< there may be more without input
};

enum class Coding { kNone, kGzip, kDeflate, kZstd };

Coding coding_of(std::string_view name) {
  if (iequals(name, "gzip") || iequals(name, "x-gzip")) return Coding::kGzip;
  if (iequals(name, "deflate")) return Coding::kDeflate;
  if (iequals(name, "zstd")) return Coding::kZstd;
  return Coding::kNone;
}

}  // namespace

bool BodyDecoder::supports(std::string_view coding) {
  return coding_of(coding) != Coding::kNone;
}

std::unique_ptr<BodyDecoder> BodyDecoder::make(std::string_view coding) {
  switch (coding_of(coding)) {
    case Coding::kGzip:
      return std::make_unique<ZlibDecoder>(ZlibDecoder::Format::kGzip);
    case Coding::kDeflate:
      return std::make_unique<ZlibDecoder>(ZlibDecoder::Format::kDeflate);
    case Coding::kZstd:
      return std::make_unique<ZstdDecoder>();
    case Coding::kNone:
      break;
  }
  return nullptr;
}

}  // namespace troupe::http
