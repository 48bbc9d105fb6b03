#include "runtime/http/body_collector.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {

Refusal body_too_large() {
  return {413, "request_too_large",
          "the request body is over the limit of this server (a compressed one counts decoded)"};
}

void BodyCollector::set_coding(std::string_view coding) {
  if (coding.empty() || iequals(coding, "identity")) return;
  decoder_ = BodyDecoder::make(coding);
  TROUPE_ASSERT(decoder_, "the head check lets only known codings pass");
}

bool BodyCollector::append(std::string_view bytes) {
  if (refusal_) return false;
  if (!decoder_) return keep(bytes);
  if (!behind_ && !decode(bytes)) return false;
  if (behind_) waiting_.append(bytes);
  return true;
}

bool BodyCollector::go_on() {
  if (refusal_) return false;
  std::string_view bytes = waiting_;
  if (!decode(bytes)) return false;
  waiting_.erase(0, waiting_.size() - bytes.size());
  return true;
}

bool BodyCollector::decode(std::string_view& bytes) {
  encoded_bytes_seen_ = encoded_bytes_seen_ || !bytes.empty();
  const auto outcome =
      decoder_->feed(bytes, room_, [this](std::string_view piece) { return keep(piece); });
  behind_ = outcome == BodyDecoder::Outcome::kPaused;
  switch (outcome) {
    case BodyDecoder::Outcome::kMore:
    case BodyDecoder::Outcome::kPaused:
      return true;
    case BodyDecoder::Outcome::kRefused:
      return false;
    case BodyDecoder::Outcome::kCorrupt:
      break;
  }
  return refuse({400, "bad_content_encoding",
                 "the request body is not what Content-Encoding says, or asks for a window above "
                 "8 MiB"});
}

bool BodyCollector::finish() {
  if (refusal_) return false;
  TROUPE_ASSERT(!behind_, "a body is over when all of it is decoded");
  // No byte at all is an empty body, whatever coding was announced.
  const bool whole = !decoder_ || !encoded_bytes_seen_ || decoder_->finish();
  decoder_.reset();
  return whole || refuse({400, "bad_content_encoding", "the compressed request body is cut off"});
}

bool BodyCollector::keep(std::string_view piece) {
  if (piece.size() > bytes_max_ - body_.size()) return refuse(body_too_large());
  const std::size_t size = body_.size() + piece.size();
  if (size > body_.capacity()) {
    std::size_t capacity = std::min(bytes_max_, std::max(size, 2 * body_.capacity()));
    // Room to grow is not worth a refusal: whether a body fits must not depend on its packets.
    if (!lease_.grow_to(capacity)) capacity = size;
    if (!lease_.grow_to(capacity))
      return refuse({503,
                     "too_many_bodies",
                     "the bodies of all open requests are over the limit of this server: try again",
                     {{"retry-after", "1"}}});
    body_.reserve(capacity);
  }
  body_.append(piece);
  return true;
}

bool BodyCollector::refuse(Refusal why) {
  // Perhaps within the decoder's feed(): it goes later.
  refusal_ = std::move(why);
  body_ = {};
  waiting_ = {};
  lease_.release();
  return false;
}

}  // namespace troupe::http
