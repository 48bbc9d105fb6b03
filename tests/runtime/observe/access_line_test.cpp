// Lines of the access log: what they say, and that no client can make them say something else.
#include "runtime/observe/access_line.hpp"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

AccessRecord full() {
  AccessRecord record;
  record.unix_ms = 1'796'034'424'123;
  record.id = {"chatcmpl-", 0x12ab34};
  record.client_id = "mine";
  record.trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0x10, 0xf067aa0ba902b7, true};
  record.tenant = "alice";
  record.peer = "127.0.0.1:5";
  record.method = "POST";
  record.path = "/v1/chat/completions";
  record.protocol = "chat";
  record.model = "m";
  record.status = 200;
  record.streamed = true;
  record.generated = true;
  record.prompt_tokens = 40;
  record.cached_tokens = 3;
  record.output_tokens = 2;
  record.reasoning_tokens = 1;
  record.queued = milliseconds(10);
  record.first_token = microseconds(35'500);
  record.decoded = milliseconds(7);
  record.total = milliseconds(50);
  record.finish = "stop";
  record.body_bytes = 1234;
  return record;
}

std::string line_of(const AccessRecord& record) {
  std::string out;
  append_access_line(out, record);
  return out;
}

TEST(AccessLine, SaysEverything) {
  EXPECT_EQ(line_of(full()),
            R"({"time":"2026-11-30T10:27:04.123Z","request_id":"chatcmpl-000000000012ab34",)"
            R"("client_request_id":"mine","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736",)"
            R"("span_id":"0000000000000010","parent_span_id":"00f067aa0ba902b7","sampled":true,)"
            R"("tenant":"alice","client":"127.0.0.1:5","method":"POST",)"
            R"("path":"/v1/chat/completions","protocol":"chat","model":"m","status":200,)"
            R"("stream":true,"prompt_tokens":40,"cached_tokens":3,"output_tokens":2,)"
            R"("reasoning_tokens":1,"queue_ms":10.000,"prefill_ms":25.500,"ttft_ms":35.500,)"
            R"("decode_ms":7.000,"total_ms":50.000,"finish":"stop","bytes_out":1234,"error":null})"
            "\n");
}

TEST(AccessLine, WhatThereIsNotIsNull) {
  AccessRecord record;
  record.status = 400;
  const std::string line = line_of(record);
  rapidjson::Document parsed;
  ASSERT_FALSE(parsed.Parse(line.c_str()).HasParseError());
  EXPECT_EQ(parsed.MemberCount(), 27u);
  for (const char* key : {"request_id", "trace_id", "sampled", "tenant", "path", "model",
                          "prompt_tokens", "queue_ms", "ttft_ms", "finish", "error"}) {
    EXPECT_TRUE(parsed[key].IsNull()) << key;
  }
  EXPECT_FALSE(parsed.HasMember("request_text"));
}

TEST(AccessLine, BytesOfClientsCannotForgeLines) {
  AccessRecord record = full();
  record.path = "/\"}\n{\"forged\":1}\r\n\x1b[31m\x7f\\";
  record.path += '\0';
  record.model = "\xff\xc3\xa4\xed\xa0\x80\xe0\x80";
  const std::string line = line_of(record);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_NE(line.find(R"("path":"/\"}\u000a{\"forged\":1}\u000d\u000a\u001b[31m\u007f\\\u0000")"),
            std::string::npos)
      << line;
  rapidjson::Document parsed;
  ASSERT_FALSE((parsed.Parse<rapidjson::kParseValidateEncodingFlag>(line.c_str()).HasParseError()));
  EXPECT_STREQ(parsed["model"].GetString(),
               "\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(AccessLine, AnyBytesMakeOneValidLine) {
  Rng random(5);
  for (int i = 0; i < 2000; ++i) {
    AccessRecord record = full();
    record.client_id.clear();
    for (std::uint64_t size = random.below(20); size > 0; --size) {
      record.client_id += static_cast<char>(random.below(256));
    }
    const std::string line = line_of(record);
    rapidjson::Document parsed;
    ASSERT_FALSE((parsed.Parse<rapidjson::kParseValidateEncodingFlag>(line.c_str(), line.size())
                      .HasParseError()))
        << line;
    ASSERT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  }
}

TEST(AccessLine, LongNamesAreCutAndTextsAreThereIfAsked) {
  AccessRecord record = full();
  record.model = std::string(5000, 'm');
  record.with_text = true;
  record.request_text = "a prompt";
  const std::string line = line_of(record);
  EXPECT_LT(line.size(), 1500u);
  EXPECT_NE(line.find(R"("request_text":"a prompt","answer_text":null})"), std::string::npos);
}

}  // namespace
}  // namespace troupe
