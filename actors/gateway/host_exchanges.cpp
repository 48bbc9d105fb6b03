#include "actors/gateway/host_exchanges.hpp"

namespace troupe {

namespace {

/// Drained bytes are told in steps: a quarter of the least stream buffer that may be configured.
constexpr std::uint64_t kDrainStep = 32u << 10;

}  // namespace

void HostExchanges::set_gateway(const ActorRef& gateway) {
  for (auto& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    stripe.gateway = gateway;
  }
}

ActorRef HostExchanges::open(std::uint64_t number, recipe::Protocol protocol) {
  Stripe& stripe = stripe_of(number);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.gateway) {
    Exchange& exchange = stripe.exchanges[number];
    exchange.gateway = exchange.owner = stripe.gateway;
    exchange.protocol = protocol;
  }
  return stripe.gateway;
}

bool HostExchanges::adopt(const SessionAdopted& adoption) {
  Stripe& stripe = stripe_of(adoption.exchange);
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.exchanges.find(adoption.exchange);
  if (at == stripe.exchanges.end()) return false;
  at->second.owner = adoption.request;
  at->second.streams = adoption.streams;
  at->second.row = adoption.row;
  at->second.headers = adoption.headers;
  return true;
}

HeaderList HostExchanges::begin(std::uint64_t number) {
  Stripe& stripe = stripe_of(number);
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.exchanges.find(number);
  if (at == stripe.exchanges.end()) return {};
  at->second.begun = true;
  return at->second.headers;
}

HostExchanges::Drained HostExchanges::drained(std::uint64_t number, std::uint64_t bytes) {
  Stripe& stripe = stripe_of(number);
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.exchanges.find(number);
  if (at == stripe.exchanges.end() || bytes < at->second.reported + kDrainStep) return {};
  if (at->second.streams) at->second.reported = bytes;
  return {at->second.streams, at->second.row};
}

std::optional<HostExchanges::Exchange> HostExchanges::take(std::uint64_t number) {
  Stripe& stripe = stripe_of(number);
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.exchanges.find(number);
  if (at == stripe.exchanges.end()) return std::nullopt;
  Exchange exchange = std::move(at->second);
  stripe.exchanges.erase(at);
  return exchange;
}

std::map<std::uint64_t, HostExchanges::Exchange> HostExchanges::take_of(const ActorRef& gateway) {
  std::map<std::uint64_t, Exchange> taken;
  for (auto& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (auto at = stripe.exchanges.begin(); at != stripe.exchanges.end();) {
      if (at->second.gateway == gateway) {
        taken.insert(*at);
        at = stripe.exchanges.erase(at);
      } else {
        ++at;
      }
    }
    if (stripe.gateway == gateway) stripe.gateway = ActorRef{};
  }
  return taken;
}

}  // namespace troupe
