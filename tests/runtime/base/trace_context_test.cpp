#include "runtime/base/trace_context.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kGood = "00-" + kTrace + "-00f067aa0ba902b7-01";

TEST(TraceContext, WhatIsReadIsWrittenAgain) {
  const auto context = parse_traceparent(kGood);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->span, 0x00f067aa0ba902b7u);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(to_traceparent(*context), kGood);
  const auto child = child_of(*context, 0xabc);
  EXPECT_EQ(to_traceparent(child), "00-" + kTrace + "-0000000000000abc-01");
  EXPECT_EQ(child.parent, context->span);
}

TEST(TraceContext, OnlyTheSampledFlagIsKept) {
  const auto with = [](const std::string& flags) {
    return parse_traceparent("00-" + kTrace + "-00f067aa0ba902b7-" + flags);
  };
  EXPECT_FALSE(with("00")->sampled);
  EXPECT_FALSE(with("02")->sampled);
  EXPECT_TRUE(with("03")->sampled);
  EXPECT_EQ(to_traceparent(*with("ff")).substr(53), "01");
}

TEST(TraceContext, LaterVersionsAreReadAsFarAsWeKnow) {
  EXPECT_TRUE(parse_traceparent("cc" + kGood.substr(2)));
  EXPECT_TRUE(parse_traceparent("cc" + kGood.substr(2) + "-what-comes"));
  EXPECT_FALSE(parse_traceparent("cc" + kGood.substr(2) + ".what"));
}

TEST(TraceContext, AnythingElseIsNoTrace) {
  std::string upper = kGood;
  upper[5] = 'F';
  std::string spaced = kGood;
  spaced[35] = ' ';
  for (const std::string& bad :
       {std::string(), upper, spaced, kGood + "0", kGood + "-x", kGood.substr(1),
        kGood.substr(0, 54), "ff" + kGood.substr(2), "0g" + kGood.substr(2), " " + kGood,
        "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
        "00-" + kTrace + "-" + std::string(16, '0') + "-01"}) {
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
  }
}

TEST(TraceContext, StateIsPassedOnWithinBounds) {
  EXPECT_TRUE(is_tracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"));
  EXPECT_TRUE(is_tracestate(std::string(kTracestateBytesMax, 'a')));
  EXPECT_FALSE(is_tracestate(std::string(kTracestateBytesMax + 1, 'a')));
  EXPECT_FALSE(is_tracestate(""));
  EXPECT_FALSE(is_tracestate("a=\x01"));
  EXPECT_FALSE(is_tracestate("a=\xc3\xa4"));
}

}  // namespace
}  // namespace troupe
