#include "runtime/base/assert.hpp"

namespace troupe {

void assertion_failed(const char* file, int line, const char* expression, const char* reason) {
  throw AssertionFailure(std::string(file) + ":" + std::to_string(line) + ": " + reason + " (" +
                         expression + ")");
}

}  // namespace troupe
