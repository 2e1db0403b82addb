// The known name closest to a misspelt one, for "did you mean" in error messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cyclecast {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, case
// ignored.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The candidate at the smallest distance, if that is at most a third of the longer name's length
// (and at least 1 is always allowed). The first of equals.
std::optional<std::string> NearestName(std::string_view name,
                                       const std::vector<std::string>& candidates);

// "; did you mean 'x'?", or "; known are: a, b, c" when nothing is close and the list is short.
std::string Suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace cyclecast
