// What is in a model file, for people: `troupe model show`.
#pragma once

#include <ostream>
#include <string>

#include "runtime/base/result.hpp"

namespace troupe {

/// Of a GGUF file: architecture, parameters, context, tensor types, tokenizer, chat encoding; of a
/// tokenizer.json: size, added tokens, hash and origin. What the file does
/// not say is shown as "-".
Status describe_model(const std::string& path, std::ostream& out);

}  // namespace troupe
