// A line of a report in printf's form, at most 255 characters.
#pragma once

#include <cstdio>
#include <string>

namespace troupe {

template <class... Values>
std::string formatted(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace troupe
