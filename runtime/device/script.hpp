// Scripts: what the scripted engine plays instead of a model.
//
//   {"chunks": [{"text": "Hel"}, {"tokens": [108, 111], "delay_ms": 20}, {"bytes": "f09f98"}],
//    "finish": "stop" | "length" | "stall" | "die", "control": false}
//
// A chunk is given after its delay, counted from the chunk before it (the first: from the end of
// the prefill). `text` becomes tokens through the engine's tokenizer; with "control" true, text
// that spells control tokens becomes their ids. `bytes` is hexadecimal and may cut a UTF-8
// character. After the last chunk: stop ends the answer, length ends it as cut by length, stall
// never ends it, die fails the device.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

enum class ScriptFinish : std::uint8_t { kStop, kLength, kStall, kDie };

struct ScriptChunk {
  std::vector<TokenId> tokens;
  Duration delay;
};

struct Script {
  std::vector<ScriptChunk> chunks;
  ScriptFinish finish = ScriptFinish::kStop;
};

/// text (and whether control tokens in it count) → ids
using ScriptEncoder = std::function<std::vector<TokenId>(std::string_view text, bool control)>;

/// Errors name the place inside of the JSON text and what is expected there.
Result<Script> parse_script(std::string_view json, const ScriptEncoder& encode);

/// Reads DIRECTORY/NAME.json. A name with other characters than letters, digits, '-', '_' and '.'
/// (not first) is refused: it comes from clients.
Result<Script> load_script(const std::string& directory, std::string_view name,
                           const ScriptEncoder& encode);

}  // namespace troupe
