#include "runtime/simulation/fluid_links.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace troupe {

namespace {
/// Stale ends that are kept before the heap is made anew.
constexpr std::size_t kStaleMost = 256;
/// A flow ends within 127 years, so that its end is a time.
constexpr double kLongestNanoseconds = 4e18;
}  // namespace

LinkId FluidLinks::add_link(double bytes_per_second) {
  TROUPE_ASSERT(bytes_per_second > 0, "a link carries something");
  Link link;
  link.bandwidth = bytes_per_second;
  links_.push_back(std::move(link));
  return LinkId(static_cast<std::uint32_t>(links_.size() - 1));
}

void FluidLinks::set_bandwidth(LinkId link, double bytes_per_second, Time now) {
  TROUPE_ASSERT(bytes_per_second > 0, "a link carries something");
  Link& changed = links_[link.value];
  changed.bandwidth = bytes_per_second;
  // Whoever shares a link with one of its flows may run faster elsewhere now than was thought.
  for (const std::uint32_t index : changed.flows) {
    const Flow& flow = flows_[index];
    for (std::uint32_t i = 0; i < flow.links; ++i) {
      if (flow.path[i] == link) continue;
      Link& other = links_[flow.path[i].value];
      other.widest = std::max(other.widest, bytes_per_second);
    }
    set_rate(index, now);
  }
}

void FluidLinks::start(FlowId id, Bytes bytes, std::span<const LinkId> path, Time now) {
  TROUPE_ASSERT(!path.empty() && path.size() <= kPathMost, "a flow runs over some links");
  std::uint32_t index;
  if (unused_.empty()) {
    index = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  const std::uint32_t version = flows_[index].version;
  Flow flow;
  flow.version = version;
  flow.id = id;
  flow.bytes = flow.left = static_cast<double>(bytes.value);
  flow.since = now;
  flow.order = next_order_++;
  flow.links = static_cast<std::uint32_t>(path.size());
  by_id_.insert(id.value, index);
  double before[kPathMost];
  for (std::uint32_t i = 0; i < flow.links; ++i) {
    Link& link = links_[path[i].value];
    before[i] = link.flows.empty() ? link.bandwidth * 2 : share(link);
    flow.path[i] = path[i];
    flow.place[i] = static_cast<std::uint32_t>(link.flows.size());
    double elsewhere = 0;
    for (const LinkId other : path) {
      if (other == path[i]) continue;
      const double width = links_[other.value].bandwidth;
      elsewhere = elsewhere == 0 ? width : std::min(elsewhere, width);
    }
    link.widest = std::max(link.widest, elsewhere == 0 ? link.bandwidth : elsewhere);
    link.flows.push_back(index);
    link.most = std::max(link.most, static_cast<std::uint32_t>(link.flows.size()));
  }
  flows_[index] = flow;
  set_rate(index, now);
  for (std::uint32_t i = 0; i < flow.links; ++i) share_anew(flow.path[i], before[i], now);
}

bool FluidLinks::cancel(FlowId id, Time now) {
  const std::uint32_t* index = by_id_.find(id.value);
  if (index == nullptr) return false;
  remove(*index, now);
  return true;
}

void FluidLinks::remove(std::uint32_t index, Time now) {
  const Flow flow = flows_[index];
  by_id_.erase(flow.id.value);
  ++flows_[index].version;
  unused_.push_back(index);
  double before[kPathMost];
  for (std::uint32_t i = 0; i < flow.links; ++i) {
    before[i] = share(links_[flow.path[i].value]);
    detach(flow, i);
  }
  for (std::uint32_t i = 0; i < flow.links; ++i) share_anew(flow.path[i], before[i], now);
}

void FluidLinks::detach(const Flow& flow, std::uint32_t which) {
  Link& link = links_[flow.path[which].value];
  const std::uint32_t place = flow.place[which];
  link.flows[place] = link.flows.back();
  link.flows.pop_back();
  if (place == link.flows.size()) return;
  Flow& moved = flows_[link.flows[place]];
  for (std::uint32_t i = 0; i < moved.links; ++i) {
    if (moved.path[i] == flow.path[which]) moved.place[i] = place;
  }
}

void FluidLinks::share_anew(LinkId id, double before, Time now) {
  Link& link = links_[id.value];
  const double now_share = share(link);
  // Wide enough before and after for the fastest of its flows: it holds nobody up.
  if (std::min(before, now_share) >= link.widest) return;
  if (std::abs(now_share - link.rated) * kExactFlows < link.rated) return;
  link.rated = now_share;
  for (const std::uint32_t index : link.flows) set_rate(index, now);
}

void FluidLinks::set_rate(std::uint32_t index, Time now) {
  Flow& flow = flows_[index];
  double rate = share(links_[flow.path[0].value]);
  for (std::uint32_t i = 1; i < flow.links; ++i) {
    rate = std::min(rate, share(links_[flow.path[i].value]));
  }
  if (rate == flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since).seconds());
  flow.since = now;
  flow.rate = rate;
  const double left = std::min(std::ceil(flow.left / rate * 1e9), kLongestNanoseconds);
  flow.end = now + Duration(static_cast<std::int64_t>(left));
  ++flow.version;
  if (ends_.size() > 2 * by_id_.size() + kStaleMost) {
    std::erase_if(ends_, [this](const End& end) { return !holds(end); });
    std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
  }
  ends_.push_back({flow.end, flow.order, index, flow.version});
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

bool FluidLinks::holds(const End& end) const {
  return flows_[end.flow].version == end.version && flows_[end.flow].order == end.order;
}

std::optional<Time> FluidLinks::next_end() {
  while (!ends_.empty()) {
    if (holds(ends_.front())) return ends_.front().at;
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
  return std::nullopt;
}

std::vector<FlowId> FluidLinks::take_ended(Time now) {
  std::vector<FlowId> ended;
  for (auto next = next_end(); next && *next <= now; next = next_end()) {
    const std::uint32_t index = ends_.front().flow;
    const Flow& flow = flows_[index];
    for (std::uint32_t i = 0; i < flow.links; ++i) {
      links_[flow.path[i].value].carried += flow.bytes;
    }
    ended.push_back(flow.id);
    remove(index, now);
  }
  return ended;
}

}  // namespace troupe
