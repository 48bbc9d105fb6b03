// The boiler-plate of one prompt format as data: what a model was trained to read around a
// conversation, byte for byte, with the places where it holds control tokens.
//
// Why data and not code: the texts belong to the model, not to us. They are derived at set-up, next
// to the tokenizer (`troupe model pull deepseek-v4`), and never committed. An encoding says where
// a text stands; a pack says what it is.
//
// File: one JSON object with a member a version, "v4" and "v4.1"; tools/model/derive_prompt_pack.py
// writes it and describes it. A text is {"text": ..., "special_byte_ranges": [[begin, end], ...]}.
// Members that are not listed here are left alone.
//
// Invariants: ranges are ascending, disjoint, not empty and inside their text.
// Source: recipe SPEC section 4. Threads: a plain value, read only after loading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation/conversation.hpp"
#include "runtime/recipe/conversation/rendered_prompt.hpp"

namespace troupe::recipe {

struct PackText {
  std::string text;
  std::vector<ByteRange> specials;  ///< each spells one added token
};

struct PromptPack {
  PackText effort_low;
  PackText effort_high;
  PackText effort_max;
  PackText tools_head;  ///< before the schema lines
  PackText tools_sep;   ///< between two of them
  PackText tools_tail;  ///< after the last one
  PackText json_object;
  PackText json_schema_head;
  PackText required_suffix;  ///< opens the tool block in the model's stead

  std::string unsupported_image;     ///< V4: stands for an image
  std::string unsupported_document;  ///< stands for a file of Responses
  std::string mid_system_begin;      ///< V4: around a system message of Messages that is not first
  std::string mid_system_end;
  std::string updated_tools_head;  ///< V4.1: before the schemas of tools loaded on the way

  ToolDefinition apply_patch;  ///< what the custom tool of that name becomes
};

/// The part of a pack file that is for `version`. kCorrupt names the member that is missing or
/// wrong. Requires: version is one of DeepSeek's, others have no pack.
Result<PromptPack> parse_prompt_pack(std::string_view json, ModelVersion version);

/// The same from a file; kNotFound says how to get one.
Result<PromptPack> load_prompt_pack(const std::string& path, ModelVersion version);

}  // namespace troupe::recipe
