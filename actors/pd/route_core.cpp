// How flows begin and end.
#include "actors/pd/route_core.hpp"

namespace troupe {

RouteCore::Flow* RouteCore::find(RequestId request) {
  return flows_.find(request);
}

void RouteCore::on(const Started&, Context& context, Effects& out) {
  RankJoined joined;
  joined.rank = context.self;
  joined.models = {args_.model};
  joined.capacity = args_.rows_most;
  joined.context_max = args_.context_max;
  out.send(args_.node, make_message<RankJoined>(std::move(joined)));
  const PdWiring& wiring = *args_.wiring;
  for (const ActorRef& service :
       {wiring.prefill_balancer, wiring.decode_balancer, wiring.fabric, wiring.vision_balancer}) {
    if (service) out.watch(service);
  }
}

void RouteCore::on(const SubmitRow& submit, Context& context, Effects& out) {
  const auto reject = [&](Code code, std::string message) {
    out.send(submit.owner, make_message<RowRejected>(submit.request, code, std::move(message)));
  };
  if (flows_.size() >= args_.rows_most) {
    return reject(Code::kUnavailable, "the cluster has all the requests that it takes; try again");
  }
  if (submit.prompt_length == 0 || submit.prompt_length >= args_.context_max) {
    return reject(Code::kTooLarge, "a prompt of " + std::to_string(submit.prompt_length) +
                                       " tokens does not fit into " +
                                       std::to_string(args_.context_max));
  }
  if (flows_.contains(submit.request) || by_owner_.contains(submit.owner)) {
    return reject(Code::kUnsupported, "this cluster gives one answer a request");
  }
  const std::size_t images = submit.sealed.work.images().size();
  if (images > 0) {
    const Status takes = check_images(images);
    if (!takes.ok()) return reject(takes.error().code, takes.error().message);
  }
  Flow flow;
  flow.request = submit.request;
  flow.owner = submit.owner;
  flow.streams = submit.streams;
  flow.sealed = submit.sealed;
  flow.born = context.now;
  flow.deadline = context.now + submit.time_left;
  flow.length = submit.prompt_length;
  flow.output_most = submit.max_tokens;
  flow.has_images = images > 0;
  flow.hit = prefixes_.hit(submit.sealed.work, submit.prompt_length, context.now, context.rng);
  by_owner_.insert(submit.owner, submit.request);
  out.watch(submit.owner);
  this->submit(flows_.insert(submit.request, std::move(flow)), context, out);
  watch_silence(context, out);
}

void RouteCore::on(const CancelRow& cancel, Context& context, Effects& out) {
  if (Flow* flow = find(cancel.request)) abandon(*flow, context, out);
}

void RouteCore::on(const Down& down, Context& context, Effects& out) {
  if (const RequestId* request = by_owner_.find(down.ref)) {
    return abandon(*find(*request), context, out);
  }
  const PdWiring& wiring = *args_.wiring;
  if (down.ref == wiring.prefill_balancer || down.ref == wiring.decode_balancer ||
      down.ref == wiring.fabric || down.ref == wiring.vision_balancer) {
    return out.fail("a part of the cluster without which nothing goes is gone");
  }
  // An engine that still had KV to push.
  std::vector<RequestId> there;
  for (const auto& [id, flow] : flows_) {
    const bool holds_kv = flow.state == State::kPlacing || flow.state == State::kPushing;
    if (holds_kv && flow.engine.group == down.ref) there.push_back(id);
  }
  for (const RequestId id : there) {
    begin_anew(*find(id), "its prefill engine is gone", context, out);
  }
}

void RouteCore::on(const Undeliverable& lost, Context&, Effects&) {
  // A group that is gone: its balancer says where to go instead. Requests are watched.
  if (stops_.empty()) return;
  std::vector<std::uint64_t> there;
  for (const auto& [key, stop] : stops_) {
    if (stop.group == lost.to) there.push_back(key);
  }
  for (const std::uint64_t key : there) stops_.erase(key);
}

void RouteCore::abandon(Flow& flow, Context& context, Effects& out) {
  stop_move(flow, out);
  // The engine may have asked for a place in the flow's name, so that both balancers are told.
  release_prefill(flow.request, out);
  release_decode(flow.request, out);
  stop_group(flow, context, out);
  if (flow.has_images) abandon_images(flow, context, out);
  forget(flow, out);
}

void RouteCore::forget(Flow& flow, Effects& out) {
  out.unwatch(flow.owner);
  by_owner_.erase(flow.owner);
  flows_.erase(RequestId(flow.request));
}

void RouteCore::fail(Flow& flow, Code code, std::string message, Context& context, Effects& out) {
  RowTokens row;
  row.request = flow.request;
  row.first = flow.first_token ? 1 : 0;
  row.finish = Finish::kFailed;
  row.code = code;
  row.error = std::move(message);
  TokenBatch batch;
  batch.rank = context.self;
  batch.rows.push_back(std::move(row));
  out.send(flow.streams, make_message<TokenBatch>(std::move(batch)));
  abandon(flow, context, out);
}

}  // namespace troupe
