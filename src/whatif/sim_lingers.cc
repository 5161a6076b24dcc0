#include "whatif/sim_lingers.h"

#include <algorithm>
#include <array>

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

// Times by kind, of all locks together.
struct Samples {
  std::vector<int64_t> awake_ns;  // of waits without sleep in which the mutex was released once
  std::vector<int64_t> asleep_ns, again_ns;

  // `before_ns`: the last release of the mutex before the wait ended, and the release before that.
  void add(const CriticalSection& wait, std::span<const model::CpuGap> gaps, std::span<const int64_t, 2> before_ns) {
    auto gap = std::ranges::lower_bound(gaps, wait.request_ns, {}, &model::CpuGap::out_ns);
    if (gap == gaps.end() || gap->out_ns >= wait.acquire_ns) {
      if (before_ns[0] < wait.request_ns || before_ns[0] > wait.acquire_ns || before_ns[1] >= wait.request_ns) return;
      awake_ns.push_back(wait.wait_ns());
      return;
    }
    if (!gap->preempted) asleep_ns.push_back(gap->out_ns - wait.request_ns);
    for (auto next = gap + 1; next != gaps.end() && next->out_ns < wait.acquire_ns; gap = next++) {
      if (!gap->preempted && !next->preempted) again_ns.push_back(next->out_ns - gap->in_ns);
    }
  }
};

// The time that `share` of the samples do not exceed. A handful of samples says little: the time is then taken to be 0.
int64_t typical_ns(std::vector<int64_t>& samples_ns, double share = 0.5) {
  constexpr size_t kEnough = 20;
  if (samples_ns.size() < kEnough) return 0;
  const auto at = samples_ns.begin() + static_cast<int64_t>(share * static_cast<double>(samples_ns.size() - 1));
  std::ranges::nth_element(samples_ns, at);
  return *at;
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
    std::array<int64_t, 2> before_ns{INT64_MIN, INT64_MIN};
    for (const CriticalSection& section : of_lock) {
      if (section.contended() && section.outcome == model::Outcome::normal)
        samples.add(section, trace.cpu[section.thread.index()], before_ns);
      before_ns = {section.release_ns, before_ns[0]};
    }
  });
  // The shorter waits without sleep are those that the kernel sent back; they all took about as long. Others were woken
  // before they had left their core.
  constexpr double kShorter = 0.25;
  lingers.asked_ns = typical_ns(samples.awake_ns, kShorter);
  lingers.asleep_ns = std::max(typical_ns(samples.asleep_ns), lingers.asked_ns);
  // Before it looked, the thread was on its way: that time is left out.
  lingers.again_ns = std::max<int64_t>(0, typical_ns(samples.again_ns) - woken.return_ns);
  return lingers;
}

}  // namespace contrafact::whatif
