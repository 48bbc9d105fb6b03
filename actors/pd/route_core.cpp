#include "actors/pd/route_core.hpp"

namespace troupe {

void RouteCore::on(const Started&, Context& context, Effects& out) {
  RankJoined joined;
  joined.rank = context.self;
  joined.models = {args_.model};
  joined.capacity = args_.rows_most;
  joined.context_max = args_.context_max;
  out.send(args_.node, make_message<RankJoined>(std::move(joined)));
}

void RouteCore::on(const SubmitRow& submit, Context& context, Effects& out) {
  const auto reject = [&](Code code, std::string message) {
    out.send(submit.owner, make_message<RowRejected>(submit.request, code, std::move(message)));
  };
  if (flows_.size() >= args_.rows_most) {
    return reject(Code::kUnavailable, "the cluster has all the requests that it takes; try again");
  }
  const std::uint32_t longest = args_.context_max;
  if (submit.prompt_length == 0 || submit.prompt_length >= longest) {
    return reject(Code::kTooLarge, "a prompt of " + std::to_string(submit.prompt_length) +
                                       " tokens does not fit into " + std::to_string(longest));
  }
  FlowCore::Args flow;
  flow.request = submit.request;
  flow.owner = submit.owner;
  flow.streams = submit.streams;
  flow.route = context.self;
  flow.length = submit.prompt_length;
  flow.output_most = submit.max_tokens;
  flow.sealed = submit.sealed;
  flow.time_left = submit.time_left;
  flow.wiring = args_.wiring;
  const ActorRef ref = context.spawn<FlowCore>(out, std::move(flow));
  flows_.insert(submit.request.value, Flow{ref, submit.streams});
  by_flow_.insert(ref.local, submit.request);
}

void RouteCore::on(const CancelRow& cancel, Context&, Effects& out) {
  const Flow* flow = flows_.find(cancel.request.value);
  if (flow != nullptr) out.send(flow->ref, make_message<CancelRow>(cancel.request));
}

void RouteCore::on(const Down& down, Context& context, Effects& out) {
  const RequestId* known = by_flow_.find(down.ref.local);
  if (known == nullptr) return;
  const RequestId request = *known;
  if (down.reason != EndReason::kStopped) {
    // The stream table ignores it if the row has ended, and fails the row whatever it has so far.
    TokenBatch batch;
    batch.rank = context.self;
    RowTokens row;
    row.request = request;
    row.finish = Finish::kFailed;
    row.code = Code::kInternal;
    row.error = "the request's flow ended: " + down.detail;
    batch.rows.push_back(std::move(row));
    out.send(flows_.find(request.value)->streams, make_message<TokenBatch>(std::move(batch)));
  }
  flows_.erase(request.value);
  by_flow_.erase(down.ref.local);
}

}  // namespace troupe
