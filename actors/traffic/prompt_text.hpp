// The words of a content: what a piece of a prompt (actors/load/prompt.hpp) is as text.
//
// Each word is a short common English one, which with the space before it is one token of every
// usual vocabulary; so n words are about n tokens. A content's first 13 words spell its name, 5
// bits each: two contents differ within 13 tokens, by construction and not by chance, so that a
// prefix cache finds exactly the blocks that two prompts are meant to share. The other words are
// drawn from the name. Shorter pieces of a content are beginnings of longer ones.
//
// Pure; equal on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Appends the first `count` words of the content, each with a space before it but for the very
/// first of `text`.
void append_words(std::string& text, std::uint64_t content, std::uint32_t count);

}  // namespace troupe
