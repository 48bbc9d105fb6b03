#include "actors/load/synthetic_source.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

// What a name is for: contents and draws of different kinds never meet.
enum Kind : std::uint64_t {
  kSessionDraws = 0x10,
  kTurnDraws,
  kImageDraws,
  kPrefixContent,
  kUserContent,
  kAnswerContent,
  kImageContent
};

std::uint64_t named(std::uint64_t seed, Kind kind, std::uint64_t a, std::uint64_t b = 0) {
  return mix64(mix64(mix64(seed, kind), a), b);
}

Distribution group_distribution(const LoadPlan& plan) {
  if (plan.prefix_groups == 0) return 1;
  char text[96];
  std::snprintf(text, sizeof text, "zipf:1:%u:%.17g", plan.prefix_groups, plan.prefix_skew);
  auto made = Distribution::parse(text, 1);
  TROUPE_ASSERT(made.ok(), "the plan was checked where it came in");
  return std::move(made).value();
}

}  // namespace

SyntheticSource::SyntheticSource(const LoadPlan& plan)
    : plan_(plan),
      clients_(plan),
      groups_(group_distribution(plan)),
      lengths_(mix64(plan.seed, 2)) {
  TROUPE_ASSERT(check_load(plan).ok(), "the plan was checked where it came in");
}

SyntheticSource::Session SyntheticSource::session_of(std::uint64_t number) const {
  Rng rng(named(plan_.seed, kSessionDraws, number));
  Session session;
  session.group = groups_.draw_count(rng);
  session.turns = plan_.turns.draw_count(rng);
  return session;
}

PromptPiece SyntheticSource::prefix_of(std::uint32_t group) const {
  Rng rng(named(plan_.seed, kPrefixContent, group, 1));
  return PromptPiece{named(plan_.seed, kPrefixContent, group), plan_.prefix_len.draw_count(rng),
                     PieceRole::kSystem};
}

void SyntheticSource::add_images(PlannedRequest& request) const {
  Rng rng(named(plan_.seed, kImageDraws, request.session));
  if (plan_.image_share == 0 || !rng.chance(plan_.image_share)) return;
  const std::uint32_t count = std::min(plan_.images.draw_count(rng), kImagesMost);
  for (std::uint32_t i = 0; i < count; ++i) {
    const PixelSize size = plan_.image_sizes[rng.below(plan_.image_sizes.size())];
    request.images.push_back(
        PromptImage{named(plan_.seed, kImageContent, request.session, i), size.width, size.height});
  }
}

bool SyntheticSource::has_turn(std::uint64_t session, std::uint32_t turn,
                               const PlannedRequest& before) const {
  if (turn >= session_of(session).turns) return false;
  return plan_.context_max == 0 ||
         tokens_of(before.prompt) + before.output_tokens < plan_.context_max;
}

Result<std::optional<PlannedRequest>> SyntheticSource::next() {
  PlannedRequest request;
  if (plan_.has_rate()) {
    const auto at = clients_.next_arrival();
    if (!at) return std::optional<PlannedRequest>();
    request.at = *at;
  }
  request.session = ++sessions_;
  const Session session = session_of(request.session);
  request.in_session = session.turns > 1;
  if (plan_.prefix_groups > 0) request.prompt.push_back(prefix_of(session.group));
  request.prompt.push_back(PromptPiece{named(plan_.seed, kUserContent, request.session),
                                       plan_.isl.draw_count(lengths_), PieceRole::kUser});
  request.output_tokens = plan_.osl.draw_count(lengths_);
  request.answer = named(plan_.seed, kAnswerContent, request.session);
  request.tools = plan_.tools;
  add_images(request);
  clients_.behave(request);
  request.last_turn = !has_turn(request.session, 1, request);
  return std::optional(std::move(request));
}

std::optional<PlannedRequest> SyntheticSource::after(const PlannedRequest& ended) {
  if (ended.last_turn) return std::nullopt;
  PlannedRequest request = ended;
  request.turn = ended.turn + 1;
  Rng rng(named(plan_.seed, kTurnDraws, ended.session, request.turn));
  request.at = from_seconds(std::clamp(plan_.think.draw(rng), 0.0, 1e8));
  const Distribution& fresh = plan_.turn_isl.is_always(0) ? plan_.isl : plan_.turn_isl;
  request.prompt = with_answer(ended);
  request.prompt.push_back(PromptPiece{named(plan_.seed, kUserContent, ended.session, request.turn),
                                       fresh.draw_count(rng), PieceRole::kUser});
  request.output_tokens = plan_.osl.draw_count(rng);
  request.answer = named(plan_.seed, kAnswerContent, ended.session, request.turn);
  clients_.behave(request, rng);
  const std::uint64_t all = tokens_of(request.prompt) + request.output_tokens;
  if (plan_.context_max > 0 && all > plan_.context_max) return std::nullopt;
  request.last_turn = !has_turn(ended.session, request.turn + 1, request);
  return request;
}

}  // namespace troupe
