#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"

namespace troupe {
namespace {

constexpr std::string_view kGpt2 =
    R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})";

/// A small file; each part can be put in the place of the good one.
struct File {
  std::string added = R"({"id":4,"content":"<|im_end|>","special":true,"normalized":false},
                         {"id":5,"content":"<b>","special":false,"normalized":true})";
  std::string pre{kGpt2};
  std::string vocab = R"("a":0,"b":1,"ab":2,"Ġ":3)";
  std::string merges = R"("a b")";
  std::string model = R"("type":"BPE","dropout":null)";
  std::string more;

  std::string text() const {
    return R"({"version":"1.0","added_tokens":[)" + added + R"(],"pre_tokenizer":)" + pre +
           R"(,"model":{)" + model + R"(,"vocab":{)" + vocab + R"(},"merges":[)" + merges + "]}" +
           more + "}";
  }
  Error error() const { return read_hf_tokenizer(text()).error(); }
  std::shared_ptr<const Tokenizer> built() const {
    return BpeTokenizer::build(read_hf_tokenizer(text()).value()).value();
  }
};

std::vector<int> id_numbers(const std::vector<TokenId>& ids) {
  std::vector<int> out;
  for (const TokenId id : ids) out.push_back(id.value);
  return out;
}

TEST(HfTokenizerFile, reads_tokens_merges_and_the_added_vocabulary) {
  const auto tokenizer = File().built();
  EXPECT_EQ(tokenizer->size(), 6u);
  EXPECT_EQ(id_numbers(tokenizer->encode("ab b")), (std::vector{2, 3, 1}));
  EXPECT_EQ(id_numbers(tokenizer->encode("a<|im_end|><b>b", true)), (std::vector{0, 4, 5, 1}));
  EXPECT_EQ(id_numbers(tokenizer->encode("a<b>")), (std::vector{0, 1}));  // < and > have no token
  EXPECT_TRUE(tokenizer->is_added(TokenId(5)));
  EXPECT_FALSE(tokenizer->is_control(TokenId(5)));
  EXPECT_EQ(tokenizer->eos(), TokenId(4));
}

TEST(HfTokenizerFile, merges_may_be_pairs_and_added_tokens_may_stand_in_the_vocabulary) {
  File file;
  file.merges = R"(["a","b"])";
  file.vocab += R"(,"<|im_end|>":4)";
  EXPECT_EQ(id_numbers(file.built()->encode("ab<|im_end|>", true)), (std::vector{2, 4}));
}

TEST(HfTokenizerFile, what_is_not_normalized_is_looked_for_first) {
  File file;
  file.added = R"({"id":4,"content":"ab<x","normalized":true},{"id":5,"content":"<x>"})";
  EXPECT_EQ(id_numbers(file.built()->encode("ab<x>", true)), (std::vector{2, 5}));
  EXPECT_EQ(id_numbers(file.built()->encode("ab<x", true)), (std::vector{4}));
}

TEST(HfTokenizerFile, a_template_says_whether_prompts_begin_with_bos) {
  File file;
  file.added = R"({"id":4,"content":"<|begin_of_text|>","special":true})";
  EXPECT_FALSE(file.built()->add_bos());
  file.more = R"(,"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},
      {"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<|begin_of_text|>"}}]}]})";
  EXPECT_TRUE(file.built()->add_bos());
  EXPECT_EQ(file.built()->bos(), TokenId(4));
}

TEST(HfTokenizerFile, normal_form_c_is_done_where_the_file_wants_it) {
  File file;
  file.vocab += R"(,"Ã":6,"©":7,"e":8,"Ì":9,"ģ":10)";
  EXPECT_EQ(id_numbers(file.built()->encode("e\xCC\x81")), (std::vector{8, 9, 10}));
  file.more = R"(,"normalizer":{"type":"NFC"})";
  EXPECT_EQ(id_numbers(file.built()->encode("e\xCC\x81")), (std::vector{6, 7}));
  EXPECT_EQ(id_numbers(file.built()->encode("\xFF"
                                            "e\xCC\x81")),
            (std::vector{6, 7}));
}

TEST(HfTokenizerFile, knows_the_pre_tokenizers_of_the_families) {
  const auto family = [](std::string pre) {
    File file;
    file.pre = std::move(pre);
    const auto vocabulary = read_hf_tokenizer(file.text());
    return vocabulary.ok() ? vocabulary->pre_tokenizer : vocabulary.error().message;
  };
  const auto split = [](const std::string& regex) {
    return R"({"type":"Split","pattern":{"Regex":")" + regex +
           R"("},"behavior":"Isolated","invert":false})";
  };
  const auto sequence = [](const std::string& steps) {
    return R"({"type":"Sequence","pretokenizers":[)" + steps + "]}";
  };
  const std::string bytes = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  const std::string contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
  const std::string rest = R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)";
  const std::string letters = R"([^\\r\\n\\p{L}\\p{N}]?\\p{L}+|)";
  EXPECT_EQ(family(std::string(kGpt2)), "gpt-2");
  EXPECT_EQ(family(sequence(R"({"type":"Digits","individual_digits":true},)" + std::string(kGpt2))),
            "smollm");
  EXPECT_EQ(family(sequence(split(contractions + letters + R"(\\p{N}{1,3})" + rest) + "," + bytes)),
            "llama-bpe");
  EXPECT_EQ(family(sequence(split(contractions + letters + R"(\\p{N})" + rest) + "," + bytes)),
            "qwen2");
  EXPECT_NE(family(sequence(split(R"(\\w+)") + "," + bytes)).find(R"(split/\w+/ bytes)"),
            std::string::npos);
  EXPECT_NE(family(R"({"type":"Metaspace"})").find("unknown step Metaspace"), std::string::npos);
  EXPECT_NE(family("null").find("(none)"), std::string::npos);
}

TEST(HfTokenizerFile, wrong_files_are_refused_with_the_reason) {
  EXPECT_EQ(read_hf_tokenizer("{").error().code, Code::kCorrupt);
  EXPECT_EQ(read_hf_tokenizer("[]").error().message, "it is JSON, but no object");
  EXPECT_EQ(read_hf_tokenizer("{}").error().message, "it has no object \"model\"");
  EXPECT_EQ(read_hf_tokenizer(std::string(100'000, '[')).error().code, Code::kCorrupt);
  const auto message = [](auto change) {
    File file;
    change(file);
    return file.error().message;
  };
  EXPECT_EQ(message([](File& f) { f.model = R"("type":"Unigram")"; }),
            "its model is Unigram; only BPE is read");
  EXPECT_EQ(message([](File& f) { f.model += R"(,"byte_fallback":true)"; }),
            "its model sets byte_fallback");
  EXPECT_EQ(message([](File& f) { f.vocab += R"(,"c":2000000000)"; }),
            "the token \"c\" has no id, or one above 4109");
  EXPECT_EQ(message([](File& f) { f.vocab += R"(,"c":2)"; }),
            "the id 2 is that of \"ab\" and of \"c\"");
  EXPECT_EQ(message([](File& f) { f.added = R"({"id":1,"content":"x"})"; }),
            "the id 1 is that of \"b\" and of \"x\"");
  EXPECT_EQ(message([](File& f) { f.added = R"({"id":9,"content":"x","lstrip":true})"; }),
            "the added token \"x\" sets lstrip");
  EXPECT_EQ(message([](File& f) { f.merges = "7"; }), "merge 0 is no pair of tokens");
  EXPECT_EQ(message([](File& f) { f.more = R"(,"normalizer":{"type":"NFKC"})"; }),
            "its normalizer is NFKC; only NFC is done");
}

TEST(HfTokenizerFile, no_merge_makes_an_added_token) {
  File file;
  file.added = R"({"id":2,"content":"ab","special":false})";
  EXPECT_EQ(BpeTokenizer::build(read_hf_tokenizer(file.text()).value()).error().message,
            "merge 0 (\"a b\") names tokens that the vocabulary does not have");
}

TEST(HfTokenizerFile, errors_of_files_name_the_path) {
  const auto none = load_tokenizer_file("no/such/tokenizer.json");
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_NE(none.error().message.find("no/such/tokenizer.json"), std::string::npos);
  EXPECT_EQ(load_tokenizer_file(".").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace troupe
