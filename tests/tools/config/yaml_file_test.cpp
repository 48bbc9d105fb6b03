// What a configuration file may not contain, and where the refusal points.
#include <string>

#include "tests/tools/config/config_test.hpp"

namespace troupe::config {
namespace {

using testing::expect_part;
using testing::refusal;

TEST(YamlFile, SyntaxErrorsHaveAPosition) {
  expect_part(refusal("node:\n  host: a: b\n"), "dir/x.yaml:2:10: not YAML");
  expect_part(refusal("node: {port: 1\n"), "dir/x.yaml:2:1: not YAML");
}

TEST(YamlFile, DuplicateKeysAreRefusedAtTheSecond) {
  expect_part(refusal("node:\n  port: 1\n  host: a\n  port: 2\n"),
              "dir/x.yaml:4:3: node.port: this key is given twice");
  expect_part(refusal("node:\n  port: 1\nmodel:\n  path: x\nnode:\n  host: a\n"),
              "dir/x.yaml:5:1: node: this key is given twice");
}

TEST(YamlFile, TabsAndStrangeBytesAreRefused) {
  expect_part(refusal("node:\n\tport: 1\n"), "dir/x.yaml:2:1: expected spaces");
  expect_part(refusal(std::string("node:\n  host: a\0b\n", 17)),
              "dir/x.yaml:2:10: found a control character");
  expect_part(refusal("node:\n  host: \xc3\x28\n"),
              "dir/x.yaml:2:9: found bytes that are not UTF-8");
  expect_part(refusal("\xef\xbb\xbfnode:\n"), "dir/x.yaml:1:1: found a byte order mark");
  expect_part(refusal(std::string(300'000, '#')), "at most 256 KiB");
}

TEST(YamlFile, AliasesTagsAndDocumentsAreRefused) {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string previous(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [*" + previous + ",*" + previous + "]\n";
  }
  expect_part(refusal(bomb), "dir/x.yaml:1:4: expected a plain value, found an anchor");
  expect_part(refusal("node:\n  host: *h\n"), "dir/x.yaml:2:9");
  expect_part(refusal("node:\n  port: !!int 3\n"), "found the tag");
  expect_part(refusal("node:\n  port: 3\n---\nnode:\n  port: 4\n"), "found a second");
}

TEST(YamlFile, ShapesOtherThanSectionsAndKeysAreRefused) {
  expect_part(refusal("just words\n"), "dir/x.yaml:1:1: expected sections");
  expect_part(refusal("- a\n- b\n"), "dir/x.yaml:1:1: expected a key or a scalar, found a list");
  expect_part(refusal("node:\n  port:\n    x: 1\n"),
              "dir/x.yaml:3:5: expected a scalar, found a mapping for key \"port\"");
  expect_part(refusal("node:\n  roles: [[gateway]]\n"), "found a list");
  expect_part(refusal("node:\n  ? [a]\n  : b\n"), "found a list");
  expect_part(refusal("node.port: 3\n"), "expected a section and a key below it");
  expect_part(refusal("node:\n  port:\n"), "dir/x.yaml:2:3: expected a value, found none");
  expect_part(refusal(", a\n"), "dir/x.yaml:1:");  // yaml-cpp alone would not end
  expect_part(refusal(std::string(2000, '[')), "dir/x.yaml:1:");
}

TEST(YamlFile, ValuesEndOnTheirLine) {
  const std::string one_line = "expected a value on one line for key \"host\"";
  const auto unclosed = refusal("node:\n  host: \"abc\n  port: 3\n");
  expect_part(unclosed, "dir/x.yaml:2:9: " + one_line);
  expect_part(unclosed, "closing quote or bracket");
  expect_part(refusal("node:\n  host: 'it''s\n"), one_line);
  expect_part(refusal("node:\n  host: abc\n    def\n"), one_line);
  expect_part(refusal("node:\n  host: |\n    abc\n"), one_line);
  EXPECT_EQ(testing::load("# \xe2\x82\xac\r\nnode:\r\n  host: 'it''s'\r\n")->config.node.host,
            "it's");
  EXPECT_EQ(testing::load("node: {host: \"a\\\"b\"}")->config.node.host, "a\"b");
}

TEST(YamlFile, CommentsAndEmptySectionsAreFine) {
  EXPECT_TRUE(testing::load("").ok());
  EXPECT_TRUE(testing::load("# nothing\n").ok());
  EXPECT_TRUE(testing::load("node:\n  # all default\nmodel:\n").ok());
}

}  // namespace
}  // namespace troupe::config
