// What makes two model files the same to a cluster: nodes that serve one request between them must
// hold the same weights, or they would continue each other's sentences in different words.
//
// A fingerprint looks at the name, type, shape and first bytes of every tensor and at the file's
// length: milliseconds, where a hash of all bytes takes seconds. It tells apart sizes,
// quantizations and fine-tunes; it is no protection from somebody who forges a file. Pure; any
// thread.
#pragma once

#include <string>

#include "runtime/model/gguf.hpp"
#include "runtime/model/llama_config.hpp"

namespace troupe {

/// 16 hexadecimal digits.
std::string fingerprint_of(const GgufFile& file);

/// How KV blocks of this model lie in memory, for nodes that exchange them.
std::string kv_layout_of(const ModelConfig& config);

}  // namespace troupe
