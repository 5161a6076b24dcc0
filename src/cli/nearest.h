// "Did you mean": the known word that a mistyped one is likely to stand for. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace contrafact::cli {

// The known word that is nearest to `word`, by the number of letters put in, left out, replaced or swapped with the
// next. Empty if none is as near as a slip of the pen: a third of its letters, and at least one.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

// "; did you mean 'advise'?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace contrafact::cli
