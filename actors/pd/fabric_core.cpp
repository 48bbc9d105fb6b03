#include "actors/pd/fabric_core.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace troupe {

namespace {
constexpr TimerTag kFabricTimer{1, 0};
}  // namespace

FabricCore::FabricCore(const Args& args) : args_(args) {
  const FabricSpeeds& speeds = args.speeds;
  const double all = speeds.nic * std::max(1u, args.ports);
  spine_ = links_.add_link(speeds.spine > 0 ? speeds.spine : all);
  storage_read_ =
      links_.add_link(std::min(speeds.storage_read, speeds.storage_ops * speeds.storage_block));
  storage_write_ = links_.add_link(speeds.storage_write);
  first_in_ = storage_write_.value + 1;
  first_out_ = first_in_ + args.ports;
  for (std::uint32_t i = 0; i < 2 * args.ports; ++i) links_.add_link(speeds.nic);
  for (std::uint32_t i = 0; i < first_out_ + args.ports; ++i) {
    planned_.push_back(links_.bandwidth(LinkId(i)));
  }
}

void FabricCore::on(const MoveBytes& move, Context& context, Effects& out) {
  TROUPE_ASSERT(move.from.value < args_.ports && move.to.value < args_.ports, "ports are known");
  ++counts_[static_cast<std::size_t>(move.kind)];
  const bool write = move.kind == MoveKind::kWrite;
  TROUPE_ASSERT(write || move.move != 0, "who waits for a move knows its number");
  const Asker asker = write ? Asker{} : Asker{move.move, context.from};
  if (!write) ++asked_;
  switch (move.kind) {
    case MoveKind::kFetch: {
      const double jitter = context.rng.exponential(args_.speeds.jitter.seconds());
      const Time start = context.now + args_.speeds.access + from_seconds(jitter);
      const std::uint64_t order = counts_[static_cast<std::size_t>(MoveKind::kFetch)];
      starts_.push_back({start, order, asker, move.to, move.bytes});
      std::push_heap(starts_.begin(), starts_.end(), std::greater<>());
      break;
    }
    case MoveKind::kPush:
      begin(nic_out(move.from), nic_in(move.to), move.bytes, asker, context.now);
      break;
    case MoveKind::kWrite:
      begin(nic_out(move.from), storage_write_, move.bytes, asker, context.now);
      break;
  }
  arm(out);
}

void FabricCore::begin(LinkId from, LinkId to, std::uint64_t bytes, const Asker& asker, Time now) {
  const LinkId path[3] = {from, spine_, to};
  const FlowId flow = links_.start(Bytes(bytes), path, now);
  if (flow.value >= askers_.size()) askers_.resize(flow.value + 1);
  askers_[flow.value] = asker;
}

void FabricCore::on(const StopMove& stop, Context& context, Effects& out) {
  const auto stopped = [&](const Asker& asker) { return asker.move == stop.move; };
  if (stop.move == 0) return;  // a write's: nobody stops it
  const auto waits = std::find_if(starts_.begin(), starts_.end(),
                                  [&](const Fetch& fetch) { return stopped(fetch.asker); });
  if (waits != starts_.end()) {
    starts_.erase(waits);
    std::make_heap(starts_.begin(), starts_.end(), std::greater<>());
  } else {
    const auto runs = std::find_if(askers_.begin(), askers_.end(), stopped);
    if (runs == askers_.end()) return;
    links_.cancel(FlowId(static_cast<std::uint32_t>(runs - askers_.begin())), context.now);
    *runs = {};
  }
  --asked_;
  arm(out);
}

void FabricCore::on(const LinksChanged& changed, Context& context, Effects& out) {
  TROUPE_ASSERT(changed.share > 0 && changed.port.value < args_.ports, "a fault of the plan");
  const auto set = [&](LinkId link) {
    links_.set_bandwidth(link, planned_[link.value] * changed.share, context.now);
  };
  switch (changed.part) {
    case FabricPart::kNic:
      set(nic_in(changed.port));
      set(nic_out(changed.port));
      break;
    case FabricPart::kSpine:
      set(spine_);
      break;
    case FabricPart::kStorageRead:
      set(storage_read_);
      break;
    case FabricPart::kStorageWrite:
      set(storage_write_);
      break;
  }
  arm(out);
}

void FabricCore::on(const TimerFired&, Context& context, Effects& out) {
  armed_.reset();
  work_off(context, out);
  arm(out);
}

void FabricCore::work_off(Context& context, Effects& out) {
  links_.take_ended(context.now, [&](FlowId flow) {
    const Asker asker = std::exchange(askers_[flow.value], {});
    if (asker.move == 0) return;
    out.send(asker.ref, make_message<BytesMoved>(asker.move));
    --asked_;
  });
  while (!starts_.empty() && starts_.front().start <= context.now) {
    std::pop_heap(starts_.begin(), starts_.end(), std::greater<>());
    const Fetch next = starts_.back();
    starts_.pop_back();
    begin(storage_read_, nic_in(next.to), next.bytes, next.asker, context.now);
  }
}

void FabricCore::arm(Effects& out) {
  std::optional<Time> next = links_.next_end();
  if (!starts_.empty() && (!next || starts_.front().start < *next)) next = starts_.front().start;
  if (next == armed_) return;
  armed_ = next;
  links_.fetch_soonest();
  if (!starts_.empty()) links_.fetch(nic_in(starts_.front().to));
  if (next) {
    out.timer(kFabricTimer, *next);
  } else {
    out.cancel_timer(kFabricTimer);
  }
}

}  // namespace troupe
