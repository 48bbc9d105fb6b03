#include "tools/config/node_schema.hpp"

#include "runtime/base/engine_limits.hpp"
#include "tools/config/dump.hpp"

namespace troupe::config {

namespace {

void bind_node(Schema& s, NodeSection& node) {
  s.add("node.host", "host", &node.host, "address that the HTTP port listens on");
  s.add("node.port", "port", &node.port, "HTTP port; 0 takes a free one").between(0, 65535);
  s.add("node.admin_port", "admin-port", &node.admin_port,
        "port of the admin interface on loopback; 0 turns it off")
      .between(0, 65535);
  s.add("node.admin_token", "admin-token", &node.admin_token,
        "token that admin calls must carry; empty asks for none")
      .hidden();
  s.add("node.roles", "roles", &node.roles, "what this node does").each_of({"gateway", "rank"});
  s.add("node.join", "join", &node.join,
        "HOST:PORT of a node to join (loopback until TLS comes); empty joins none");
  s.add("node.cluster_listen", "cluster-listen", &node.cluster_listen,
        "HOST:PORT where nodes may join (loopback until TLS comes); empty listens nowhere");
  s.add("node.heartbeat_interval", "heartbeat-interval", &node.heartbeat_interval,
        "between heartbeats; a node silent for 4 of them is lost")
      .between(milliseconds(10), seconds(60));
  s.add("node.drain_timeout", "drain-timeout", &node.drain_timeout,
        "how long shutdown waits for running requests before it cancels them")
      .between(seconds(0), seconds(3600));
  s.add_choice<LogLevel>("node.log_level", "log-level", &node.log_level,
                         {{"trace", LogLevel::kTrace},
                          {"debug", LogLevel::kDebug},
                          {"info", LogLevel::kInfo},
                          {"warn", LogLevel::kWarn},
                          {"error", LogLevel::kError},
                          {"off", LogLevel::kOff}},
                         "least severe log lines that are written");
  s.add("node.log_json", "log-json", &node.log_json, "write each log line as one JSON object");
}

void bind_model(Schema& s, ModelSection& model) {
  s.add("model.path", "model", &model.path, "GGUF file, or a known name such as smollm2");
  s.add("model.served_name", "served-model-name", &model.served_name,
        "model id that clients use; empty takes the model's own");
  s.add("model.max_model_len", "max-model-len", &model.max_model_len,
        "longest prompt and answer together; 0 takes the model's own")
      .between(0, 16'777'216)
      .in("tokens");
}

void bind_engine(Schema& s, EngineSection& engine) {
  s.add_choice<DeviceKind>("engine.device", "device", &engine.device,
                           {{"cpu", DeviceKind::kCpu},
                            {"scripted", DeviceKind::kScripted},
                            {"simulated", DeviceKind::kSimulated}},
                           "what runs the model");
  s.add("engine.ranks", "ranks", &engine.ranks, "ranks on this node, each with the whole model")
      .between(1, 1024);
  s.add("engine.threads", "threads", &engine.threads, "CPU threads a rank; 0 takes all cores")
      .between(0, kCpuThreadsMax)
      .in("threads");
  s.add("engine.kv_memory", "kv-memory", &engine.kv_memory, "memory for KV blocks a rank")
      .between(Bytes(kMiB), Bytes(1024 * 1024 * kMiB));
  s.add("engine.kv_blocks", "kv-blocks", &engine.kv_blocks,
        "KV blocks a rank; 0 takes what fits into kv_memory")
      .between(0, 1 << 24)
      .in("blocks of 128 tokens");
  s.add("engine.max_num_seqs", "max-num-seqs", &engine.max_num_seqs, "requests in one batch")
      .between(1, 4096)
      .in("requests");
  s.add("engine.max_num_batched_tokens", "max-num-batched-tokens", &engine.max_num_batched_tokens,
        "tokens in one step; longer prompts are split into chunks")
      .between(1, kStepTokensMax)
      .in("tokens");
  s.add("engine.async", "async", &engine.async,
        "schedule the next step while the device runs this one");
  s.add("engine.batch_invariant", "batch-invariant", &engine.batch_invariant,
        "the same logits, to the bit, whatever else is in the batch");
  s.add("engine.watchdog", "watchdog", &engine.watchdog,
        "a device operation that takes longer counts as hung")
      .between(milliseconds(100), seconds(3600));
  s.add("engine.cost_file", "cost-file", &engine.cost_file,
        "written at the end: what the steps of the CPU cost, for the simulator; empty: none")
      .path_of_file();
}

void bind_devices(Schema& s, ScriptedSection& scripted, SimulatedSection& simulated) {
  s.add("scripted.directory", "script-directory", &scripted.directory,
        "folder of NAME.json scripts; the model id script/NAME plays one")
      .path_of_file();
  s.add_choice<ScriptedRecipe>(
      "scripted.recipe", "script-recipe", &scripted.recipe,
      {{"bytes", ScriptedRecipe::kBytes},
       {"deepseek-v4", ScriptedRecipe::kDeepseekV4},
       {"deepseek-v4.1", ScriptedRecipe::kDeepseekV41}},
      "whose prompts and tokens scripts have: ChatML in bytes, or a pulled model's");
  s.add("simulated.prefill_base", "sim-prefill-base", &simulated.prefill_base,
        "fixed time of a prefill step")
      .between(seconds(0), seconds(10));
  s.add("simulated.prefill_per_token", "sim-prefill-per-token", &simulated.prefill_per_token,
        "time of a prompt token")
      .between(seconds(0), seconds(1));
  s.add("simulated.prefill_context_cost", "sim-prefill-context-cost",
        &simulated.prefill_context_cost, "time of a prompt token and token of context before it")
      .between(0, 1e-4)
      .in("seconds per token squared");
  s.add("simulated.decode_base", "sim-decode-base", &simulated.decode_base,
        "fixed time of a decode step")
      .between(seconds(0), seconds(10));
  s.add("simulated.decode_context", "sim-decode-context", &simulated.decode_context,
        "time that 131072 tokens of context add to a row of a decode step")
      .between(seconds(0), seconds(100));
  s.add("simulated.decode_per_token", "sim-decode-per-token", &simulated.decode_per_token,
        "time of a token of a decode step, up to the knee")
      .between(seconds(0), seconds(1));
  s.add("simulated.decode_per_token_beyond_knee", "sim-decode-per-token-beyond-knee",
        &simulated.decode_per_token_beyond_knee, "time of a token beyond the knee")
      .between(seconds(0), seconds(1));
  s.add("simulated.decode_knee", "sim-decode-knee", &simulated.decode_knee,
        "tokens of a decode step from which the device is compute-bound")
      .between(0, 1 << 20)
      .in("tokens");
  s.add("simulated.mixed_step_saving", "sim-mixed-step-saving", &simulated.mixed_step_saving,
        "what a step with prompts and decoded tokens saves: it reads the weights once")
      .between(seconds(0), seconds(10));
}

void bind_gateway_limits(Schema& s, GatewaySection& gateway) {
  s.add("gateway.io_threads", "io-threads", &gateway.io_threads,
        "threads that accept, read and write; 0 takes one for each two cores, at most 8")
      .between(0, 64)
      .in("threads");
  s.add("gateway.max_connections", "max-connections", &gateway.max_connections,
        "open HTTP connections; more are refused")
      .between(1, 1'000'000)
      .in("connections");
  s.add("gateway.max_queue", "max-queue", &gateway.max_queue,
        "waiting requests; more get 503 with Retry-After")
      .between(0, 1 << 20)
      .in("requests");
  s.add("gateway.max_body_bytes", "max-body-bytes", &gateway.max_body_bytes,
        "largest request body, decoded where it came compressed")
      .between(Bytes(kKiB), Bytes(kGiB));
  s.add("gateway.max_open_body_bytes", "max-open-body-bytes", &gateway.max_open_body_bytes,
        "bodies of all open requests together; more get 503 with Retry-After")
      .between(Bytes(kKiB), Bytes(1024 * kGiB));
  s.add("gateway.max_header_bytes", "max-header-bytes", &gateway.max_header_bytes,
        "largest request line and headers together")
      .between(Bytes(kKiB), Bytes(kMiB));
  s.add("gateway.stream_buffer_bytes", "stream-buffer-bytes", &gateway.stream_buffer_bytes,
        "unread bytes of a stream from which its request is parked")
      .between(Bytes(128 * kKiB), Bytes(64 * kMiB));
}

void bind_gateway_times(Schema& s, GatewaySection& gateway) {
  const Duration least = milliseconds(10);
  const Duration day = seconds(86'400);
  s.add("gateway.request_timeout", "request-timeout", &gateway.request_timeout,
        "longest life of a request")
      .between(least, day);
  s.add("gateway.header_timeout", "header-timeout", &gateway.header_timeout,
        "time for a client to send a request's head, and for a TLS handshake before the first")
      .between(least, day);
  s.add("gateway.body_timeout", "body-timeout", &gateway.body_timeout,
        "time for a client to send a request's body")
      .between(least, day);
  s.add("gateway.write_timeout", "write-timeout", &gateway.write_timeout,
        "a client that takes no byte for so long is gone")
      .between(least, day);
  s.add("gateway.keepalive_timeout", "keepalive-timeout", &gateway.keepalive_timeout,
        "how long an idle connection stays open")
      .between(least, day);
  s.add("gateway.park_timeout", "park-timeout", &gateway.park_timeout,
        "how long a parked request keeps its KV before it is cancelled")
      .between(least, day);
  s.add("gateway.retry_after", "retry-after", &gateway.retry_after,
        "what Retry-After says with a 503")
      .between(seconds(1), seconds(3600));
  s.add("gateway.stream_keepalive", "stream-keepalive", &gateway.stream_keepalive,
        "a stream that says nothing for so long gets a sign of life; 0 sends none")
      .between(seconds(0), day);
}

void bind_recipe(Schema& s, RecipeSection& recipe) {
  s.add_choice<RecipeCompat>(
      "recipe.compat", "compat", &recipe.compat,
      {{"none", RecipeCompat::kNone}, {"deepseek", RecipeCompat::kDeepseek}},
      "deepseek: requests and answers as DeepSeek's own recipe has them, quirks included");
  s.add("recipe.default_thinking", "default-thinking", &recipe.default_thinking,
        "whether a model that can think does so if the request does not say");
  s.add_choice<OverRoom>("recipe.max_tokens_over_room", "max-tokens-over-room",
                         &recipe.max_tokens_over_room,
                         {{"clamp", OverRoom::kClamp}, {"reject", OverRoom::kReject}},
                         "more tokens asked for than the context leaves: lower the number, or 400");
}

void bind_gateway_access(Schema& s, GatewaySection& gateway) {
  s.add("gateway.api_keys", "api-keys", &gateway.api_keys,
        "entries of the keys that may call, from `troupe keys new`; empty lets everybody in");
  s.add("gateway.cors_origins", "cors-origins", &gateway.cors_origins,
        "web pages that may call this server from a browser, such as https://app.example; * is "
        "all, empty none");
  s.add("gateway.tls_certificate", "ssl-certfile", &gateway.tls_certificate,
        "PEM file of the certificate and its chain; empty serves plain HTTP")
      .path_of_file();
  s.add("gateway.tls_key", "ssl-keyfile", &gateway.tls_key,
        "PEM file of the certificate's private key, without a passphrase")
      .path_of_file();
}

void bind_responses(Schema& s, GatewaySection& gateway) {
  s.add("gateway.responses_max", "responses-max", &gateway.responses_max,
        "answers of /v1/responses that are kept; 0 keeps none")
      .between(0, 10'000'000)
      .in("responses");
  s.add("gateway.responses_bytes", "responses-bytes", &gateway.responses_bytes,
        "memory for kept responses; the least recently used go first")
      .between(Bytes(kMiB), Bytes(kGiB));
  s.add("gateway.responses_ttl", "responses-ttl", &gateway.responses_ttl,
        "how long a response is kept that nobody uses")
      .between(seconds(1), seconds(366 * 86'400));
  s.add("gateway.responses_file", "responses-file", &gateway.responses_file,
        "file in which responses survive a restart; empty keeps them in memory only");
}

void bind_observe(Schema& s, ObserveSection& observe) {
  s.add("observe.access_log", "access-log", &observe.access_log,
        "where a line of JSON goes for each HTTP request: stdout, stderr, a file, or off");
  s.add("observe.access_log_health", "access-log-health", &observe.access_log_health,
        "health paths and /metrics get lines too");
  s.add("observe.access_log_text", "access-log-text", &observe.access_log_text,
        "bytes of a request's body and of its answer that its line shows; 0 shows none")
      .between(Bytes(0), Bytes(64 * 1024));
}

}  // namespace

void bind_node_config(Schema& schema, NodeConfig& config) {
  bind_node(schema, config.node);
  bind_model(schema, config.model);
  bind_engine(schema, config.engine);
  bind_devices(schema, config.scripted, config.simulated);
  bind_gateway_limits(schema, config.gateway);
  bind_gateway_times(schema, config.gateway);
  bind_gateway_access(schema, config.gateway);
  bind_responses(schema, config.gateway);
  bind_recipe(schema, config.recipe);
  bind_observe(schema, config.observe);
}

Result<LoadedNodeConfig> load_node_config(const Inputs& inputs) {
  NodeConfig config;
  Schema schema;
  bind_node_config(schema, config);
  TROUPE_TRY(resolve(schema, inputs));
  TROUPE_TRY(check_node_config(config));
  return LoadedNodeConfig{config, dump(schema)};
}

}  // namespace troupe::config
