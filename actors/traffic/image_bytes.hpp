// An image that a prompt asks for (actors/load/prompt.hpp), as a PNG file in a data URL.
//
// Grey rows that repeat the eight bytes of the content's name: every content is another picture,
// equal ones are equal to the byte, and zlib makes a file of some KiB of it, so that a load of
// images is one of pixels and patches, not of megabytes. Pure.
#pragma once

#include <string>

#include "actors/load/prompt.hpp"

namespace troupe {

/// Requires: both sides from 1 to 65,535 pixels.
std::string png_file(const PromptImage& image);
/// "data:image/png;base64,…"
std::string image_url(const PromptImage& image);

}  // namespace troupe
