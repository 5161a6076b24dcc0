#include "replay/enforce/section_times.h"

#include <algorithm>

namespace contrafact::replay {

std::vector<int64_t> SectionTimes::wait_ns_by_group() const {
  std::vector<int64_t> wait_ns(schedule_.groups);
  for (size_t s = 0; s < schedule_.sections.size(); ++s) {
    const uint32_t group = schedule_.sections[s].group;
    if (group == UINT32_MAX || get(stamps_[s].had) == kNever) continue;
    wait_ns[group] += get(stamps_[s].had) - get(stamps_[s].asked);
  }
  return wait_ns;
}

uint64_t SectionTimes::out_of_order() const {
  uint64_t count = 0;
  for (size_t s = 0; s < schedule_.sections.size(); ++s) {
    if (get(stamps_[s].had) == kNever) continue;
    count += std::ranges::any_of(schedule_.sections[s].follows, [&](uint32_t before) {
      return get(stamps_[before].given) == kNever || get(stamps_[before].given) > get(stamps_[s].had);
    });
  }
  return count;
}

uint64_t SectionTimes::count() const {
  uint64_t count = 0;
  for (size_t s = 0; s < schedule_.sections.size(); ++s) count += get(stamps_[s].had) != kNever;
  return count;
}

}  // namespace contrafact::replay
