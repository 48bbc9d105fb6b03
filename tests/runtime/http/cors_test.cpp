// CORS: who may read, what a preflight says, and that errors carry the headers too.
#include "runtime/http/cors.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

constexpr const char* kApp = "https://app.example";

Request preflight(const char* origin) {
  Request request;
  request.method = "OPTIONS";
  request.headers = {{"origin", origin},
                     {"access-control-request-method", "POST"},
                     {"access-control-request-headers", "authorization,x-stainless-os"}};
  return request;
}

TEST(Cors, OffMeansNoHeaderAndNoPreflight) {
  EXPECT_TRUE(cors_headers({}, {{"origin", kApp}}).empty());
  EXPECT_FALSE(preflight_answer({}, preflight(kApp)));
}

TEST(Cors, PreflightEchoesWhatIsAsked) {
  const CorsPolicy policy{{kApp}};
  const auto answer = preflight_answer(policy, preflight(kApp));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(find_header(answer->headers, "access-control-allow-headers"),
            "authorization,x-stainless-os");
  EXPECT_NE(find_header(answer->headers, "access-control-max-age"), "");
  const auto other = preflight_answer(policy, preflight("https://evil.example"));
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->headers.empty());
  Request plain = preflight(kApp);
  plain.method = "POST";
  EXPECT_FALSE(preflight_answer(policy, plain));
}

TEST(Cors, OnlyListedOriginsAreAllowed) {
  const CorsPolicy policy{{kApp, "http://localhost:3000"}};
  const auto allowed = [&](const char* origin) {
    return std::string(
        find_header(cors_headers(policy, {{"origin", origin}}), "access-control-allow-origin"));
  };
  EXPECT_EQ(allowed(kApp), kApp);
  EXPECT_EQ(allowed("http://localhost:3000"), "http://localhost:3000");
  for (const char* origin : {"https://app.example.evil", "http://app.example", "null",
                             "https://app.example:8443", "https://APP.example"})
    EXPECT_EQ(allowed(origin), "") << origin;
  EXPECT_EQ(find_header(cors_headers(policy, {}), "vary"), "origin");
  EXPECT_EQ(find_header(cors_headers({{"*"}}, {{"origin", "null"}}), "access-control-allow-origin"),
            "*");
}

TEST(Cors, OriginsOfTheConfigurationAreChecked) {
  EXPECT_TRUE(check_origins({}).ok());
  EXPECT_TRUE(check_origins({"*"}).ok());
  EXPECT_TRUE(check_origins({kApp, "http://[::1]:80"}).ok());
  for (const char* wrong : {"app.example", "https://app.example/", "https://App.example", ""})
    EXPECT_FALSE(check_origins({wrong}).ok()) << wrong;
  EXPECT_FALSE(check_origins({"*", kApp}).ok());
}

TEST(Cors, RefusalsAndAnswersOverASocket) {
  ServerOptions options;
  options.cors.origins = {kApp};
  TestServer test(options);
  test.reply_ok();
  test.handler.early = [](const Request&) { return Response{401, {}, "no"}; };
  RawSocket whole(test.port);
  whole.send("GET / HTTP/1.1\r\nhost: a\r\norigin: https://app.example\r\n\r\n");
  ASSERT_TRUE(whole.read_until("\r\n\r\nok"));
  EXPECT_NE(whole.received.find("access-control-allow-origin: https://app.example\r\n"),
            std::string::npos);
  EXPECT_NE(whole.received.find("vary: origin\r\n"), std::string::npos);
  RawSocket refused(test.port);
  refused.send(
      "POST / HTTP/1.1\r\nhost: a\r\norigin: https://app.example\r\ncontent-length: 5\r\n\r\n");
  ASSERT_TRUE(refused.read_to_end());
  EXPECT_EQ(refused.status(), 401);
  EXPECT_NE(refused.received.find("access-control-allow-origin: https://app.example\r\n"),
            std::string::npos);
}

}  // namespace
}  // namespace troupe::http
