#include "runtime/http/answer_writer.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
/// A connection at rest keeps no buffer larger than this.
constexpr std::size_t kKeepBytesMax = 16 * 1024;

/// The current second as an IMF-fixdate; formatted once a second and thread.
std::string_view http_date() {
  thread_local std::time_t last = 0;
  thread_local char text[40] = "";
  const std::time_t now = std::time(nullptr);
  if (now != last) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    last = now;
  }
  return text;
}

void append_number(std::string& out, std::uint64_t number, int base) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  out.append(digits, end);
}

/// The framing is the writer's: a caller's copy of these would contradict it.
bool is_framing_field(std::string_view name) {
  return name == "content-length" || name == "transfer-encoding" || name == "connection" ||
         name == "date";
}

void empty(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeepBytesMax) buffer.shrink_to_fit();
}

}  // namespace

void AnswerWriter::start_exchange(const AnswerContext& context) {
  TROUPE_ASSERT(!begun_ || complete(), "the previous answer must be out");
  context_ = context;
  framing_ = Framing::kNone;
  begun_ = ended_ = false;
  status_ = 0;
  payload_total_ = payload_written_ = 0;
  if (!idle()) return;  // a 100 Continue on its way
  offset_ = 0;
  for (auto* buffer : {&prefix_, &body_, &tail_, &prefix_next_, &body_next_}) empty(*buffer);
}

void AnswerWriter::append_head(int status, const Headers& headers) {
  prefix_next_ += "HTTP/1.1 ";
  append_number(prefix_next_, static_cast<std::uint64_t>(status), 10);
  prefix_next_ += ' ';
  prefix_next_ += reason_phrase(status);
  prefix_next_ += "\r\ndate: ";
  prefix_next_ += http_date();
  prefix_next_ += "\r\n";
  for (const Headers* fields : {&headers, &std::as_const(context_.fields)}) {
    for (const auto& [name, value] : *fields) {
      if (!is_framing_field(name)) append_field(prefix_next_, name, value);
    }
  }
  if (!context_.keep_alive) {
    prefix_next_ += "connection: close\r\n";
  } else if (context_.http10) {
    prefix_next_ += "connection: keep-alive\r\n";
  }
}

void AnswerWriter::forbid_keep_alive() {
  TROUPE_ASSERT(!begun_, "the head says whether the connection goes on");
  context_.keep_alive = false;
}

void AnswerWriter::respond(Response response) {
  TROUPE_ASSERT(!begun_, "an exchange has one answer");
  TROUPE_ASSERT(response.status >= 200 && response.status <= 999, "a final status");
  begun_ = ended_ = true;
  status_ = response.status;
  append_head(response.status, response.headers);
  const bool bodiless = response.status == 204 || response.status == 304;
  if (!bodiless) {
    prefix_next_ += "content-length: ";
    append_number(prefix_next_, response.body.size(), 10);
    prefix_next_ += "\r\n";
  }
  prefix_next_ += "\r\n";
  payload_total_ = response.body.size();
  if (context_.head || bodiless) {
    payload_written_ = payload_total_;
    return;
  }
  framing_ = Framing::kLength;
  body_next_ = std::move(response.body);
}

void AnswerWriter::begin(int status, const Headers& headers) {
  TROUPE_ASSERT(!begun_, "an exchange has one answer");
  TROUPE_ASSERT(status >= 200 && status <= 999, "a final status");
  begun_ = true;
  status_ = status;
  if (context_.http10) context_.keep_alive = context_.head && context_.keep_alive;
  append_head(status, headers);
  if (context_.head || status == 204 || status == 304) {
    framing_ = Framing::kNone;
  } else if (context_.http10) {
    framing_ = Framing::kUntilClose;
  } else {
    framing_ = Framing::kChunked;
    prefix_next_ += "transfer-encoding: chunked\r\n";
  }
  prefix_next_ += "\r\n";
}

void AnswerWriter::write(std::string_view bytes) {
  TROUPE_ASSERT(begun_ && !ended_, "write() belongs between begin() and end()");
  payload_total_ += bytes.size();
  if (framing_ == Framing::kNone) {
    payload_written_ = payload_total_;
  } else {
    body_next_.append(bytes);
  }
}

void AnswerWriter::end() {
  TROUPE_ASSERT(begun_ && !ended_, "end() comes once, after begin()");
  ended_ = true;
  if (framing_ == Framing::kChunked) tail_next_ = kLastChunk;
}

bool AnswerWriter::can_probe() const {
  return !context_.http10 && !ended_ && idle() && (!begun_ || framing_ == Framing::kChunked);
}

void AnswerWriter::probe() {
  TROUPE_ASSERT(can_probe(), "a probe needs a silent place");
  prefix_next_ += begun_ ? std::string_view("0") : kContinue;
}

void AnswerWriter::add_continue() {
  TROUPE_ASSERT(!begun_, "100 Continue comes before the answer");
  prefix_next_ += kContinue;
}

AnswerWriter::Pieces AnswerWriter::next() {
  if (flush_left() == 0) {
    offset_ = 0;
    prefix_.clear();
    body_.clear();
    tail_.clear();
    std::swap(prefix_, prefix_next_);
    std::swap(body_, body_next_);
    std::swap(tail_, tail_next_);
    if (framing_ == Framing::kChunked && !body_.empty()) {
      append_number(prefix_, body_.size(), 16);
      prefix_ += "\r\n";
      tail_.insert(0, "\r\n");
    }
  }
  Pieces pieces{prefix_, body_, tail_};
  std::size_t skip = offset_;
  for (auto& piece : pieces) {
    const std::size_t part = std::min(skip, piece.size());
    piece.remove_prefix(part);
    skip -= part;
  }
  return pieces;
}

void AnswerWriter::wrote(std::size_t bytes) {
  TROUPE_ASSERT(bytes <= flush_left(), "no more can be written than was offered");
  const auto payload_out = [&] {
    return std::clamp(offset_, prefix_.size(), prefix_.size() + body_.size()) - prefix_.size();
  };
  const std::size_t before = payload_out();
  offset_ += bytes;
  payload_written_ += payload_out() - before;
}

}  // namespace troupe::http
