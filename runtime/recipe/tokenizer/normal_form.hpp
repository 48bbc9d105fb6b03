// Unicode's normal form C, which some vocabularies (Qwen) want their texts in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The text in normal form C, or nothing if it is so already. Bytes that are no character stay as
/// they are, and what is around them is normalized.
std::optional<std::string> to_nfc(std::string_view text);

}  // namespace troupe
