#include "runtime/recipe/text_stream.hpp"

#include <utility>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops)
    : tokenizer_(std::move(tokenizer)), stops_(std::move(stops)) {}

std::string TextStream::push(TokenId id) {
  if (stopped_ || tokenizer_->is_control(id)) return {};
  raw_ += tokenizer_->bytes_of(id);
  add_characters(false);
  return release();
}

std::string TextStream::finish() {
  if (stopped_) return {};
  add_characters(true);
  std::string text = release();
  if (stopped_) return text;
  bytes_sent_ += held_.size();
  text += std::exchange(held_, {});
  return text;
}

/// Moves what is complete from raw_ to held_; at the end also what is not.
void TextStream::add_characters(bool at_end) {
  std::string_view rest = raw_;
  while (!rest.empty() && !stopped_) {
    const Utf8Char next = first_char(rest);
    if (next.state == Utf8State::kIncomplete && !at_end) break;
    if (next.state == Utf8State::kValid) {
      add_text(rest.substr(0, next.bytes));
    } else {
      ++replaced_;
      add_text(kReplacement);
    }
    rest.remove_prefix(next.bytes);
  }
  raw_.erase(0, raw_.size() - rest.size());
}

void TextStream::add_text(std::string_view text) {
  for (const char byte : text) {
    held_ += byte;
    if (!stops_.push(byte)) continue;
    held_.resize(held_.size() - stops_.found().size());
    stopped_ = true;
    return;
  }
}

/// Gives out the part of held_ that no stop string can begin in.
std::string TextStream::release() {
  const std::size_t kept = stopped_ ? 0 : stops_.held();
  std::string text = held_.substr(0, held_.size() - kept);
  held_.erase(0, text.size());
  bytes_sent_ += text.size();
  return text;
}

}  // namespace troupe
