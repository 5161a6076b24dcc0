#include "whatif/sim_short_waits.h"

#include <algorithm>

#include "whatif/sim_latency.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

// Writers take a reader-writer lock as a mutex where there are no readers.
bool may_exclude(const model::Trace& trace, const CriticalSection& section) {
  const format::LockKind kind = trace.locks[section.lock.index()].kind;
  return section.outcome == model::Outcome::normal &&
         (kind == format::LockKind::mutex || kind == format::LockKind::rwlock);
}

struct Waits {
  size_t all = 0;
  bool has_readers = false;
  std::vector<int64_t> awake_ns;  // those without sleep
};

// When the waiting thread first left its core; none: it did not.
const model::CpuGap* first_gap(const model::Trace& trace, const CriticalSection& section) {
  const std::vector<model::CpuGap>& gaps = trace.cpu[section.thread.index()];
  const auto gap = std::ranges::lower_bound(gaps, section.request_ns, {}, &model::CpuGap::out_ns);
  return gap == gaps.end() || gap->out_ns >= section.acquire_ns ? nullptr : &*gap;
}

// By lock. What waiting threads did before they left their core is added to `lingers_ns`.
std::vector<Waits> waits_by_lock(const model::Trace& trace, std::span<const CriticalSection> sections,
                                 std::vector<int64_t>& lingers_ns) {
  std::vector<Waits> waits(trace.locks.size());
  for (const CriticalSection& section : sections) {
    if (!may_exclude(trace, section)) continue;
    Waits& of_lock = waits[section.lock.index()];
    of_lock.has_readers |= section.shared;
    if (!section.contended()) continue;
    ++of_lock.all;
    const model::CpuGap* gap = first_gap(trace, section);
    if (gap == nullptr) {
      of_lock.awake_ns.push_back(section.wait_ns());
    } else if (!gap->preempted) {
      lingers_ns.push_back(gap->out_ns - section.request_ns);
    }
  }
  return waits;
}

constexpr size_t kEnough = 20;

// A quarter of them: the rest find the mutex still held when they look again. docs/replay.md has what it was chosen by.
bool are_short(const Waits& waits) {
  return !waits.has_readers && waits.all >= kEnough && waits.awake_ns.size() * 4 > waits.all;
}

}  // namespace

ShortWaits find_short_waits(const model::Trace& trace, std::span<const CriticalSection> sections) {
  const bool switches_known = trace.cpu.size() == trace.threads.size() &&
                              std::ranges::any_of(trace.cpu, [](const auto& gaps) { return !gaps.empty(); });
  ShortWaits found;
  if (!switches_known) return found;
  std::vector<int64_t> looks_ns, lingers_ns;
  for (const Waits& waits : waits_by_lock(trace, sections, lingers_ns)) {
    found.of_lock.push_back(are_short(waits));
    if (found.of_lock.back()) looks_ns.insert(looks_ns.end(), waits.awake_ns.begin(), waits.awake_ns.end());
  }
  found.look_ns = median_ns(looks_ns);
  if (lingers_ns.size() >= kEnough) found.linger_ns = median_ns(lingers_ns);
  return found;
}

}  // namespace contrafact::whatif
