#include "runtime/simulation/fluid_links.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {
/// A flow ends within 127 years, so that its end is a time.
constexpr double kLongestNanoseconds = 4e18;
}  // namespace

LinkId FluidLinks::add_link(double bytes_per_second) {
  TROUPE_ASSERT(bytes_per_second > 0, "a link carries something");
  Link link;
  link.bandwidth = link.share = bytes_per_second;
  links_.push_back(link);
  return LinkId(static_cast<std::uint32_t>(links_.size() - 1));
}

void FluidLinks::set_bandwidth(LinkId id, double bytes_per_second, Time now) {
  TROUPE_ASSERT(bytes_per_second > 0, "a link carries something");
  Link& link = links_[id.value];
  link.bandwidth = bytes_per_second;
  set_flows(link, link.flows);
  link.rated = link.share;
  if (!link.listed) make_list(id);
  for (std::uint32_t at = link.first; at != kNobody; at = places_[at].next) {
    const Flow& flow = flows_[at / kPathMost];
    // Whoever shares a link with one of its flows may run faster elsewhere now than was thought.
    for (std::uint32_t i = 0; i < flow.links; ++i) {
      if (flow.path[i] == id && flow.links > 1) continue;
      Link& other = links_[flow.path[i].value];
      other.widest = std::max(other.widest, bytes_per_second);
    }
    set_rate(at / kPathMost, now);
  }
}

FlowId FluidLinks::start(Bytes bytes, std::span<const LinkId> path, Time now) {
  TROUPE_ASSERT(!path.empty() && path.size() <= kPathMost, "a flow runs over some links");
  const std::uint32_t index = take_slot();
  Flow& flow = flows_[index];
  flow.bytes = flow.left = static_cast<double>(bytes.value);
  flow.since = now;
  flow.links = static_cast<std::uint32_t>(path.size());
  std::copy(path.begin(), path.end(), flow.path);
  widen(flow);
  double before[kPathMost];
  for (std::uint32_t i = 0; i < flow.links; ++i) {
    Link& link = links_[flow.path[i].value];
    before[i] = set_flows(link, link.flows + 1);
    link.most = std::max(link.most, link.flows);
    if (link.listed) enlist(link, static_cast<std::uint32_t>(index * kPathMost + i));
  }
  flow.rate = rate_of(flow);
  ends_.add(index, end_of(flow));
  for (std::uint32_t i = 0; i < flow.links; ++i) share_anew(flow.path[i], before[i], 1, now);
  return FlowId(index);
}

std::uint32_t FluidLinks::take_slot() {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
    places_.resize(flows_.size() * kPathMost);
  }
  const std::uint32_t index = unused_.back();
  unused_.pop_back();
  return index;
}

void FluidLinks::widen(const Flow& flow) {
  // Of each of its links: the narrowest of the others, which is the narrowest of all but for one.
  double narrowest = links_[flow.path[0].value].bandwidth;
  double second = std::numeric_limits<double>::infinity();
  std::uint32_t where = 0;
  for (std::uint32_t i = 1; i < flow.links; ++i) {
    const double width = links_[flow.path[i].value].bandwidth;
    if (width < narrowest) {
      second = narrowest;
      narrowest = width;
      where = i;
    } else {
      second = std::min(second, width);
    }
  }
  for (std::uint32_t i = 0; i < flow.links; ++i) {
    Link& link = links_[flow.path[i].value];
    link.widest = std::max(link.widest, i == where && flow.links > 1 ? second : narrowest);
  }
}

std::uint32_t FluidLinks::end_soonest(Time now) {
  const std::uint32_t index = ends_.soonest_flow();
  const Flow& flow = flows_[index];
  for (std::uint32_t i = 0; i < flow.links; ++i) links_[flow.path[i].value].carried += flow.bytes;
  remove(index, now);
  return index;
}

void FluidLinks::remove(std::uint32_t index, Time now) {
  Flow& flow = flows_[index];
  ends_.erase(index);
  unused_.push_back(index);
  const std::uint32_t links = std::exchange(flow.links, 0);
  double before[kPathMost];
  for (std::uint32_t i = 0; i < links; ++i) {
    Link& link = links_[flow.path[i].value];
    if (link.listed) delist(link, static_cast<std::uint32_t>(index * kPathMost + i));
    before[i] = set_flows(link, link.flows - 1);
  }
  for (std::uint32_t i = 0; i < links; ++i) share_anew(flow.path[i], before[i], 0, now);
}

double FluidLinks::set_flows(Link& link, std::uint32_t flows) {
  const double before = link.share;
  link.flows = flows;
  link.share = link.bandwidth / static_cast<double>(std::max(flows, 1u));
  return before;
}

void FluidLinks::enlist(Link& link, std::uint32_t place) {
  places_[place] = {link.first, kNobody};
  if (link.first != kNobody) places_[link.first].previous = place;
  link.first = place;
}

void FluidLinks::delist(Link& link, std::uint32_t place) {
  const Place gone = places_[place];
  (gone.previous == kNobody ? link.first : places_[gone.previous].next) = gone.next;
  if (gone.next != kNobody) places_[gone.next].previous = gone.previous;
}

void FluidLinks::make_list(LinkId id) {
  Link& link = links_[id.value];
  link.listed = true;
  for (std::uint32_t index = 0; index < flows_.size(); ++index) {
    const Flow& flow = flows_[index];
    for (std::uint32_t i = 0; i < flow.links; ++i) {
      if (flow.path[i] == id) enlist(link, static_cast<std::uint32_t>(index * kPathMost + i));
    }
  }
}

void FluidLinks::share_anew(LinkId id, double before, std::uint32_t known, Time now) {
  Link& link = links_[id.value];
  // Wide enough before and after for the fastest of its flows: it holds nobody up.
  if (std::min(before, link.share) >= link.widest) {
    link.rated = 0;  // shares move on without a look at its flows
    return;
  }
  if (std::abs(link.share - link.rated) * kExactFlows < link.rated) return;
  link.rated = link.share;
  if (link.flows == known) return;
  if (!link.listed) make_list(id);
  for (std::uint32_t at = link.first; at != kNobody; at = places_[at].next) {
    set_rate(at / kPathMost, now);
  }
}

double FluidLinks::rate_of(const Flow& flow) const {
  double rate = links_[flow.path[0].value].share;
  for (std::uint32_t i = 1; i < flow.links; ++i) {
    rate = std::min(rate, links_[flow.path[i].value].share);
  }
  return rate;
}

void FluidLinks::set_rate(std::uint32_t index, Time now) {
  Flow& flow = flows_[index];
  const double rate = rate_of(flow);
  if (rate == flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since).seconds());
  flow.since = now;
  flow.rate = rate;
  ends_.move(index, end_of(flow));
}

Time FluidLinks::end_of(const Flow& flow) {
  const double left = std::min(flow.left / flow.rate * 1e9, kLongestNanoseconds);
  const auto whole = static_cast<std::int64_t>(left);  // std::ceil is a call
  return flow.since + Duration(static_cast<double>(whole) < left ? whole + 1 : whole);
}

}  // namespace troupe
