#include "actors/gateway/answer_id.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

using recipe::Protocol;

TEST(AnswerId, EveryProtocolHasItsPrefix) {
  const RequestId id(0x12ab3400000001);
  EXPECT_EQ(answer_id(Protocol::kChat, id), "chatcmpl-0012ab3400000001");
  EXPECT_EQ(answer_id(Protocol::kResponses, id), "resp_0012ab3400000001");
  EXPECT_EQ(answer_id(Protocol::kMessages, id), "msg_0012ab3400000001");
  EXPECT_EQ(to_string(Subject{}), "");
}

TEST(AnswerId, IsReadBackWithItsPrefixWithoutItOrAsANumber) {
  const RequestId id(0x12ab3400000001);
  for (const char* text : {"chatcmpl-0012ab3400000001", "resp_0012ab3400000001",
                           "msg_0012ab3400000001", "0012ab3400000001", "5254789407440897"}) {
    EXPECT_EQ(request_of(text), id) << text;
  }
  EXPECT_EQ(request_of("7"), RequestId(7));
  for (const char* text :
       {"", "nonsense", "chatcmpl-", "resp_xyz", "msg_0012ab3400000001 ", "-1"}) {
    EXPECT_FALSE(request_of(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace troupe
