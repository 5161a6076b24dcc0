#include "advise/gain_over.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/middle.h"

namespace contrafact::advise {

Gain gain_over(std::span<const std::optional<Gain>> each, double most) {
  std::vector<double> shares, below, above;
  size_t simulated = 0;
  for (const std::optional<Gain>& gain : each) {
    if (!gain) continue;
    shares.push_back(gain->share);
    below.push_back(gain->share - gain->low);
    above.push_back(gain->high - gain->share);
    simulated += gain->origin == model::Origin::simulated;
  }
  CHECK(!shares.empty());
  const auto [least, greatest] = std::ranges::minmax(shares);
  return {.share = base::median(std::span(shares)),
          .low = least - base::median(std::span(below)),
          .high = std::min(most, greatest + base::median(std::span(above))),
          .origin = 2 * simulated > shares.size() ? model::Origin::simulated : model::Origin::estimated};
}

bool contradict(std::span<const std::optional<Gain>> each) {
  const auto gains = [](const std::optional<Gain>& gain) { return gain && gain->share >= kTellableTime; };
  const auto loses = [](const std::optional<Gain>& gain) { return gain && gain->share <= -kTellableTime; };
  return std::ranges::any_of(each, gains) && std::ranges::any_of(each, loses);
}

}  // namespace contrafact::advise
