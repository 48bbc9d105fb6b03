// Rules between the keys of a node.
#include <charconv>
#include <optional>
#include <string_view>

#include "tools/config/node_schema.hpp"
#include "tools/config/scalar.hpp"

namespace troupe::config {

namespace {

Error refused(std::string message) {
  return {Code::kInvalid, std::move(message)};
}

std::optional<int> port_of(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && port > 0 && port <= 65535 ? std::optional(port) : std::nullopt;
}

// Links between nodes are plain TCP for now, so they must not leave the machine.
Status check_cluster_address(std::string_view key, const std::string& address) {
  if (address.empty()) return ok_status();
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || !port_of(std::string_view(address).substr(colon + 1))) {
    return refused(std::string(key) + ": expected HOST:PORT such as 127.0.0.1:9000, found " +
                   in_quotes(address));
  }
  const std::string_view host = std::string_view(address).substr(0, colon);
  if (host == "127.0.0.1" || host == "localhost" || host == "[::1]") return ok_status();
  return refused(std::string(key) + ": expected a loopback host (127.0.0.1, localhost, [::1]), " +
                 "found " + in_quotes(address) +
                 "; nodes on several machines need TLS, which a later version brings");
}

}  // namespace

Status check_node_config(const NodeConfig& config) {
  const NodeSection& node = config.node;
  if (node.host.empty()) return refused("node.host: expected an address, found an empty string");
  if (node.port != 0 && node.port == node.admin_port) {
    return refused("node.admin_port: expected another port than node.port, found both at " +
                   std::to_string(node.port) + "; 0 turns the admin port off");
  }
  TROUPE_TRY(check_cluster_address("node.join", node.join));
  TROUPE_TRY(check_cluster_address("node.cluster_listen", node.cluster_listen));
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
  if (engine.device == DeviceKind::kScripted && config.scripted.directory.empty()) {
    return refused(
        "scripted.directory: expected a folder of scripts, as engine.device is scripted; set it "
        "with --script-directory");
  }
  return ok_status();
}

}  // namespace troupe::config
