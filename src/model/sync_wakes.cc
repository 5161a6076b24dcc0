#include "model/sync_wakes.h"

#include <algorithm>

namespace contrafact::model {
namespace {

struct Signal {
  LockId lock;
  int64_t time_ns;
  EventIndex event;
  bool all;
};

std::vector<Signal> signals(const Trace& trace) {
  std::vector<Signal> found;
  for (uint32_t i = 0; i < trace.event_count(); ++i) {
    const EventKind kind = trace.kind[i];
    if (kind != EventKind::sync_signal && kind != EventKind::sync_broadcast) continue;
    found.push_back({LockId(trace.a[i]), trace.time_ns[i], EventIndex(i), kind == EventKind::sync_broadcast});
  }
  std::stable_sort(found.begin(), found.end(), [](const Signal& x, const Signal& y) {
    return x.lock != y.lock ? x.lock < y.lock : x.time_ns < y.time_ns;
  });
  return found;
}

// Matches the waits [begin, end) of one lock, in the order of their ends. A signal reaches one of the threads that
// waited when it came: the one that went on first. A broadcast reaches all of them.
void match_signals(std::span<const CriticalSection> sections, uint32_t begin, uint32_t end,
                   std::vector<Signal>::const_iterator first, std::vector<Signal>::const_iterator last,
                   std::vector<SyncWake>& wakes) {
  std::vector<uint32_t> waits;
  for (uint32_t s = begin; s < end; ++s) {
    if (sections[s].contended() && sections[s].outcome == Outcome::normal) waits.push_back(s);
  }
  // The earliest request of a wait and all after it: a signal that came before that reaches none of them.
  std::vector<int64_t> earliest_ns(waits.size());
  for (size_t w = waits.size(); w-- > 0;) {
    earliest_ns[w] = sections[waits[w]].request_ns;
    if (w + 1 < waits.size()) earliest_ns[w] = std::min(earliest_ns[w], earliest_ns[w + 1]);
  }
  std::vector<bool> woken(waits.size(), false);
  size_t from = 0;
  for (auto signal = first; signal != last; ++signal) {
    while (from < waits.size() && (woken[from] || sections[waits[from]].acquire_ns < signal->time_ns)) ++from;
    for (size_t w = from; w < waits.size() && earliest_ns[w] <= signal->time_ns; ++w) {
      const CriticalSection& wait = sections[waits[w]];
      if (woken[w] || wait.request_ns > signal->time_ns || wait.acquire_ns < signal->time_ns) continue;
      woken[w] = true;
      wakes.push_back({waits[w], signal->event});
      if (!signal->all) break;
    }
  }
}

// The first to leave leaves when all have come, and nobody comes again before the first has left: so the waits of one
// round are those that began before the round's earliest end.
void match_barrier(std::span<const CriticalSection> sections, uint32_t begin, uint32_t end,
                   std::vector<SyncWake>& wakes) {
  std::vector<uint32_t> waits;
  for (uint32_t s = begin; s < end; ++s) {
    if (sections[s].outcome == Outcome::normal && sections[s].contended()) waits.push_back(s);
  }
  std::sort(waits.begin(), waits.end(),
            [&](uint32_t x, uint32_t y) { return sections[x].request_ns < sections[y].request_ns; });
  for (size_t i = 0; i < waits.size();) {
    int64_t first_end_ns = sections[waits[i]].acquire_ns;
    size_t next = i + 1;
    while (next < waits.size() && sections[waits[next]].request_ns <= first_end_ns) {
      first_end_ns = std::min(first_end_ns, sections[waits[next]].acquire_ns);
      ++next;
    }
    const EventIndex last = sections[waits[next - 1]].request;
    for (size_t k = i; k + 1 < next; ++k) wakes.push_back({waits[k], last});
    i = next;
  }
}

}  // namespace

std::vector<SyncWake> sync_wakes(const Trace& trace, std::span<const CriticalSection> sections) {
  const std::vector<Signal> all = signals(trace);
  std::vector<SyncWake> wakes;
  for (uint32_t begin = 0; begin < sections.size();) {
    const LockId lock = sections[begin].lock;
    uint32_t end = begin;
    while (end < sections.size() && sections[end].lock == lock) ++end;
    if (trace.locks[lock.index()].kind == format::LockKind::barrier) {
      match_barrier(sections, begin, end, wakes);
    } else {
      const auto first = std::partition_point(all.begin(), all.end(), [&](const Signal& s) { return s.lock < lock; });
      const auto last = std::partition_point(first, all.end(), [&](const Signal& s) { return s.lock == lock; });
      match_signals(sections, begin, end, first, last, wakes);
    }
    begin = end;
  }
  std::sort(wakes.begin(), wakes.end(), [](const SyncWake& x, const SyncWake& y) { return x.wait < y.wait; });
  return wakes;
}

}  // namespace contrafact::model
