#include "actors/gateway/health.hpp"

namespace troupe {

namespace {

enum class Question { kNone, kLive, kHealthy, kReady };

Question question_of(std::string_view path) {
  if (path == "/live" || path == "/liveness" || path == "/ping") return Question::kLive;
  if (path == "/health") return Question::kHealthy;
  if (path == "/ready" || path == "/readiness" || path == "/health/ready") return Question::kReady;
  return Question::kNone;
}

bool is_yes(Question question, ServingState state) {
  switch (state) {
    case ServingState::kStarting:
      return false;
    case ServingState::kNoRank:
      return question == Question::kLive;
    case ServingState::kServing:
      return true;
    case ServingState::kDraining:
      return question != Question::kReady;
  }
  return false;
}

const char* text_of(ServingState state) {
  switch (state) {
    case ServingState::kStarting:
      return "starting";
    case ServingState::kNoRank:
      return "waiting for a rank";
    case ServingState::kServing:
      return "ok";
    case ServingState::kDraining:
      return "draining";
  }
  return "unknown";
}

}  // namespace

std::optional<HealthAnswer> health_answer(std::string_view path, ServingState state) {
  const Question question = question_of(path);
  if (question == Question::kNone) return std::nullopt;
  HealthAnswer answer;
  answer.status = is_yes(question, state) ? 200 : 503;
  answer.body = std::string(R"({"status":")") + text_of(state) + R"("})";
  return answer;
}

}  // namespace troupe
