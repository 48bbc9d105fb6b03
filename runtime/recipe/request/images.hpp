// Images as sources: a URL or data in one, checked for form only; nothing is fetched or decoded.
//
// V4 does not see images: a text stands for each, so that the reference does not look at them
// either (recipe SPEC 3.4, a quirk). Every other version gets checked sources.
#pragma once

#include <string>
#include <string_view>

#include "runtime/recipe/conversation/conversation.hpp"
#include "runtime/recipe/request/issues.hpp"

namespace troupe::recipe {

/// How an error calls the image: each protocol has its own words.
struct ImageWords {
  std::string_view format;          ///< "Unsupported image_url format"
  std::string_view noun = "image";  ///< "file" if it came as one
};

/// An image at a URL: http(s), or data with base64 content. `path` is where the client put it, as
/// errors and the source show it. False after failing.
bool read_image_url(std::string_view url, std::string_view detail, const std::string& path,
                    const ImageWords& words, ModelVersion version, Issues& issues,
                    ImageSource& source);

bool is_data_url(std::string_view url);

/// True for standard base64, white space within and without padding included.
bool is_base64(std::string_view text);

/// True for base64 as encoders write it: padded, without white space, unused bits zero. The
/// reference also takes whole groups of padding at the end.
bool is_canonical_base64(std::string_view text);

}  // namespace troupe::recipe
