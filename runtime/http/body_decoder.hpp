// Compressed request bodies: gzip, deflate and zstd, decoded as they come. Pure.
//
// Why decode while reading: a body that is kept compressed until it is whole must be decoded at
// once later, on somebody else's time; and a bomb (a kilobyte that means a gigabyte) is only seen
// by whoever counts what comes out.
//
// Protocol: feed() the pieces of the encoded body in order; each decoded piece goes to the sink,
// which says no when it can take no more. finish() when the encoded body is over.
//
// Room: feed() stops when about so many bytes were decoded, wherever in the input that is (a
// kilobyte of zstd may mean 32 MiB), and goes on with the next call. So whoever decodes on a thread
// that others need decides how long it is held.
//
// Invariants
//   1. The decoded bytes do not depend on how the input was split.
//   2. A decoder holds a window and one piece, whatever the input claims: 40 KiB for gzip and
//      deflate, at most 8 MiB for zstd (RFC 9659 forbids larger windows on the web; the memory is
//      touched only as far as bytes were decoded).
//   3. After a sink's no or an error nothing more is decoded.
//   4. Several gzip members or zstd frames in a row are one body (RFC 1952 section 2.2, RFC 8878
//      section 3.1). Bytes after the end of a deflate stream, or none of its end, are an error.
//
// `deflate` means the zlib format (RFC 9110 section 8.4.1.2); the raw one, which old clients send
// under that name, is told by its first two bytes and taken as well.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace troupe::http {

class BodyDecoder {
 public:
  /// What can be decoded, as `accept-encoding` says it.
  static constexpr const char* kCodings = "gzip, deflate, zstd";
  static constexpr std::size_t kPieceBytes = 16 * 1024;

  enum class Outcome {
    kMore,     ///< all input was taken
    kPaused,   ///< the room is used up: feed again what is left of the input, if only nothing
    kRefused,  ///< the sink said no
    kCorrupt,  ///< not a body of this coding
  };
  /// False: stop.
  using Sink = std::function<bool(std::string_view piece)>;

  virtual ~BodyDecoder() = default;

  /// Null for a coding that is none of kCodings (case does not matter; x-gzip is gzip).
  static std::unique_ptr<BodyDecoder> make(std::string_view coding);
  static bool supports(std::string_view coding);

  /// Takes from the front of `bytes`, and takes what was decoded off `room`; over by at most one
  /// piece.
  virtual Outcome feed(std::string_view& bytes, std::size_t& room, const Sink& sink) = 0;
  /// False: the body ended within a member or frame. An empty body is no body of any coding.
  virtual bool finish() const = 0;
};

}  // namespace troupe::http
