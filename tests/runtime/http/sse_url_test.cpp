// The two small parsers of the client side.
#include <gtest/gtest.h>

#include "runtime/http/sse.hpp"
#include "runtime/http/url.hpp"

namespace troupe::http {
namespace {

TEST(Sse, SplitAnywhereGivesTheSameEvents) {
  const std::string bytes =
      "\xef\xbb\xbf: ping\n\ndata: one\r\n\r\nevent: error\rdata:two\rdata:  lines\r\r"
      "id: 7\nretry: 9\nevent: x\n\ndata\n\ndata: [DONE]\n\ndata: cut";
  const std::vector<SseEvent> want = {
      {"message", "one"}, {"error", "two\n lines"}, {"message", ""}, {"message", "[DONE]"}};
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    SseParser parser;
    std::vector<SseEvent> got;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      auto events = parser.feed(std::string_view(bytes).substr(at, step));
      ASSERT_TRUE(events.ok());
      got.insert(got.end(), events->begin(), events->end());
    }
    ASSERT_EQ(got, want) << "step " << step;
  }
}

TEST(Sse, LinesAndEventsAreBounded) {
  SseParser one_line(100);
  EXPECT_FALSE(one_line.feed("data: " + std::string(100, 'x')).ok());
  EXPECT_FALSE(one_line.feed("\n\n").ok()) << "a failed parser stays failed";
  SseParser many_lines(100);
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "data: xxxx\n";
  EXPECT_EQ(many_lines.feed(lines).error().code, Code::kTooLarge);
}

TEST(Url, Parts) {
  const auto url = parse_url("http://example:8000/v1/models?x=1#part");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url.value().host, "example");
  EXPECT_EQ(url.value().port, 8000);
  EXPECT_EQ(url.value().target, "/v1/models?x=1");
  EXPECT_EQ(parse_url("HTTP://h").value().target, "/");
  EXPECT_EQ(parse_url("http://h").value().port, 80);
  EXPECT_EQ(parse_url("http://h?q").value().target, "/?q");
  EXPECT_EQ(parse_url("http://[::1]:9").value().host, "::1");
  EXPECT_EQ(parse_url("http://[::1]:9").value().port, 9);
}

TEST(Url, ErrorsSayWhatToDo) {
  EXPECT_EQ(parse_url("https://h").error().code, Code::kUnsupported);
  for (const char* bad : {"", "h:1", "ftp://h", "http://", "http://:1", "http://h:0", "http://h:x",
                          "http://h:70000", "http://u@h", "http://[::1", "http://[::1]x",
                          "http://h /", "http://h/a b", "http://h/\r\nx: y"}) {
    EXPECT_EQ(parse_url(bad).error().code, Code::kInvalid) << bad;
  }
}

}  // namespace
}  // namespace troupe::http
