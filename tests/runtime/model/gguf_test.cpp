#include "runtime/model/gguf.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "runtime/base/rng.hpp"
#include "tests/runtime/model/gguf_builder.hpp"

namespace troupe {
namespace {

using test::GgufBuilder;

/// Two small tensors and one value of every kind that is asked for.
GgufBuilder sample() {
  GgufBuilder builder;
  builder.string_key("general.architecture", "llama");
  builder.key<std::uint32_t>("llama.block_count", GgufKind::kUint32, 30);
  builder.key<std::int8_t>("small", GgufKind::kInt8, -3);
  builder.key<std::uint64_t>("huge", GgufKind::kUint64, ~0ull);
  builder.key<float>("theta", GgufKind::kFloat32, 100000.0f);
  builder.key<std::uint8_t>("flag", GgufKind::kBool, 1);
  builder.strings_key("words", {"a", "", "long one"});
  builder.array_key<std::int32_t>("types", GgufKind::kInt32, {3, -1, 7});
  builder.tensors = {{"a", 0, {8, 2}, 0}, {"b.q", 8, {32, 3, 2}, 64}};
  builder.data_bytes = 64 + 34 * 6;
  return builder;
}

std::string failure(const GgufBuilder& builder, Code code = Code::kCorrupt) {
  const auto file = builder.open();
  if (file.ok()) return "opened";
  EXPECT_EQ(file.error().code, code) << file.error().message;
  EXPECT_TRUE(file.error().message.starts_with("test.gguf")) << file.error().message;
  return file.error().message;
}

void expect_failure(const GgufBuilder& builder, std::string_view part, Code code = Code::kCorrupt) {
  const std::string message = failure(builder, code);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Gguf, reads_values_of_every_kind) {
  const auto opened = sample().open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const GgufFile& file = **opened;
  EXPECT_EQ(file.string_value("general.architecture").value(), "llama");
  EXPECT_EQ(file.unsigned_value("llama.block_count").value(), 30u);
  EXPECT_EQ(file.unsigned_value("huge").value(), ~0ull);
  EXPECT_EQ(file.real_value("theta").value(), 100000.0);
  EXPECT_TRUE(file.bool_value("flag").value());
  EXPECT_EQ(file.string_array("words").value(),
            (std::vector<std::string_view>{"a", "", "long one"}));
  EXPECT_EQ(file.int_array("types").value(), (std::vector<std::int64_t>{3, -1, 7}));
  EXPECT_EQ(file.keys().front(), "general.architecture");
}

TEST(Gguf, says_why_a_value_cannot_be_had) {
  const auto file = sample().open().value();
  EXPECT_EQ(file->unsigned_value("absent").error().code, Code::kNotFound);
  EXPECT_EQ(file->unsigned_value("small").error().code, Code::kCorrupt);
  EXPECT_EQ(file->string_value("theta").error().message,
            "test.gguf: the key theta holds a float32, not a string");
  EXPECT_EQ(file->int_array("words").error().code, Code::kCorrupt);
  EXPECT_EQ(file->bool_value("types").error().code, Code::kCorrupt);
}

TEST(Gguf, gives_tensors_with_their_bytes) {
  const auto file = sample().open().value();
  ASSERT_EQ(file->tensors().size(), 2u);
  const GgufTensor* q = file->find("b.q");
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->type, TensorType::kQ8_0);
  EXPECT_EQ(q->rows(), 6u);
  EXPECT_EQ(q->row_bytes(), 34u);
  EXPECT_EQ(q->data.size(), 204u);
  EXPECT_EQ(q->data[1], std::byte{static_cast<unsigned char>(65 * 7)});
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST(Gguf, reads_version_2_and_refuses_others) {
  auto builder = sample();
  builder.version = 2;
  EXPECT_TRUE(builder.open().ok());
  builder.version = 1;
  expect_failure(builder, "version 1", Code::kUnsupported);
  builder.magic = 7;
  expect_failure(builder, "not a GGUF file");
}

TEST(Gguf, every_truncation_is_an_error) {
  const std::string text = sample().text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(GgufBuilder::open(std::string_view(text).substr(0, size)).ok()) << size;
  }
}

TEST(Gguf, random_damage_never_crashes) {
  const std::string text = sample().text();
  Rng rng(20240601);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = text;
    for (auto n = 1 + rng.below(4); n > 0; --n) {
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.next());
    }
    const auto file = GgufBuilder::open(damaged);
    if (!file.ok()) continue;
    for (const auto& tensor : (*file)->tensors()) {
      ASSERT_EQ(tensor.data.size(), tensor.rows() * tensor.row_bytes());
    }
  }
}

TEST(Gguf, refuses_huge_counts_without_allocating) {
  auto builder = sample();
  builder.extra_keys = 1ull << 60;
  expect_failure(builder, "key count");
  builder = sample();
  builder.extra_tensors = ~0ull - 2;
  expect_failure(builder, "tensor count");
  builder = sample();
  std::string payload;
  GgufBuilder::put<std::uint32_t>(payload, 8);
  GgufBuilder::put<std::uint64_t>(payload, 1ull << 62);
  builder.raw_key("many", 9, payload);
  expect_failure(builder, "the length of \"many\"");
  builder = sample();
  builder.raw_key("long", 8, std::string(8, '\xff'));
  expect_failure(builder, "\"long\" has 18446744073709551615 bytes");
}

TEST(Gguf, refuses_keys_that_mean_nothing) {
  auto builder = sample();
  builder.string_key("general.architecture", "again");
  expect_failure(builder, "\"general.architecture\" is there twice");
  builder = sample();
  builder.string_key("", "x");
  expect_failure(builder, "empty");
  builder = sample();
  builder.raw_key("odd", 13, "");
  expect_failure(builder, "unknown value type 13");
  builder = sample();
  std::string nested;
  GgufBuilder::put<std::uint32_t>(nested, 9);
  builder.raw_key("nested", 9, nested);
  expect_failure(builder, "array of arrays", Code::kUnsupported);
}

TEST(Gguf, honours_and_checks_the_alignment) {
  GgufBuilder builder;
  builder.key<std::uint32_t>("general.alignment", GgufKind::kUint32, 64);
  builder.alignment = 64;
  builder.tensors = {{"a", 0, {4}, 0}, {"b", 0, {4}, 64}};
  builder.data_bytes = 80;
  ASSERT_TRUE(builder.open().ok());
  builder.tensors[1].offset = 32;
  expect_failure(builder, "not aligned");
  for (const std::uint32_t wrong : {0u, 4u, 24u, 1u << 21}) {
    GgufBuilder other;
    other.key<std::uint32_t>("general.alignment", GgufKind::kUint32, wrong);
    expect_failure(other, "general.alignment");
  }
}

TEST(Gguf, refuses_tensors_that_cannot_be) {
  const auto with = [](GgufBuilder::Tensor tensor) {
    auto builder = sample();
    builder.tensors.push_back(std::move(tensor));
    return builder;
  };
  expect_failure(with({"c", 0, {8}, 0}), "overlap");
  expect_failure(with({"c", 0, {8}, 32}), "overlap");
  expect_failure(with({"c", 0, {8}, 1ull << 63}), "outside");
  expect_failure(with({"c", 0, {8}, ~0ull - 31}), "outside");
  expect_failure(with({"c", 0, {}, 0}), "0 dimensions");
  expect_failure(with({"c", 0, {1, 1, 1, 1, 1}, 0}), "5 dimensions");
  expect_failure(with({"c", 0, {4, 0}, 0}), "empty dimension");
  expect_failure(with({"c", 0, {1ull << 32, 1ull << 32}, 0}), "larger than the file");
  expect_failure(with({"c", 0, {~0ull}, 0}), "larger than the file");
  expect_failure(with({"c", 8, {31}, 0}), "not a multiple of 32");
  expect_failure(with({"", 0, {4}, 0}), "no name");
  expect_failure(with({std::string(300, 'n'), 0, {4}, 0}), "300 bytes");
}

TEST(Gguf, refuses_a_name_that_is_there_twice) {
  auto builder = sample();
  builder.tensors[1].name = "a";
  expect_failure(builder, "\"a\" is there twice");
}

TEST(Gguf, names_tensor_and_type_that_it_cannot_run) {
  auto builder = sample();
  builder.tensors.push_back({"blk.0.q", 12, {256}, 0});
  builder.tensors.push_back({"blk.1.q", 99, {256}, 0});
  expect_failure(builder, "tensor \"blk.0.q\" has type Q4_K (12)", Code::kUnsupported);
  expect_failure(builder, "1 others", Code::kUnsupported);
}

TEST(Gguf, maps_a_file_and_reports_what_is_not_one) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "gguf_test";
  std::filesystem::create_directories(folder);
  const auto path = folder / "x.gguf";
  std::ofstream(path, std::ios::binary) << sample().text();
  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ((*file)->path(), path.string());
  EXPECT_EQ((*file)->find("a")->data[1], std::byte{7});
  EXPECT_EQ(GgufFile::open(folder / "none").error().code, Code::kNotFound);
  EXPECT_EQ(GgufFile::open(folder).error().code, Code::kCorrupt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace troupe
