// GET /v1/models: what a gateway's ranks serve.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace troupe {

struct ModelEntry {
  std::string id;
  std::int64_t created = 0;  ///< seconds since 1970
  std::uint64_t context_tokens = 0;
};

/// The body, in the OpenAI form.
std::string models_body(std::span<const ModelEntry> models);

}  // namespace troupe
