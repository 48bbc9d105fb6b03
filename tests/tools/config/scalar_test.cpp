// Spelling of durations, sizes and numbers, and the distance between names.
#include "tools/config/scalar.hpp"

#include <gtest/gtest.h>

#include "runtime/base/nearest.hpp"

namespace troupe::config {
namespace {

TEST(Scalar, DurationsNeedAUnitAndKeepEveryNanosecond) {
  EXPECT_EQ(parse_duration("250ms").value(), milliseconds(250));
  EXPECT_EQ(parse_duration("10.838us").value(), nanoseconds(10838));
  EXPECT_EQ(parse_duration("2h").value(), seconds(7200));
  EXPECT_EQ(parse_duration("0").value(), Duration(0));
  for (const char* text : {"", "10", "s", "1 s", "-1s", "1sec", "1e3s", "9999999999999h", "1..5s",
                           "99999999999999999999.5s", "nans", "."}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
}

TEST(Scalar, SizesAreBinaryOrDecimal) {
  EXPECT_EQ(parse_bytes("1GiB").value().value, 1ull << 30);
  EXPECT_EQ(parse_bytes("1.5KiB").value().value, 1536u);
  EXPECT_EQ(parse_bytes("32MB").value().value, 32'000'000u);
  EXPECT_EQ(parse_bytes("77").value().value, 77u);
  for (const char* text : {"", "1gib", "1K", "-1", "8388608TiB", "0x10", "1GiB "}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

TEST(Scalar, ASizeWithoutAUnitOfOursIsRefusedWithTheUnits) {
  for (const char* text : {"1G", "1gb", "1 GiB"}) {
    const auto refused = parse_bytes(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_NE(refused.error().message.find("units: TiB, GiB, MiB, KiB, TB, GB, MB, kB, B"),
              std::string::npos)
        << refused.error().message;
  }
}

TEST(Scalar, NumbersAreWholeTextsAndFinite) {
  EXPECT_EQ(parse_integer("-12").value(), -12);
  EXPECT_EQ(parse_real("1e-11").value(), 1e-11);
  EXPECT_FALSE(parse_integer("9223372036854775808").ok());
  EXPECT_FALSE(parse_integer("1_000").ok());
  EXPECT_FALSE(parse_integer("12 ").ok());
  EXPECT_FALSE(parse_real("inf").ok());
  EXPECT_FALSE(parse_bool("yes").ok());
}

TEST(Scalar, FormattingReadsBack) {
  for (const std::int64_t ns : {0ll, 1ll, 999ll, 1'500'000'000ll, 60'000'000'000ll, 10'838ll}) {
    EXPECT_EQ(parse_duration(format(Duration(ns))).value(), Duration(ns));
  }
  EXPECT_EQ(format(milliseconds(1500)), "1500ms");
  EXPECT_EQ(format(Bytes(32ull << 20)), "32MiB");
  EXPECT_EQ(format(Bytes(0)), "0B");
}

TEST(Scalar, QuotedTextIsShortAndPrintable) {
  EXPECT_EQ(in_quotes("a\nb\xff"), "\"a\\x0ab\\xff\"");
  EXPECT_EQ(in_quotes(std::string(100, 'x')).size(), 60u + 5u);
}

TEST(Nearest, ATranspositionIsOneStep) {
  EXPECT_EQ(edit_distance("prot", "port"), 1u);
  EXPECT_EQ(edit_distance("", "port"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(nearest("keepalive-timeout", {"header_timeout", "keepalive_timeout"}),
            "keepalive_timeout");
  EXPECT_FALSE(nearest("x", {}).has_value());
}

}  // namespace
}  // namespace troupe::config
