// Which pre-tokenizer a `tokenizer.json` asks for, by the structure of its section.
//
// Threads: a pure function.
#pragma once

#include <rapidjson/document.h>

#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

/// A name for find_pre_tokenizer(); kUnsupported shows the section that is not known. `section` is
/// the member "pre_tokenizer", null if the file has none.
Result<std::string_view> recognize_pre_tokenizer(const rapidjson::Value& section);

}  // namespace troupe
