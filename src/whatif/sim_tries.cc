#include "whatif/sim_tries.h"

#include <algorithm>
#include <array>
#include <bit>

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

// No sleeper is awake so soon after a release.
constexpr int64_t kAwakeNsMax = 2'000;
// Of waits of one length: fewer say little.
constexpr size_t kWaysEnough = 8;
constexpr int64_t kShortestWaitNs = 1'000;
constexpr size_t kWaitLengths = 16;  // each twice the one before

size_t wait_length(int64_t waited_ns) {
  const auto length = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(waited_ns / kShortestWaitNs)));
  return std::min(length, kWaitLengths - 1);
}

// The ways from a release to the acquisition that had waited for it, by how long it had waited by then.
using Ways = std::array<std::vector<int64_t>, kWaitLengths>;

Tries tries_at(Ways& ways_ns) {
  Tries tries;
  for (size_t length = 0; length < kWaitLengths; ++length) {
    std::vector<int64_t>& of_length = ways_ns[length];
    if (of_length.size() < kWaysEnough) continue;
    const auto middle = of_length.begin() + static_cast<ptrdiff_t>(of_length.size() / 2);
    std::ranges::nth_element(of_length, middle);
    if (*middle > kAwakeNsMax) break;
    tries = {kShortestWaitNs << length, *middle};
  }
  return tries;
}

}  // namespace

std::vector<Tries> find_tries(std::span<const CriticalSection> sections, size_t locks) {
  std::vector<Tries> tries(locks);
  for (size_t begin = 0, end = 0; begin < sections.size(); begin = end) {
    Ways ways_ns;
    int64_t free_ns = INT64_MIN;  // since the last release
    for (; end < sections.size() && sections[end].lock == sections[begin].lock; ++end) {
      const CriticalSection& section = sections[end];
      if (section.outcome != model::Outcome::normal) continue;
      if (section.contended() && free_ns > section.request_ns && free_ns <= section.acquire_ns)
        ways_ns[wait_length(free_ns - section.request_ns)].push_back(section.acquire_ns - free_ns);
      free_ns = std::max(free_ns, section.release_ns);
    }
    tries[sections[begin].lock.index()] = tries_at(ways_ns);
  }
  return tries;
}

}  // namespace contrafact::whatif
