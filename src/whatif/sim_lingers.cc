#include "whatif/sim_lingers.h"

#include <algorithm>

#include "whatif/sim_latency.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

// Times of one kind each, of all locks.
struct Samples {
  std::vector<int64_t> first_ns, again_ns, return_ns;

  // `before_ns`: when the mutex was last given up before the wait ended.
  void add(const CriticalSection& wait, std::span<const model::CpuGap> gaps, int64_t before_ns) {
    auto gap = std::ranges::lower_bound(gaps, wait.request_ns, {}, &model::CpuGap::out_ns);
    if (gap == gaps.end() || gap->out_ns >= wait.acquire_ns) {
      if (before_ns > wait.request_ns && before_ns <= wait.acquire_ns) return_ns.push_back(wait.acquire_ns - before_ns);
      return;
    }
    if (!gap->preempted) first_ns.push_back(gap->out_ns - wait.request_ns);
    for (auto next = gap + 1; next != gaps.end() && next->out_ns < wait.acquire_ns; gap = next++) {
      if (!gap->preempted && !next->preempted) again_ns.push_back(next->out_ns - gap->in_ns);
    }
  }
};

// A handful says little: then it is as if a thread slept at once.
int64_t typical_ns(std::vector<int64_t>& samples_ns) {
  constexpr size_t kEnough = 20;
  return samples_ns.size() < kEnough ? 0 : median_ns(samples_ns);
}

}  // namespace

Lingers find_lingers(const model::Trace& trace, std::span<const CriticalSection> sections, const Woken& woken) {
  Lingers lingers;
  if (!woken.known) return lingers;
  lingers.of_lock.resize(trace.locks.size());
  Samples samples;
  for_each_lock(sections, [&](std::span<const CriticalSection> of_lock, size_t) {
    if (!serves_as_mutex(trace, of_lock)) return;
    lingers.of_lock[of_lock.front().lock.index()] = true;
    int64_t before_ns = INT64_MIN;
    for (const CriticalSection& section : of_lock) {
      if (section.contended() && section.outcome == model::Outcome::normal)
        samples.add(section, trace.cpu[section.thread.index()], before_ns);
      before_ns = section.release_ns;
    }
  });
  lingers.first_ns = typical_ns(samples.first_ns);
  lingers.return_ns = typical_ns(samples.return_ns);
  // Up to `there` it was on its way.
  lingers.again_ns = std::max<int64_t>(0, typical_ns(samples.again_ns) - woken.return_ns);
  return lingers;
}

}  // namespace contrafact::whatif
