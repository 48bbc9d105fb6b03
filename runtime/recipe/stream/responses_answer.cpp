#include "runtime/recipe/stream/responses_answer.hpp"

#include <algorithm>

#include "runtime/recipe/stream/answer_json.hpp"

namespace troupe::recipe {

ResponsesAnswer::ResponsesAnswer(AnswerContext context) : Answer(std::move(context)) {
  append_json_string(scratch_, this->context().identity.id);
  id_ = scratch_.substr(1, scratch_.size() - 2);
  prepare_members();
}

void ResponsesAnswer::open(std::string_view type) {
  out_ = "{\"type\":\"";
  out_ += type;
  out_ += '"';
}

void ResponsesAnswer::close(std::string_view type) {
  out_ += ",\"sequence_number\":";
  append_number(out_, sequence_++);
  out_ += '}';
  send(type, out_);
}

/// The same with "text" as the last member, where the reference has it.
void ResponsesAnswer::close(std::string_view type, std::string_view text) {
  out_ += ",\"sequence_number\":";
  append_number(out_, sequence_++);
  out_ += ",\"text\":";
  append_json_string(out_, text);
  out_ += '}';
  send(type, out_);
}

void ResponsesAnswer::send_response(std::string_view type, State state) {
  open(type);
  out_ += ",\"response\":";
  append_response(out_, state);
  close(type);
}

void ResponsesAnswer::start(const Start&) {
  if (!is_sending()) return;
  send_response("response.created", State::kInProgress);
  send_response("response.in_progress", State::kInProgress);
}

void ResponsesAnswer::keep_alive() {
  if (is_sending()) send_response("response.in_progress", State::kInProgress);
}

void ResponsesAnswer::delta(const Delta& delta) {
  switch (delta.kind) {
    case DeltaKind::kReasoning:
      begin_text(Item::kReasoning);
      return text_delta(delta);
    case DeltaKind::kContent:
      begin_text(Item::kMessage);
      return text_delta(delta);
    case DeltaKind::kCall:
      return begin_call(delta);
    case DeltaKind::kArguments:
    case DeltaKind::kArgumentText:
      return arguments_delta(delta);
    case DeltaKind::kCallDone:
      return;
  }
}

void ResponsesAnswer::begin_text(Item item) {
  if (item_ == item) return;
  end_item(true, false);
  item_ = item;
  if (!is_sending()) return;
  open("response.output_item.added");
  out_ += ",\"item\":";
  append_item(out_, "in_progress", false, "final_answer");
  item_index();
  close("response.output_item.added");
  open("response.content_part.added");
  out_ += ",\"content_index\":0";
  item_id();
  item_index();
  out_ += ",\"part\":";
  append_part(out_, false);
  close("response.content_part.added");
}

void ResponsesAnswer::begin_call(const Delta& delta) {
  end_item(true, true);
  const AnswerOptions& options = context().options;
  const auto& custom = options.custom_tools;
  const bool is_custom = std::find(custom.begin(), custom.end(), delta.text) != custom.end();
  item_ = is_custom ? Item::kCustom : Item::kCall;
  input_.restart();
  const auto space = options.namespaces.find(delta.text);
  const bool mapped = space != options.namespaces.end();
  call_ = "\"call_id\":";
  append_json_string(call_, delta.call_id);
  call_ += ",\"name\":";
  append_json_string(call_, mapped ? std::string_view(space->second.second) : delta.text);
  if (mapped) {
    call_ += ",\"namespace\":";
    append_json_string(call_, space->second.first);
  }
  if (!is_sending()) return;
  open("response.output_item.added");
  out_ += ",\"item\":";
  append_item(out_, "in_progress", false, {});
  item_index();
  close("response.output_item.added");
}

void ResponsesAnswer::text_delta(const Delta& delta) {
  const bool message = item_ == Item::kMessage;
  text_ += delta.text;
  scratch_.clear();
  if (message && !delta.logprobs.empty()) {
    append_logprobs(scratch_, delta.logprobs, context());
    if (!logs_.empty()) logs_ += ',';
    logs_ += scratch_;
  }
  if (!is_sending()) return;
  const std::string_view type =
      message ? "response.output_text.delta" : "response.reasoning_text.delta";
  open(type);
  out_ += ",\"content_index\":0,\"delta\":";
  append_json_string(out_, delta.text);
  item_id();
  if (message) {
    out_ += ",\"logprobs\":[";
    out_ += scratch_;
    out_ += ']';
  }
  item_index();
  close(type);
}

void ResponsesAnswer::arguments_delta(const Delta& delta) {
  if (item_ != Item::kCustom) return arguments_piece(argument_json(delta, scratch_));
  const std::string_view piece = input_.push(delta, scratch_);
  if (!piece.empty()) arguments_piece(piece);
}

void ResponsesAnswer::arguments_piece(std::string_view piece) {
  const bool custom = item_ == Item::kCustom;
  text_ += piece;
  if (!is_sending()) return;
  const std::string_view type =
      custom ? "response.custom_tool_call_input.delta" : "response.function_call_arguments.delta";
  open(type);
  out_ += ",\"delta\":";
  append_json_string(out_, piece);
  item_id();
  item_index();
  close(type);
}

void ResponsesAnswer::item_id() {
  out_ += ",\"item_id\":";
  append_item_id(out_);
}

void ResponsesAnswer::item_index() {
  out_ += ",\"output_index\":";
  append_number(out_, index_);
}

void ResponsesAnswer::end_item(bool complete, bool call_follows) {
  if (item_ == Item::kNone) return;
  if (item_ == Item::kCustom && !strict() && !input_.finish().empty()) {
    arguments_piece(input_.finish());  // half of the JSON that wraps an input
  }
  const std::string_view phase = call_follows ? "commentary" : "final_answer";
  const bool text = item_ == Item::kReasoning || item_ == Item::kMessage;
  if (is_sending()) {
    if (text) {
      end_text();
    } else if (!strict() || complete || !outcome_.call_cut) {
      end_call();
    }
  }
  scratch_.clear();
  append_item(scratch_, complete ? "completed" : "incomplete", true, phase);
  if (is_sending()) {
    open("response.output_item.done");
    out_ += ",\"item\":";
    out_ += scratch_;
    item_index();
    close("response.output_item.done");
  }
  if (!items_.empty()) items_ += ',';
  items_ += scratch_;
  item_ = Item::kNone;
  ++index_;
  text_.clear();
  logs_.clear();
}

void ResponsesAnswer::end_text() {
  const bool message = item_ == Item::kMessage;
  const std::string_view type =
      message ? "response.output_text.done" : "response.reasoning_text.done";
  open(type);
  out_ += ",\"content_index\":0";
  item_id();
  if (message) {
    out_ += ",\"logprobs\":[";
    out_ += logs_;
    out_ += ']';
  }
  item_index();
  close(type, text_);
  open("response.content_part.done");
  out_ += ",\"content_index\":0";
  item_id();
  item_index();
  out_ += ",\"part\":";
  append_part(out_, true);
  close("response.content_part.done");
}

void ResponsesAnswer::end_call() {
  const bool custom = item_ == Item::kCustom;
  const std::string_view type =
      custom ? "response.custom_tool_call_input.done" : "response.function_call_arguments.done";
  open(type);
  out_ += custom ? ",\"input\":" : ",\"arguments\":";
  append_json_string(out_, text_);
  item_id();
  item_index();
  close(type);
}

void ResponsesAnswer::finish(const Outcome& outcome) {
  outcome_ = outcome;
  const bool incomplete =
      outcome.end == AnswerEnd::kLength || outcome.end == AnswerEnd::kContentFilter;
  end_item(!incomplete, false);
  state_ = incomplete ? State::kIncomplete : State::kCompleted;
  if (is_sending()) {
    send_response(incomplete ? "response.incomplete" : "response.completed", state_);
  }
}

void ResponsesAnswer::fail(const ApiError& error) {
  state_ = State::kFailed;
  failure_ = response_error(error);
  if (is_sending()) send_response("response.failed", state_);
}

std::string ResponsesAnswer::body() const {
  std::string out;
  append_response(out, state_);
  return out;
}

}  // namespace troupe::recipe
