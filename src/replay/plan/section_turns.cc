#include "replay/plan/section_turns.h"

#include <algorithm>

namespace contrafact::replay {
namespace {

constexpr uint8_t kTaken = 1, kGiven = 2;

// By section: which of its ends the schedule has, for locks that are released by the thread that acquired them.
std::vector<uint8_t> ends_of_sections(const Schedule& schedule, size_t sections) {
  std::vector<uint8_t> ends(sections);
  for (const ReplayThread& thread : schedule.threads) {
    for (const Action& action : thread.actions) {
      const bool takes = action.code == ActionCode::take || action.code == ActionCode::take_shared;
      const bool gives = action.code == ActionCode::give || action.code == ActionCode::give_shared;
      if ((!takes && !gives) || schedule.locks[action.value].given_by_others) continue;
      ends[action.section] |= takes ? kTaken : kGiven;
    }
  }
  return ends;
}

}  // namespace

TurnCounts order_sections(Schedule& schedule, const graph::SectionOrder& order, uint32_t groups,
                          std::span<const uint32_t> group_of) {
  const size_t count = order.begin.size() - 1;
  const std::vector<uint8_t> ends = ends_of_sections(schedule, count);
  schedule.sections.assign(count, {});
  schedule.groups = groups;
  TurnCounts counts;
  std::vector<uint32_t> open;
  for (uint32_t s = 0; s < count; ++s) {
    if ((ends[s] & kTaken) == 0) continue;
    ++counts.sections;
    schedule.sections[s].group = group_of[s];
    std::vector<uint32_t>& follows = schedule.sections[s].follows;
    // In place of a section that is not replayed come those that it would follow.
    open.assign(order.of(s).begin(), order.of(s).end());
    while (!open.empty()) {
      const uint32_t before = open.back();
      open.pop_back();
      if (ends[before] == (kTaken | kGiven)) {
        follows.push_back(before);
      } else {
        open.insert(open.end(), order.of(before).begin(), order.of(before).end());
      }
    }
    std::ranges::sort(follows);
    follows.erase(std::unique(follows.begin(), follows.end()), follows.end());
    counts.follows += follows.size();
  }
  return counts;
}

}  // namespace contrafact::replay
