// What is in a model file, for people: `troupe model show`.
#pragma once

#include <ostream>
#include <string>

#include "runtime/base/result.hpp"

namespace troupe {

/// Architecture, parameters, context, tensor types, tokenizer, chat encoding. What the file does
/// not say is shown as "-".
Status describe_model(const std::string& path, std::ostream& out);

}  // namespace troupe
