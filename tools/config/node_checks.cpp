// Rules between the keys of a node.
#include <algorithm>
#include <utility>

#include "actors/gateway/api_keys.hpp"
#include "runtime/cluster/address.hpp"
#include "runtime/http/cors.hpp"
#include "tools/config/node_schema.hpp"
#include "tools/config/scalar.hpp"

namespace troupe::config {

namespace {

Error refused(std::string message) {
  return {Code::kInvalid, std::move(message)};
}

/// A gateway and ranks find each other: in this node, or over a link.
Status check_roles(const NodeSection& node) {
  if (!node.join.empty() || !node.cluster_listen.empty()) return ok_status();
  for (const auto& [role, missing] :
       {std::pair("gateway", "a node without a gateway serves nobody alone"),
        std::pair("rank", "a gateway without a rank serves nothing alone")}) {
    if (std::find(node.roles.begin(), node.roles.end(), role) != node.roles.end()) continue;
    return refused("node.roles: " + std::string(missing) +
                   "; set node.join (--join HOST:PORT) or node.cluster_listen (--cluster-listen "
                   "HOST:PORT)");
  }
  return ok_status();
}

Status check_cluster_addresses(const NodeSection& node) {
  if (!node.cluster_listen.empty()) {
    TROUPE_TRY(parse_cluster_address("node.cluster_listen", node.cluster_listen));
  }
  if (node.join.empty()) return ok_status();
  TROUPE_TRY_ASSIGN(const ClusterAddress peer, parse_cluster_address("node.join", node.join));
  if (peer.port != 0) return ok_status();
  return refused("node.join: expected the port of a node, found 0 in " + in_quotes(node.join));
}

Status check_access(const GatewaySection& gateway) {
  if (const Status origins = http::check_origins(gateway.cors_origins); !origins.ok()) {
    return refused("gateway.cors_origins: " + origins.error().message);
  }
  if (const auto keys = KeyRing::parse(gateway.api_keys); !keys.ok()) {
    return refused("gateway.api_keys: " + keys.error().message);
  }
  if (gateway.tls_certificate.empty() == gateway.tls_key.empty()) return ok_status();
  const bool certificate = gateway.tls_key.empty();
  return refused(std::string(certificate ? "gateway.tls_key" : "gateway.tls_certificate") +
                 ": expected a file, as " +
                 (certificate ? "gateway.tls_certificate" : "gateway.tls_key") +
                 " is set; TLS needs both");
}

}  // namespace

Status check_node_config(const NodeConfig& config) {
  const NodeSection& node = config.node;
  if (node.host.empty()) return refused("node.host: expected an address, found an empty string");
  if (node.port != 0 && node.port == node.admin_port) {
    return refused("node.admin_port: expected another port than node.port, found both at " +
                   std::to_string(node.port) + "; 0 turns the admin port off");
  }
  TROUPE_TRY(check_cluster_addresses(node));
  TROUPE_TRY(check_roles(node));
  TROUPE_TRY(check_access(config.gateway));
  if (!config.engine.cost_file.empty() && config.engine.device != DeviceKind::kCpu) {
    return refused("engine.cost_file: steps are measured on the CPU (--device cpu) only");
  }
  if (config.gateway.max_open_body_bytes < config.gateway.max_body_bytes) {
    return refused("gateway.max_open_body_bytes: expected at least gateway.max_body_bytes (" +
                   std::to_string(config.gateway.max_body_bytes.value) + ", one body), found " +
                   std::to_string(config.gateway.max_open_body_bytes.value));
  }
  const EngineSection& engine = config.engine;
  if (engine.max_num_batched_tokens < engine.max_num_seqs) {
    return refused("engine.max_num_batched_tokens: expected at least engine.max_num_seqs (" +
                   std::to_string(engine.max_num_seqs) + ", a token a running request), found " +
                   std::to_string(engine.max_num_batched_tokens));
  }
  if (!engine.batch_invariant) {
    return refused(
        "engine.batch_invariant: expected true, found false; the CPU engine always computes the "
        "same logits whatever else is in the batch, and has no faster mode without that yet");
  }
  if (engine.device != DeviceKind::kCpu && !config.model.path.empty()) {
    return refused("model.path: expected none, found " + in_quotes(config.model.path) +
                   ": scripted and simulated devices load no model; leave it out, or set "
                   "engine.device (--device) to cpu");
  }
  if (engine.device == DeviceKind::kScripted && config.scripted.directory.empty()) {
    return refused(
        "scripted.directory: expected a folder of scripts, as engine.device is scripted; set it "
        "with --script-directory");
  }
  return ok_status();
}

}  // namespace troupe::config
