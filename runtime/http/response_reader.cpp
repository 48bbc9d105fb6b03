#include "runtime/http/response_reader.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <optional>

#include "runtime/base/assert.hpp"
#include "runtime/http/parser_feed.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

namespace beast = boost::beast;

/// Beast's parser calling our sink.
class ResponseParser final : public beast::http::basic_parser<false> {
 public:
  explicit ResponseParser(ResponseReader::Sink& sink) : sink_(sink) {}
  bool interim() const { return status_ / 100 == 1; }

 private:
  using Text = beast::string_view;
  using Ec = beast::error_code;
  using Length = boost::optional<std::uint64_t>;

  static std::string_view view(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(beast::http::verb, Text, Text, int, Ec&) override {}
  void on_response_impl(int status, Text, int, Ec&) override { status_ = status; }
  void on_field_impl(beast::http::field, Text name, Text value, Ec&) override {
    if (!is_header_done()) headers_.emplace_back(to_lower(view(name)), std::string(view(value)));
  }
  void on_header_impl(Ec&) override {
    if (!interim()) sink_.on_head(status_, headers_);
  }
  void on_body_init_impl(const Length&, Ec&) override {}
  std::size_t on_body_impl(Text body, Ec&) override {
    if (!body.empty()) sink_.on_body(view(body));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Ec&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Ec&) override {
    if (!body.empty()) sink_.on_body(view(body));
    return body.size();
  }
  void on_finish_impl(Ec&) override {}

  ResponseReader::Sink& sink_;
  int status_ = 0;
  Headers headers_;
};

}  // namespace

struct ResponseReader::Impl {
  explicit Impl(Sink& s) : sink(s) { begin(); }

  Sink& sink;
  std::optional<ResponseParser> parser;
  std::string carry;
  bool head = false;
  bool started = false;
  int interim = 0;

  void begin() {
    parser.emplace(sink);
    parser->header_limit(static_cast<std::uint32_t>(kHeaderBytesMax));
    // Not boost::none: Beast 1.74 then refuses every body with a length.
    parser->body_limit(std::numeric_limits<std::uint64_t>::max());
    parser->eager(true);
    parser->skip(head);
    carry.clear();
  }
};

ResponseReader::ResponseReader(Sink& sink) : impl_(std::make_unique<Impl>(sink)) {}

ResponseReader::~ResponseReader() = default;

void ResponseReader::reset(bool head) {
  impl_->head = head;
  impl_->started = false;
  impl_->interim = 0;
  impl_->begin();
}

Result<std::size_t> ResponseReader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  impl_->started = impl_->started || !bytes.empty();
  while (taken < bytes.size() && !done()) {
    beast::error_code error;
    taken += feed_parser(*impl_->parser, impl_->carry, bytes.substr(taken), error);
    if (error)
      return Error{Code::kCorrupt, "the server's answer is not valid HTTP: " + error.message()};
    if (!impl_->parser->is_done() || !impl_->parser->interim()) continue;
    if (++impl_->interim > kInterimMax)
      return Error{Code::kCorrupt, "the server sends interim answers without end"};
    impl_->begin();
  }
  return taken;
}

Status ResponseReader::finish() {
  if (done()) return ok_status();
  ResponseParser& parser = *impl_->parser;
  if (parser.is_header_done() && parser.need_eof()) {
    beast::error_code error;
    parser.put_eof(error);
    if (!error) return ok_status();
  }
  return Error{Code::kLost, impl_->started
                                ? "the server closed the connection in the middle of its answer"
                                : "the server closed the connection without an answer"};
}

bool ResponseReader::done() const {
  return impl_->parser->is_done();
}
bool ResponseReader::started() const {
  return impl_->started;
}
bool ResponseReader::keep_alive() const {
  return impl_->parser->keep_alive() && !impl_->parser->need_eof();
}

}  // namespace troupe::http
