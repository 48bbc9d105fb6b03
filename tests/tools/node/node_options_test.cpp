// The command line of `troupe node`: flags reach the configuration, refusals name the nearest word.
#include "tools/node/node_options.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <vector>

#include "tools/cli/cli.hpp"
#include "tools/version/version_command.hpp"

namespace troupe {
namespace {

class CommandLine {
 public:
  CommandLine() : node_(program_.root().command("node", "")), options_(node_) {
    add_version_command(program_.root());
    program_.root().require_command();
    cli::Command model = program_.root().command("model", "");
    model.require_command();
    model.command("show", "");
  }

  Result<config::LoadedNodeConfig> load(const std::vector<const char*>& arguments) {
    parse(arguments);
    return options_.load();
  }

  std::string refusal(const std::vector<const char*>& arguments) {
    const auto code = run(arguments);
    return code.ok() ? "" : code.error().message;
  }

  void parse(const std::vector<const char*>& arguments) {
    const auto code = run(arguments);
    ASSERT_TRUE(code.ok()) << code.error().message;
  }
  const NodeOptions& options() const { return options_; }
  std::string help() const { return node_.help(); }

 private:
  Result<int> run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "troupe");
    return program_.run(static_cast<int>(arguments.size()), arguments.data());
  }
  cli::Program program_{"troupe", ""};
  cli::Command node_;
  NodeOptions options_;
};

TEST(NodeOptions, WithoutFlagsItIsTheLaptop) {
  const auto loaded = CommandLine().load({"node"});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.node.port, 8000);
}

TEST(NodeOptions, FlagsReachTheirKeys) {
  const auto loaded = CommandLine().load(
      {"node", "--port", "9", "--roles", "rank", "--join", "127.0.0.1:9000", "--log-json",
       "--no-async", "--max-num-seqs=3", "--kv-memory", "2GiB", "--model", "smollm2"});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.node.port, 9);
  EXPECT_EQ(loaded->config.node.roles, std::vector<std::string>{"rank"});
  EXPECT_TRUE(loaded->config.node.log_json);
  EXPECT_FALSE(loaded->config.engine.async);
  EXPECT_EQ(loaded->config.engine.max_num_seqs, 3);
  EXPECT_EQ(loaded->config.engine.kv_memory, Bytes(2 * config::kGiB));
  EXPECT_EQ(loaded->config.model.path, "smollm2");
}

TEST(NodeOptions, AFlagBeatsTheFile) {
  const std::string path = ::testing::TempDir() + "node_options.yaml";
  std::ofstream(path) << "node:\n  port: 11\n  host: localhost\n";
  const auto loaded =
      CommandLine().load({"node", "--config", path.c_str(), "--port", "12", "--dump-config"});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.node.port, 12);
  EXPECT_EQ(loaded->config.node.host, "localhost");
}

TEST(NodeOptions, AMissingFileAndAWrongValueAreExplained) {
  const auto missing = CommandLine().load({"node", "--config", "/nowhere/x.yaml"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  const auto wrong = CommandLine().load({"node", "--port", "x"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message,
            "--port (node.port): expected a whole number from 0 to 65535, found \"x\"");
}

TEST(NodeOptions, HelpNamesLimitsUnitsAndDefaults) {
  const std::string help = CommandLine().help();
  EXPECT_NE(help.find("--max-queue"), std::string::npos);
  EXPECT_NE(help.find("in requests [256]"), std::string::npos) << help;
  EXPECT_NE(help.find("MiB, KiB, TB, GB, MB, kB, B"), std::string::npos) << help;
}

TEST(CommandLineRefusal, NamesTheNearestWord) {
  EXPECT_EQ(CommandLine().refusal({"verison"}),
            "unknown subcommand \"verison\"; the nearest is version\n"
            "(troupe --help lists what there is)");
  EXPECT_EQ(CommandLine().refusal({"model", "shw"}),
            "unknown subcommand \"shw\"; the nearest is show\n"
            "(troupe model --help lists what there is)");
  EXPECT_EQ(CommandLine().refusal({"node", "--prot=3"}),
            "unknown flag \"--prot\"; the nearest is --port\n"
            "(troupe node --help lists what there is)");
}

TEST(CommandLineRefusal, NamesNothingThatIsFarAway) {
  EXPECT_EQ(CommandLine().refusal({"node", "--frobnicate"}),
            "unknown flag \"--frobnicate\"\n(troupe node --help lists what there is)");
  EXPECT_EQ(CommandLine().refusal({"serve"}),
            "unknown subcommand \"serve\"\n(troupe --help lists what there is)");
}

TEST(CommandLineRefusal, KnowsTheFlagsOfOtherServers) {
  EXPECT_EQ(CommandLine().refusal({"node", "--gpu-memory-utilization", "0.9"}),
            "unknown flag \"--gpu-memory-utilization\"; here it is --kv-memory\n"
            "(troupe node --help lists what there is)");
  const std::string absent = CommandLine().refusal({"node", "--tensor-parallel-size=2"});
  EXPECT_NE(absent.find("not there: each rank holds the whole model"), std::string::npos) << absent;
  // Another command's flag is no help.
  EXPECT_EQ(CommandLine().refusal({"node", "--random-input-len", "9"}),
            "unknown flag \"--random-input-len\"\n(troupe node --help lists what there is)");
}

TEST(CommandLineRefusal, AWordAloneIsProbablyTheModel) {
  EXPECT_EQ(CommandLine().refusal({"node", "smollm2"}),
            "unexpected word \"smollm2\"; did you mean --model smollm2?\n"
            "(troupe node --help lists what there is)");
  EXPECT_EQ(CommandLine().refusal({"node", "my.yaml"}),
            "unexpected word \"my.yaml\"; did you mean --config my.yaml?\n"
            "(troupe node --help lists what there is)");
  EXPECT_EQ(CommandLine().refusal({"model", "show", "x"}),
            "unexpected word \"x\"\n(troupe model show --help lists what there is)");
}

TEST(CommandLineRefusal, ARangeReadsAsItWasWritten) {
  cli::Program program("troupe", "");
  double value = 1;
  program.root().option("--temperature", value, "").between(0, 2);
  const char* arguments[] = {"troupe", "--temperature", "3"};
  const auto code = program.run(3, arguments);
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().message,
            "--temperature: expected a number from 0 to 2, found \"3\"\n"
            "(troupe --help lists what there is)");
}

TEST(ExitCode, WhatIsNamedMustBeThere) {
  EXPECT_EQ(cli::report({Code::kInvalid, "x"}), cli::kUsage);
  EXPECT_EQ(cli::report({Code::kNotFound, "x"}), cli::kUsage);
  EXPECT_EQ(cli::report({Code::kIo, "x"}), cli::kFailure);
}

}  // namespace
}  // namespace troupe
