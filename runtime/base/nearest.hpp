// The nearest name: what somebody probably meant by a word that we do not know.
//
// Used for configuration keys, environment variables and subcommands. Distances count insertions,
// deletions, substitutions and swaps of neighbours ("prot" is one step from "port").
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Optimal string alignment distance; O(|a| * |b|). Both are cut to 128 bytes, longer than any
/// name.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// How far a misspelt name may be from the real one and still look like a typo of it: one step for
/// short names, up to three for long ones.
std::size_t typo_distance(std::string_view name);

/// The candidate with the least distance (the first among equals); empty without candidates.
std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string>& candidates);

}  // namespace troupe
