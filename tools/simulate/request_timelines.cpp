#include "tools/simulate/request_timelines.hpp"

#include <algorithm>

#include "actors/pd/pd_messages.hpp"
#include "actors/prefill_balancer/prefill_messages.hpp"
#include "actors/stream_table/stream_messages.hpp"
#include "actors/vision_balancer/vision_messages.hpp"

namespace troupe {

namespace {

bool faster(const RequestTimeline& a, const RequestTimeline& b) {
  return a.first_token > b.first_token;
}

}  // namespace

const char* phase_name(RequestPhase phase) {
  constexpr const char* kNames[kRequestPhases] = {"front end", "queued",  "fetch", "encode",
                                                  "prefill",   "placing", "push",  "decode"};
  return kNames[static_cast<std::size_t>(phase)];
}

void RequestTimelines::observe(Time now, const Envelope& envelope) {
  const Message& message = envelope.message;
  switch (message.kind()) {
    case OpenRow::info.kind: {
      const OpenRow& open = *message.as<OpenRow>();
      RequestTimeline begun;
      begun.request = open.request.value;
      begun.prompt_tokens = open.prompt_tokens;
      if (served_by_ == ServedBy::kPools) begun.hit_tokens = 0;
      begun.parts.push_back({RequestPhase::kFrontEnd, open.arrived});
      live_.insert(open.request.value, std::move(begun));
      return;
    }
    case RowClosed::info.kind: {
      const RowClosed& closed = *message.as<RowClosed>();
      return end(closed.request, closed.output_tokens, false, now);
    }
    case CloseRow::info.kind:
      return end(message.as<CloseRow>()->request, 0, true, now);
    default:
      return served_by_ == ServedBy::kPools ? observe_pools(now, message)
                                            : observe_engines(now, message);
  }
}

void RequestTimelines::observe_pools(Time now, const Message& message) {
  switch (message.kind()) {
    case SubmitPrefill::info.kind:
      return enter(message.as<SubmitPrefill>()->request, RequestPhase::kQueued, now);
    case PrefillAssigned::info.kind: {
      const PrefillAssigned& assigned = *message.as<PrefillAssigned>();
      if (RequestTimeline* one = find(assigned.request)) one->hit_tokens = assigned.hit;
      if (assigned.hit > 0) enter(assigned.request, RequestPhase::kFetch, now);
      return;
    }
    case EncodeImage::info.kind:
      return encode(message.as<EncodeImage>()->request, now);
    case StartPrefill::info.kind:
      return enter(message.as<StartPrefill>()->request, RequestPhase::kPrefill, now);
    case PrefillEnded::info.kind:
      for (const EndedPrompt& row : message.as<PrefillEnded>()->rows) {
        first_token(row.request, RequestPhase::kPlacing, now);
      }
      return;
    case MoveBytes::info.kind: {
      const MoveBytes& move = *message.as<MoveBytes>();
      if (move.kind != MoveKind::kPush) return;
      return enter(RequestId(move.move >> kMovesBits), RequestPhase::kPush, now);
    }
    case StartDecode::info.kind:
      return enter(message.as<StartDecode>()->request, RequestPhase::kDecode, now);
    default:
      return;
  }
}

void RequestTimelines::observe_engines(Time now, const Message& message) {
  if (const auto* submit = message.as<SubmitRow>()) {
    return enter(submit->request, RequestPhase::kQueued, now);
  }
  const auto* batch = message.as<TokenBatch>();
  if (batch == nullptr) return;
  for (const RowTokens& row : batch->rows) {
    if (row.first > 0 || row.count() == 0) continue;
    const RequestTimeline* one = find(row.request);
    if (one == nullptr || one->parts.back().phase != RequestPhase::kQueued) continue;
    enter(row.request, RequestPhase::kPrefill, one->parts.back().begin + row.queued);
    first_token(row.request, RequestPhase::kDecode, now);
  }
}

void RequestTimelines::enter(RequestId request, RequestPhase phase, Time now) {
  if (RequestTimeline* one = find(request)) one->parts.push_back({phase, now});
}

void RequestTimelines::encode(RequestId request, Time now) {
  RequestTimeline* one = find(request);
  if (one == nullptr || one->parts.back().phase == RequestPhase::kEncode) return;
  one->parts.push_back({RequestPhase::kEncode, now});
}

void RequestTimelines::first_token(RequestId request, RequestPhase next, Time now) {
  RequestTimeline* one = find(request);
  if (one == nullptr) return;
  one->parts.push_back({next, now});
  if (one->first_token > Duration()) return;  // computed anew: its client has the first one
  one->first_token = now - one->parts.front().begin;
  first_tokens_.record(one->first_token.seconds());
}

void RequestTimelines::end(RequestId request, std::uint32_t output, bool client_left, Time now) {
  RequestTimeline* one = find(request);
  if (one == nullptr) return;
  one->output_tokens = output;
  one->client_left = client_left;
  one->ended = now;
  ++ended_;
  keep_slowest(*one);
  if (first_.size() < limits_.first_most) first_.push_back(std::move(*one));
  live_.erase(request.value);
}

void RequestTimelines::keep_slowest(const RequestTimeline& one) {
  if (limits_.slowest_most == 0) return;
  if (slowest_.size() == limits_.slowest_most) {
    if (!faster(one, slowest_.front())) return;
    std::pop_heap(slowest_.begin(), slowest_.end(), faster);
    slowest_.pop_back();
  }
  slowest_.push_back(one);
  std::push_heap(slowest_.begin(), slowest_.end(), faster);
}

std::vector<RequestTimeline> RequestTimelines::slowest() const {
  std::vector<RequestTimeline> sorted = slowest_;
  std::sort(sorted.begin(), sorted.end(), faster);
  return sorted;
}

Histogram RequestTimelines::take_first_tokens() {
  return std::exchange(first_tokens_, Histogram());
}

}  // namespace troupe
