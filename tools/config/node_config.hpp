// The configuration of a node: what `troupe node` reads, as plain structs.
//
// The member initialisers are the defaults (a laptop: loopback, CPU, one rank). What each key
// means, its limits and its flag stand in node_schema.cpp; rules between keys in node_checks.cpp.
// Names follow vLLM and SGLang where they have one.
//
// Units are in the types; a plain integer's unit is in the schema. 0 means "decide for me" where
// the schema says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe::config {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError, kOff };
enum class DeviceKind { kCpu, kScripted, kSimulated };

constexpr std::uint64_t kKiB = 1ull << 10;
constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;

struct NodeSection {
  std::string host = "127.0.0.1";
  std::int64_t port = 8000;
  std::int64_t admin_port = 8001;
  std::string admin_token;
  std::vector<std::string> roles = {"gateway", "rank"};
  std::string join;
  std::string cluster_listen;
  Duration heartbeat_interval = milliseconds(250);
  Duration drain_timeout = seconds(10);
  LogLevel log_level = LogLevel::kInfo;
  bool log_json = false;
};

struct ModelSection {
  std::string path;
  std::string served_name;
  std::int64_t max_model_len = 0;
};

struct EngineSection {
  DeviceKind device = DeviceKind::kCpu;
  std::int64_t ranks = 1;
  std::int64_t threads = 0;
  Bytes kv_memory = Bytes(kGiB);
  std::int64_t kv_blocks = 0;
  std::int64_t max_num_seqs = 64;
  std::int64_t max_num_batched_tokens = 512;
  bool async = true;
  bool batch_invariant = true;
  Duration watchdog = seconds(30);
  std::string cost_file;
};

enum class ScriptedRecipe { kBytes, kDeepseekV4, kDeepseekV41 };

struct ScriptedSection {
  std::string directory;
  ScriptedRecipe recipe = ScriptedRecipe::kBytes;
};

/// Step times of a simulated GPU, from the fit in ../shared/simulation/CALIB.md (calib.json):
/// prefill(q tokens after c cached) = base + per_token * q + context_cost * q * (c + q/2);
/// decode(B rows of N tokens in all) = base + context * B * length/131072 + per_token * N
///   + (per_token_beyond_knee - per_token) * max(0, N - knee);
/// a step with both: their sum, less mixed_step_saving (0: nothing published says it).
struct SimulatedSection {
  Duration prefill_base = nanoseconds(21'967'374);
  Duration prefill_per_token = nanoseconds(10'838);
  double prefill_context_cost = 0;  // the sources do not determine it; they allow 0 to 1e-11
  Duration decode_base = nanoseconds(9'803'817);
  Duration decode_context = nanoseconds(14'680);
  Duration decode_per_token = nanoseconds(4'082);
  Duration decode_per_token_beyond_knee = nanoseconds(13'740);
  std::int64_t decode_knee = 272;
  Duration mixed_step_saving;
};

struct GatewaySection {
  std::int64_t io_threads = 0;
  std::int64_t max_connections = 4096;
  std::int64_t max_queue = 256;
  Bytes max_body_bytes = Bytes(32 * kMiB);
  Bytes max_open_body_bytes = Bytes(kGiB);
  Bytes max_header_bytes = Bytes(64 * kKiB);
  Bytes stream_buffer_bytes = Bytes(256 * kKiB);
  Duration request_timeout = seconds(600);
  Duration header_timeout = seconds(10);
  Duration body_timeout = seconds(60);
  Duration write_timeout = seconds(30);
  /// Longer than the pools of common clients and proxies keep a connection (up to 90 s), so that
  /// they close first and never write into a closing one.
  Duration keepalive_timeout = seconds(120);
  Duration park_timeout = seconds(10);
  Duration retry_after = seconds(1);
  /// Below the idle timers of proxies and clients (nginx: 60 s).
  Duration stream_keepalive = seconds(15);
  std::vector<std::string> api_keys;
  std::vector<std::string> cors_origins;
  std::string tls_certificate;
  std::string tls_key;
  std::int64_t responses_max = 10'000;
  Bytes responses_bytes = Bytes(64 * kMiB);
  /// As long as OpenAI keeps them.
  Duration responses_ttl = seconds(30 * 86'400);
  std::string responses_file;
};

enum class RecipeCompat { kNone, kDeepseek };
enum class OverRoom { kClamp, kReject };

/// How requests are read (docs/recipe.md, Modes).
struct RecipeSection {
  RecipeCompat compat = RecipeCompat::kNone;
  bool default_thinking = true;
  OverRoom max_tokens_over_room = OverRoom::kClamp;
};

struct ObserveSection {
  std::string access_log = "off";
  bool access_log_health = false;
  Bytes access_log_text = Bytes(0);
};

struct NodeConfig {
  NodeSection node;
  ModelSection model;
  EngineSection engine;
  ScriptedSection scripted;
  SimulatedSection simulated;
  GatewaySection gateway;
  RecipeSection recipe;
  ObserveSection observe;
};

}  // namespace troupe::config
