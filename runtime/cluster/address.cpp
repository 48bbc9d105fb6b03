#include "runtime/cluster/address.hpp"

#include <charconv>
#include <optional>

namespace troupe {

namespace {

/// The number if `text` is one from 0 to `max` and nothing else.
std::optional<std::uint32_t> number(std::string_view text, std::uint32_t max) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value <= max ? std::optional(value) : std::nullopt;
}

bool is_loopback_v4(std::string_view host) {
  if (!host.starts_with("127.")) return false;
  int parts = 0;
  for (;;) {
    const std::size_t dot = host.find('.');
    if (!number(host.substr(0, dot), 255)) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

std::string numeric(std::string_view host) {
  if (host == "localhost") return "127.0.0.1";
  if (host == "[::1]" || host == "::1") return "::1";
  return is_loopback_v4(host) ? std::string(host) : std::string();
}

}  // namespace

Result<ClusterAddress> parse_cluster_address(std::string_view what, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : number(text.substr(colon + 1), 65535);
  if (!port) {
    return Error{Code::kInvalid, std::string(what) +
                                     ": expected HOST:PORT such as 127.0.0.1:7000, found \"" +
                                     std::string(text) + "\""};
  }
  ClusterAddress address{numeric(text.substr(0, colon)), static_cast<std::uint16_t>(*port)};
  if (address.host.empty()) {
    return Error{Code::kInvalid, std::string(what) +
                                     ": expected a loopback host (127.0.0.1, localhost, [::1]), "
                                     "found \"" +
                                     std::string(text) +
                                     "\"; nodes on several machines need TLS, which a later "
                                     "version brings"};
  }
  return address;
}

std::string to_string(const ClusterAddress& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace troupe
