// The input of a custom tool, out of the arguments of a call (recipe SPEC 5.4, "Custom").
//
// The model calls a custom tool like a function with one string parameter, `input`; the client gets
// the text of that parameter. Until the arguments have shown whether they begin that way they
// wait; if they do not, their JSON is the input.
//
// Threads: one owner. Ownership: the text returned is valid until the next call.
#pragma once

#include <string>
#include <string_view>

#include "runtime/recipe/stream/answer_json.hpp"

namespace troupe::recipe {

class CustomInput {
 public:
  void restart() {
    mode_ = Mode::kOpen;
    json_.clear();
  }

  /// What this delta of the arguments adds to the input.
  std::string_view push(const Delta& delta, std::string& scratch) {
    static constexpr std::string_view kHead = "{\"input\": \"";
    switch (mode_) {
      case Mode::kText:
        if (delta.kind == DeltaKind::kArgumentText) return delta.text;
        mode_ = Mode::kOver;  // the quote that closes the parameter
        return {};
      case Mode::kOver:
        return {};
      case Mode::kJson:
        return argument_json(delta, scratch);
      case Mode::kOpen:
        break;
    }
    json_ += argument_json(delta, scratch);
    if (json_ == kHead) {
      mode_ = Mode::kText;
      return {};
    }
    if (kHead.starts_with(json_)) return {};
    mode_ = Mode::kJson;
    return json_;
  }

  /// The end of the arguments: JSON that still waits. It cannot be the input of a whole call.
  std::string_view finish() const {
    return mode_ == Mode::kOpen ? std::string_view(json_) : std::string_view();
  }

 private:
  enum class Mode : unsigned char { kOpen, kText, kOver, kJson };
  Mode mode_ = Mode::kOpen;
  std::string json_;
};

}  // namespace troupe::recipe
