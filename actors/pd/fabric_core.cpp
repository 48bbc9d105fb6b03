#include "actors/pd/fabric_core.hpp"

#include <algorithm>

namespace troupe {

namespace {
constexpr TimerTag kFabricTimer{1, 0};
/// Marks the flows of writes, which have no number of their own.
constexpr std::uint64_t kWriteBit = std::uint64_t{1} << 63;
}  // namespace

FabricCore::FabricCore(const Args& args) : args_(args), links_(std::make_unique<FluidLinks>()) {
  const FabricSpeeds& speeds = args.speeds;
  const double all = speeds.nic * std::max(1u, args.ports);
  spine_ = links_->add_link(speeds.spine > 0 ? speeds.spine : all);
  storage_read_ =
      links_->add_link(std::min(speeds.storage_read, speeds.storage_ops * speeds.storage_block));
  storage_write_ = links_->add_link(speeds.storage_write);
  first_in_ = storage_write_.value + 1;
  first_out_ = first_in_ + args.ports;
  for (std::uint32_t i = 0; i < 2 * args.ports; ++i) links_->add_link(speeds.nic);
  for (std::uint32_t i = 0; i < first_out_ + args.ports; ++i) {
    planned_.push_back(links_->bandwidth(LinkId(i)));
  }
}

void FabricCore::on(const MoveBytes& move, Context& context, Effects& out) {
  TROUPE_ASSERT(move.from.value < args_.ports && move.to.value < args_.ports, "ports are known");
  ++counts_[static_cast<std::size_t>(move.kind)];
  const bool write = move.kind == MoveKind::kWrite;
  const FlowId flow(write ? kWriteBit | ++next_write_ : move.move);
  if (!write) askers_.insert(move.move, context.from);
  if (move.kind == MoveKind::kFetch) {
    const Duration access =
        args_.speeds.access + from_seconds(context.rng.exponential(args_.speeds.jitter.seconds()));
    starts_.emplace(context.now + access, Waiting{move, flow});
  } else {
    begin(move, flow, context.now);
  }
  arm(out);
}

void FabricCore::begin(const MoveBytes& move, FlowId flow, Time now) {
  LinkId path[3] = {spine_, spine_, spine_};
  path[0] = move.kind == MoveKind::kFetch ? storage_read_ : nic_out(move.from);
  path[2] = move.kind == MoveKind::kWrite ? storage_write_ : nic_in(move.to);
  links_->start(flow, Bytes(move.bytes), path, now);
}

void FabricCore::on(const StopMove& stop, Context& context, Effects& out) {
  if (!askers_.erase(stop.move)) return;
  if (!links_->cancel(FlowId(stop.move), context.now)) {
    std::erase_if(starts_, [&](const auto& one) { return one.second.flow.value == stop.move; });
  }
  arm(out);
}

void FabricCore::on(const LinksChanged& changed, Context& context, Effects& out) {
  TROUPE_ASSERT(changed.share > 0 && changed.port.value < args_.ports, "a fault of the plan");
  const auto set = [&](LinkId link) {
    links_->set_bandwidth(link, planned_[link.value] * changed.share, context.now);
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
  for (const FlowId flow : links_->take_ended(context.now)) {
    const ActorRef* asker = askers_.find(flow.value);
    if (asker == nullptr) continue;
    out.send(*asker, make_message<BytesMoved>(flow.value));
    askers_.erase(flow.value);
  }
  while (!starts_.empty() && starts_.begin()->first <= context.now) {
    const Waiting next = std::move(starts_.begin()->second);
    starts_.erase(starts_.begin());
    begin(next.move, next.flow, context.now);
  }
}

void FabricCore::arm(Effects& out) {
  std::optional<Time> next = links_->next_end();
  if (!starts_.empty() && (!next || starts_.begin()->first < *next)) {
    next = starts_.begin()->first;
  }
  if (next == armed_) return;
  armed_ = next;
  if (next) {
    out.timer(kFabricTimer, *next);
  } else {
    out.cancel_timer(kFabricTimer);
  }
}

}  // namespace troupe
