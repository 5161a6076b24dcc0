#include "cli/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace contrafact::cli {
namespace {

constexpr size_t kLengthMax = 64;  // words that are longer are no slips, and cost the square of it

// Optimal string alignment: Damerau and Levenshtein's distance with no letter edited twice.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLengthMax) return "";
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view each : known) {
    const size_t far = distance(word, each);
    if (far < best_distance && far < each.size()) best = each, best_distance = far;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
}

}  // namespace contrafact::cli
