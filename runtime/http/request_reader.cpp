#include "runtime/http/request_reader.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>

#include "runtime/base/assert.hpp"
#include "runtime/http/body_collector.hpp"
#include "runtime/http/head_check.hpp"
#include "runtime/http/parser_feed.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

namespace beast = boost::beast;

constexpr std::string_view kContentEncoding = "content-encoding";

/// Absolute targets ("http://host/path") lose their origin: the server has one.
std::string_view without_origin(std::string_view target) {
  const auto scheme = target.find("://");
  if (target[0] == '/' || scheme == std::string_view::npos) return target;
  const auto slash = target.find_first_of("/?", scheme + 3);
  return slash == std::string_view::npos ? "/" : target.substr(slash);
}

/// Beast's parser writing into our Request.
class RequestParser final : public beast::http::basic_parser<true> {
 public:
  RequestParser(std::size_t body_bytes_max, ByteBudget& budget) : body(body_bytes_max, budget) {}

  Request request;
  BodyCollector body;
  int version = 11;
  bool wants_continue = false;

 private:
  using Text = beast::string_view;
  using Ec = beast::error_code;
  using Length = boost::optional<std::uint64_t>;

  static std::string_view view(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(beast::http::verb, Text method, Text target, int number, Ec&) override {
    version = number;
    request.method = view(method);
    const auto local = without_origin(view(target));
    const auto question = local.find('?');
    request.path = local.substr(0, question);
    if (request.path.empty()) request.path += '/';
    if (question != std::string_view::npos) request.query = local.substr(question + 1);
  }
  void on_response_impl(int, Text, int, Ec&) override {}
  void on_field_impl(beast::http::field, Text name, Text value, Ec&) override {
    if (is_header_done()) return;  // a trailer: allowed, ignored
    request.headers.emplace_back(to_lower(view(name)), std::string(view(value)));
    if (request.headers.back().first == "expect") wants_continue = true;
  }
  void on_header_impl(Ec&) override {}
  // A body grows by what arrives, not by what its length promises.
  void on_body_init_impl(const Length&, Ec&) override {}
  std::size_t on_body_impl(Text bytes, Ec& error) override {
    if (!body.append(view(bytes))) error = beast::http::error::bad_value;  // body says why
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Ec&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, Ec& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(Ec&) override {}
};

}  // namespace

struct RequestReader::Impl {
  Impl(std::size_t header_max, std::size_t body_max, ByteBudget& bodies)
      : header_bytes_max(header_max), body_bytes_max(body_max), budget(bodies) {}

  std::size_t header_bytes_max;
  std::size_t body_bytes_max;
  ByteBudget& budget;
  Stage stage = Stage::kEmpty;
  bool after_cr = false;  ///< within an empty line before the request
  std::string head;       ///< until the empty line
  std::string carry;      ///< of the chunk coding
  std::optional<RequestParser> parser;
  Refusal refusal;

  std::size_t turn_bytes = SIZE_MAX;

  void refuse(Refusal why) {
    refusal = std::move(why);
    stage = Stage::kRefused;
    head.clear();
    carry.clear();
  }

  std::size_t skip_empty_lines(std::string_view bytes);
  std::size_t feed_head(std::string_view bytes);
  void parse_head();
  std::size_t feed_body(std::string_view bytes);
  /// If all of it is here, and decoded.
  void finish_body();
  /// What a parser's error means to the client. `otherwise`: for what has no reason of its own.
  void refuse_parsed(const beast::error_code& error, const char* otherwise);
};

/// RFC 9112 section 2.2: empty lines before a request are skipped (old clients send one).
std::size_t RequestReader::Impl::skip_empty_lines(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && bytes[taken] == (after_cr ? '\n' : '\r')) {
    after_cr = !after_cr;
    ++taken;
  }
  if (after_cr && taken < bytes.size()) refuse({400, "bad_request", "the head has a bare CR"});
  return taken;
}

std::size_t RequestReader::Impl::feed_head(std::string_view bytes) {
  const std::size_t before = head.size();
  // One byte over the limit is enough to see that it is passed.
  const std::size_t room = header_bytes_max + 1 - before;
  head.append(bytes.substr(0, room));
  const auto end = head.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  // What follows the empty line is the body's and may be any bytes.
  const auto own = std::string_view(head).substr(0, end == std::string::npos ? end : end + 4);
  if (auto verdict = check_head_prefix(own, before)) return refuse(*verdict), bytes.size();
  stage = Stage::kHead;
  if (end == std::string::npos || end + 4 > header_bytes_max) {
    const auto line_end = head.find("\r\n");
    if (std::min(line_end, head.size()) > kRequestLineBytesMax) {
      refuse({414, "uri_too_long", "the request line is longer than 8 KiB"});
    } else if (head.size() > header_bytes_max) {
      refuse({431, "headers_too_large", "the request header is over the limit of this server"});
    }
    return bytes.size();
  }
  const std::size_t taken = end + 4 - before;
  head.resize(end + 4);
  parse_head();
  return taken;
}

void RequestReader::Impl::parse_head() {
  if (auto verdict = check_head(head)) return refuse(*verdict);
  parser.emplace(body_bytes_max, budget);
  parser->header_limit(static_cast<std::uint32_t>(header_bytes_max + 1));
  parser->body_limit(body_bytes_max);
  beast::error_code error;
  parser->put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) return refuse_parsed(error, "the request header is malformed");
  TROUPE_ASSERT(parser->is_header_done(), "a checked head with its empty line is complete");
  head = {};
  parser->body.begin_turn(turn_bytes);
  parser->body.set_coding(find_header(parser->request.headers, kContentEncoding));
  parser->eager(true);
  stage = parser->is_done() ? Stage::kDone : Stage::kBody;
}

std::size_t RequestReader::Impl::feed_body(std::string_view bytes) {
  beast::error_code error;
  const std::size_t taken = feed_parser(*parser, carry, bytes, error);
  if (error) {
    refuse_parsed(error, "the chunked request body is malformed");
  } else {
    finish_body();
  }
  return taken;
}

void RequestReader::Impl::finish_body() {
  if (!parser->is_done() || parser->body.is_behind()) return;
  stage = Stage::kDone;
  if (!parser->body.finish()) refuse(*parser->body.refusal());
}

void RequestReader::Impl::refuse_parsed(const beast::error_code& error, const char* otherwise) {
  if (parser->body.refusal()) return refuse(*parser->body.refusal());
  if (error == beast::http::error::body_limit) return refuse(body_too_large());
  refuse({400, "bad_request", otherwise});
}

RequestReader::RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max,
                             ByteBudget& bodies)
    : impl_(std::make_unique<Impl>(header_bytes_max, body_bytes_max, bodies)) {}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const Stage before = impl_->stage;
    if (before == Stage::kDone || before == Stage::kRefused || is_behind()) break;
    const auto rest = bytes.substr(taken);
    if (before == Stage::kEmpty) {
      const std::size_t skipped = impl_->skip_empty_lines(rest);
      taken += skipped;
      if (skipped > 0 || impl_->stage == Stage::kRefused) continue;
    }
    taken += before == Stage::kBody ? impl_->feed_body(rest) : impl_->feed_head(rest);
    if (before != Stage::kBody && impl_->stage == Stage::kBody) break;
  }
  return taken;
}

RequestReader::Stage RequestReader::stage() const {
  return impl_->stage;
}

const Refusal& RequestReader::refusal() const {
  TROUPE_ASSERT(impl_->stage == Stage::kRefused, "there is a refusal only after one");
  return impl_->refusal;
}

const Request* RequestReader::head_or_null() const {
  return impl_->parser ? &impl_->parser->request : nullptr;
}

const Request& RequestReader::request() const {
  TROUPE_ASSERT(impl_->parser, "the head must be known");
  return impl_->parser->request;
}

Request RequestReader::take() {
  TROUPE_ASSERT(impl_->stage == Stage::kDone, "take() needs a complete request");
  Request request = std::move(impl_->parser->request);
  request.body = impl_->parser->body.take_body();
  // The body is what it was before it was encoded.
  std::erase_if(request.headers, [](const auto& field) { return field.first == kContentEncoding; });
  return request;
}

ByteLease RequestReader::take_lease() {
  TROUPE_ASSERT(impl_->stage == Stage::kDone, "take_lease() needs a complete request");
  return impl_->parser->body.take_lease();
}

void RequestReader::begin_turn(std::size_t decoded_max) {
  impl_->turn_bytes = decoded_max;
  if (impl_->parser) impl_->parser->body.begin_turn(decoded_max);
}

bool RequestReader::is_behind() const {
  return impl_->stage == Stage::kBody && impl_->parser->body.is_behind();
}

void RequestReader::go_on() {
  if (!is_behind()) return;
  if (!impl_->parser->body.go_on()) return impl_->refuse(*impl_->parser->body.refusal());
  impl_->finish_body();
}

void RequestReader::reset() {
  impl_->stage = Stage::kEmpty;
  impl_->after_cr = false;
  impl_->head = {};  // a connection at rest owns no buffer
  impl_->carry = {};
  impl_->parser.reset();
}

bool RequestReader::http10() const {
  return impl_->parser->version < 11;
}
bool RequestReader::keep_alive() const {
  return impl_->parser->keep_alive();
}
bool RequestReader::wants_continue() const {
  return impl_->parser->wants_continue && !http10();
}

}  // namespace troupe::http
