#include "runtime/recipe/stop_matcher.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/assert.hpp"

namespace troupe {

StopMatcher::StopMatcher(std::vector<std::string> strings) {
  for (std::string& text : strings) {
    TROUPE_ASSERT(!text.empty(), "an empty stop string is refused where requests are parsed");
    Pattern pattern{std::move(text), {0}, 0};
    for (std::uint32_t at = 1, border = 0; at < pattern.text.size(); ++at) {
      while (border > 0 && pattern.text[at] != pattern.text[border]) {
        border = pattern.fallback[border - 1];
      }
      if (pattern.text[at] == pattern.text[border]) ++border;
      pattern.fallback.push_back(border);
    }
    patterns_.push_back(std::move(pattern));
  }
}

bool StopMatcher::push(char byte) {
  TROUPE_ASSERT(found_ == nullptr, "nothing is matched after a stop");
  held_ = 0;
  for (Pattern& pattern : patterns_) {
    std::uint32_t& matched = pattern.matched;
    while (matched > 0 && pattern.text[matched] != byte) matched = pattern.fallback[matched - 1];
    if (pattern.text[matched] == byte) ++matched;
    held_ = std::max<std::size_t>(held_, matched);
    const bool whole = matched == pattern.text.size();
    if (whole && (found_ == nullptr || pattern.text.size() > found_->text.size())) {
      found_ = &pattern;
    }
  }
  return found_ != nullptr;
}

const std::string& StopMatcher::found() const {
  TROUPE_ASSERT(found_ != nullptr, "found() needs a match");
  return found_->text;
}

}  // namespace troupe
