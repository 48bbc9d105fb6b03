// Precedence, refusals with the nearest key, and the dump that explains itself.
#include <fstream>
#include <sstream>

#include "tests/tools/config/config_test.hpp"

namespace troupe::config {
namespace {

using testing::expect_part;
using testing::load;
using testing::refusal;

TEST(Resolve, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const std::string yaml = "node:\n  port: 1001\n";
  EXPECT_EQ(load("")->config.node.port, 8000);
  EXPECT_EQ(load(yaml)->config.node.port, 1001);
  EXPECT_EQ(load(yaml, {{"TROUPE_PORT", "1002"}})->config.node.port, 1002);
  EXPECT_EQ(load(yaml, {{"TROUPE_PORT", "1002"}}, {{"port", "1003"}})->config.node.port, 1003);
}

TEST(Resolve, EveryKindIsTyped) {
  const auto loaded = load(
      "node: {roles: [rank], join: \"127.0.0.1:9000\", log_level: debug, log_json: true, "
      "heartbeat_interval: 1.5s}\n"
      "engine: {device: simulated, kv_memory: 2GiB}\n"
      "simulated: {prefill_context_cost: 1e-11}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.node.roles, std::vector<std::string>{"rank"});
  EXPECT_EQ(loaded->config.node.log_level, LogLevel::kDebug);
  EXPECT_TRUE(loaded->config.node.log_json);
  EXPECT_EQ(loaded->config.node.heartbeat_interval, milliseconds(1500));
  EXPECT_EQ(loaded->config.engine.device, DeviceKind::kSimulated);
  EXPECT_EQ(loaded->config.engine.kv_memory, Bytes(2 * kGiB));
  EXPECT_EQ(loaded->config.simulated.prefill_context_cost, 1e-11);
  EXPECT_EQ(load("model: {path: \"8000\"}\n")->config.model.path, "8000");
  EXPECT_EQ(load("", {{"TROUPE_ROLES", "rank,gateway"}})->config.node.roles.size(), 2u);
}

TEST(Resolve, UnknownKeysNameTheNearestAndAllAreListed) {
  const std::string message =
      refusal("gateway:\n  keepalive-timeout: 90\nrouter:\n  policy: cache_awre\nport: 3\n");
  expect_part(message,
              "dir/x.yaml:2:3: gateway.keepalive-timeout: unknown key; the nearest valid key is "
              "gateway.keepalive_timeout");
  expect_part(message, "dir/x.yaml:3:1: router: unknown section; expected one of node, model");
  expect_part(message, "dir/x.yaml:5:1: port: unknown key; the nearest valid key is node.port");
  expect_part(refusal("admin:\n  require_atuh: true\n"), "dir/x.yaml:1:1: admin: unknown section");
}

TEST(Resolve, WrongTypesAndRangesSayWhatWasExpected) {
  expect_part(refusal("node:\n  port: 80x\n"),
              "dir/x.yaml:2:9: node.port: expected a whole number from 0 to 65535, found \"80x\"");
  expect_part(refusal("node:\n  port: 65536\n"), "from 0 to 65535, found \"65536\"");
  expect_part(refusal("node:\n  port: \"80\"\n"), "remove the quotes");
  expect_part(refusal("node:\n  port: [80]\n"), "found a list");
  expect_part(refusal("node:\n  drain_timeout: 10\n"),
              "expected a duration with its unit (250ms, 10s, 5m) from 0ns to 1h, found \"10\"");
  expect_part(refusal("engine:\n  device: gpu\n"), "expected one of cpu, scripted, simulated");
  expect_part(refusal("node:\n  roles: [gatway]\n"), "(gateway, rank; each at most once)");
  expect_part(refusal("node:\n  roles: [rank, rank]\n"), "found \"rank\" twice");
  expect_part(refusal("node:\n  roles: []\n"), "found an empty list");
  expect_part(refusal("node: 3\n"), "dir/x.yaml:1:7: node: expected keys below this section");
  expect_part(refusal("", {}, {{"max-queue", "-1"}}), "--max-queue (gateway.max_queue): expected");
  expect_part(refusal("", {{"TROUPE_LOG_JSON", "1"}}), "TROUPE_LOG_JSON (node.log_json): expected");
}

TEST(Resolve, MisspeltVariablesAreRefusedOthersPass) {
  expect_part(refusal("", {{"TROUPE_PROT", "1"}}),
              "TROUPE_PROT: unknown variable; the nearest is "
              "TROUPE_PORT");
  expect_part(refusal("", {{"TROUPE_ADMIN_TOKN", "x"}}), "TROUPE_ADMIN_TOKEN");
  EXPECT_TRUE(load("", {{"TROUPE_SHARED", "/x"}, {"TROUPE_NETWORK_TESTS", "1"}}).ok());
  EXPECT_TRUE(load("", {{"TROUPE_COMPANY_LOGO_URL_OF_SOMEBODY", "1"}}).ok());
}

TEST(Resolve, RolesThatServeNothingAloneNeedALink) {
  for (const std::string role : {"gateway", "rank"}) {
    const std::string refused = refusal("node: {roles: [" + role + "]}\n");
    expect_part(refused, "without a " + std::string(role == "rank" ? "gateway" : "rank"));
    expect_part(refused, "--cluster-listen HOST:PORT");
    EXPECT_TRUE(load("node: {roles: [" + role + "], join: \"127.0.0.1:9000\"}\n").ok());
    EXPECT_TRUE(load("node: {roles: [" + role + "], cluster_listen: \"127.0.0.1:0\"}\n").ok());
  }
}

TEST(Resolve, RulesBetweenKeys) {
  expect_part(refusal("node: {port: 9000, admin_port: 9000}\n"),
              "node.admin_port: expected another");
  EXPECT_TRUE(load("node: {port: 0, admin_port: 0}\n").ok());
  expect_part(refusal("node: {join: \"10.0.0.1:9000\"}\n"), "a later version brings");
  expect_part(refusal("node: {cluster_listen: \"0.0.0.0:9000\"}\n"), "expected a loopback host");
  expect_part(refusal("node: {cluster_listen: \"127.0.0.1\"}\n"), "expected HOST:PORT");
  EXPECT_TRUE(load("node: {join: \"localhost:9000\", cluster_listen: \"[::1]:9001\"}\n").ok());
  expect_part(refusal("node: {join: \"localhost:0\"}\n"), "node.join: expected the port of a node");
  EXPECT_TRUE(load("node: {cluster_listen: \"127.8.8.8:0\"}\n").ok());
  expect_part(refusal("engine: {threads: 257}\n"), "from 0 to 256");
  expect_part(refusal("engine: {device: scripted}\n"), "scripted.directory: expected a folder");
  expect_part(refusal("engine: {max_num_batched_tokens: 8}\n"), "at least engine.max_num_seqs");
  expect_part(refusal("engine: {batch_invariant: false}\n"), "batch_invariant: expected true");
}

TEST(Resolve, PathsInAFileCountFromItsFolder) {
  const std::string yaml = "engine: {device: scripted}\nscripted: {directory: scripts}\n";
  EXPECT_EQ(load(yaml)->config.scripted.directory, "dir/scripts");
  EXPECT_EQ(load(yaml, {}, {{"script-directory", "here"}})->config.scripted.directory, "here");
}

TEST(Dump, NamesTheSourceOfEachValueAndReadsBack) {
  const auto loaded = load("node:\n  port: 1001\nmodel:\n  path: \"a: #b\"\n",
                           {{"TROUPE_ADMIN_TOKEN", "geheim"}}, {{"max-queue", "7"}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  expect_part(loaded->dump, "  port: 1001  # file dir/x.yaml:2:9\n");
  expect_part(loaded->dump, "  # admin_token: \"***\"  # env TROUPE_ADMIN_TOKEN\n");
  expect_part(loaded->dump, "  max_queue: 7  # flag --max-queue\n");
  expect_part(loaded->dump, "  host: 127.0.0.1  # default\n");
  EXPECT_EQ(loaded->dump.find("geheim"), std::string::npos);
  const auto again = load(loaded->dump);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->config.model.path, "a: #b");
  EXPECT_EQ(again->config.gateway.max_queue, 7);
}

std::string source_file(const std::string& name) {
  const char* root = std::getenv("TROUPE_SOURCE");
  std::ifstream file((root ? std::string(root) + "/" : "") + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Presets, LaptopIsBuiltInAndEqualsTheDefaults) {
  EXPECT_EQ(laptop_yaml(), source_file("config/laptop.yaml"));
  const Inputs built_in{{{"laptop.yaml", std::string(laptop_yaml()), true}}, {}, {}};
  const auto laptop = load_node_config(built_in);
  ASSERT_TRUE(laptop.ok()) << laptop.error().message;
  EXPECT_EQ(laptop->dump, load_node_config({})->dump);
}

TEST(Presets, ScriptedIsAccepted) {
  const auto scripted =
      load_node_config({{{"config/scripted.yaml", source_file("config/scripted.yaml")}}, {}, {}});
  ASSERT_TRUE(scripted.ok()) << scripted.error().message;
  EXPECT_EQ(scripted->config.scripted.directory, "config/scripts");
}

TEST(Resolve, AccessOfTheGatewayIsChecked) {
  const auto loaded = load("gateway: {cors_origins: [\"https://a.example\", \"http://b:3000\"]}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.gateway.cors_origins.size(), 2u);
  EXPECT_TRUE(load("gateway: {cors_origins: []}\n").ok());
  expect_part(refusal("gateway: {cors_origins: [a.example]}\n"),
              "gateway.cors_origins: expected origins such as https://app.example");
  expect_part(refusal("gateway: {api_keys: [secret]}\n"),
              "gateway.api_keys: entry 1: expected NAME:ID");
  expect_part(refusal("gateway: {tls_key: x.key}\n"), "gateway.tls_certificate: expected a file");
  expect_part(refusal("gateway: {tls_certificate: x.crt}\n"), "gateway.tls_key: expected a file");
  expect_part(refusal("gateway: {max_body_bytes: 1GiB, max_open_body_bytes: 1MiB}\n"),
              "gateway.max_open_body_bytes: expected at least gateway.max_body_bytes");
}

}  // namespace
}  // namespace troupe::config
