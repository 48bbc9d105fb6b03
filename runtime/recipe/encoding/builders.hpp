// What encoding.cpp's table is made of: one builder an encoding, defined in the file of that name.
#pragma once

#include <memory>
#include <string>

#include "runtime/recipe/encoding/encoding.hpp"

namespace troupe::recipe {

/// v4.cpp. Requires: pack is for V4.
std::shared_ptr<const Encoding> build_v4(std::shared_ptr<const PromptPack> pack);

/// v41.cpp. Requires: pack is for V4.1.
std::shared_ptr<const Encoding> build_v41(std::shared_ptr<const PromptPack> pack);

/// chatml.cpp. `default_system`: said if the first message is not a system message; may be empty.
std::shared_ptr<const Encoding> build_chatml(std::string default_system);

}  // namespace troupe::recipe
