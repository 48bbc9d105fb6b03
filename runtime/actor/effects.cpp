#include "runtime/actor/effects.hpp"

namespace troupe {

Effects::Effects(Effects&&) noexcept = default;
Effects& Effects::operator=(Effects&&) noexcept = default;
Effects::~Effects() = default;

void Effects::send(const ActorRef& to, Message message) {
  list_.emplace_back(effect::Send{to, std::move(message)});
}

void Effects::timer(TimerTag tag, Time at) {
  list_.emplace_back(effect::Timer{tag, at});
}
void Effects::cancel_timer(TimerTag tag) {
  list_.emplace_back(effect::CancelTimer{tag});
}

void Effects::launch(effect::LaunchStep launch) {
  list_.emplace_back(std::move(launch));
}
void Effects::cancel(OpId op) {
  list_.emplace_back(effect::Cancel{op});
}
void Effects::compute(OpId op, std::shared_ptr<const ComputeJob> job, Time deadline) {
  list_.emplace_back(effect::Compute{op, std::move(job), deadline});
}

void Effects::watch(const ActorRef& ref) {
  list_.emplace_back(effect::Watch{ref});
}
void Effects::unwatch(const ActorRef& ref) {
  list_.emplace_back(effect::Unwatch{ref});
}

void Effects::spawn(effect::Spawn spawn) {
  list_.emplace_back(std::move(spawn));
}
void Effects::stop(std::string detail) {
  list_.emplace_back(effect::End{{}, EndReason::kStopped, std::move(detail)});
}
void Effects::fail(std::string detail) {
  list_.emplace_back(effect::End{{}, EndReason::kCrashed, std::move(detail)});
}
void Effects::end_child(const ActorRef& child, std::string detail) {
  list_.emplace_back(effect::End{child, EndReason::kStopped, std::move(detail)});
}

void Effects::count(const char* name, double by, std::string label) {
  note(effect::NoteKind::kCount, name, by, std::move(label));
}
void Effects::gauge(const char* name, double value, std::string label) {
  note(effect::NoteKind::kGauge, name, value, std::move(label));
}
void Effects::observe(const char* name, double value) {
  list_.emplace_back(effect::Note{effect::NoteKind::kObserve, name, value, {}});
}
void Effects::info(const char* event, std::string text) {
  note(effect::NoteKind::kInfo, event, 0, std::move(text));
}
void Effects::warn(const char* event, std::string text) {
  note(effect::NoteKind::kWarning, event, 0, std::move(text));
}

void Effects::clear() {
  list_.clear();
}

void Effects::note(effect::NoteKind kind, const char* name, double value, std::string text) {
  std::shared_ptr<const std::string> label;
  if (!text.empty()) label = std::make_shared<const std::string>(std::move(text));
  list_.emplace_back(effect::Note{kind, name, value, std::move(label)});
}

}  // namespace troupe
