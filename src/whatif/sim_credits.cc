#include "whatif/sim_credits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace contrafact::whatif {
namespace {

using format::LockKind;
using model::CriticalSection;
using model::EventKind;
using model::Trace;

constexpr uint32_t kNone = Credits::kNone;

struct Comer {
  int64_t time_ns;
  uint32_t section;
  uint32_t need;  // kNone: it did not wait
};

class Counter {
 public:
  Counter(const Trace& trace, const std::vector<CriticalSection>& sections, const std::vector<model::SyncWake>& wakes)
      : trace_(trace),
        sections_(sections),
        wakes_(wakes),
        comers_(trace.locks.size()),
        signals_ns_(trace.locks.size()) {}

  Credits run() {
    credits_.needs.resize(trace_.locks.size());
    credits_.condition_of.assign(sections_.size(), kNone);
    credits_.need_of.assign(sections_.size(), 0);
    collect_signals();
    collect_waits();
    if (!places_.empty()) collect_lucky();
    for (uint32_t lock = 0; lock < comers_.size(); ++lock) fill(lock);
    return std::move(credits_);
  }

 private:
  // A place in the program and the lock asked for there.
  using Place = std::pair<uint32_t, std::pair<uint32_t, uint32_t>>;

  bool is_condition(model::LockId lock) const {
    return lock.valid() && counts_signals(trace_.locks[lock.index()].kind);
  }
  Place place_of(const CriticalSection& section) const {
    if (!section.site.valid()) return {section.lock.value, {kNone, 0}};
    const format::ContextRow& row = trace_.contexts[section.site.index()];
    return {section.lock.value, {row.method.value, row.line}};
  }

  void collect_signals() {
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      const EventKind kind = trace_.kind[i];
      if (kind != EventKind::sync_signal && kind != EventKind::sync_broadcast) continue;
      if (is_condition(model::LockId(trace_.a[i]))) signals_ns_[trace_.a[i]].push_back(trace_.time_ns[i]);
    }
    for (std::vector<int64_t>& times : signals_ns_) std::sort(times.begin(), times.end());
  }

  uint32_t signals_until(uint32_t lock, int64_t time_ns) const {
    const std::vector<int64_t>& times = signals_ns_[lock];
    return static_cast<uint32_t>(std::upper_bound(times.begin(), times.end(), time_ns) - times.begin());
  }

  void collect_waits() {
    for (const model::SyncWake& wake : wakes_) {
      const CriticalSection& wait = sections_[wake.wait];
      if (!is_condition(wait.lock)) continue;
      const uint32_t need = signals_until(wait.lock.value, trace_.time_ns[wake.cause.index()]);
      comers_[wait.lock.index()].push_back({wait.request_ns, wake.wait, need});
      credits_.condition_of[wake.wait] = wait.lock.value;
      // At a condition, the event before the wait is the mutex's release, a part of the wait. At a futex it may be any
      // event.
      if (trace_.locks[wait.lock.index()].kind == LockKind::condition)
        ends_in_wait_[wait.request.value - 1] = wait.lock.value;
    }
    // The mutex was released right before the wait. From the place where that section began, threads may come to wait.
    for (const CriticalSection& section : sections_) {
      if (!section.release.valid()) continue;
      const auto wait = ends_in_wait_.find(section.release.value);
      if (wait != ends_in_wait_.end()) places_.emplace(place_of(section), wait->second);
    }
  }

  void collect_lucky() {
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      const CriticalSection& section = sections_[s];
      const bool waited = section.release.valid() && ends_in_wait_.contains(section.release.value);
      // A thread that comes back from a wait acquires the mutex at the wait's own place.
      const bool back = section.acquire.value > 0 && trace_.kind[section.acquire.value - 1] == EventKind::sync_woken &&
                        trace_.time_ns[section.acquire.value - 1] == section.acquire_ns;
      if (waited || back || section.outcome != model::Outcome::normal) continue;
      const auto place = places_.find(place_of(section));
      if (place == places_.end()) continue;
      comers_[place->second].push_back({section.acquire_ns, s, kNone});
      credits_.condition_of[s] = place->second;
    }
  }

  void fill(uint32_t lock) {
    std::vector<Comer>& comers = comers_[lock];
    std::sort(comers.begin(), comers.end(), [](const Comer& x, const Comer& y) {
      return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.section < y.section;
    });
    std::vector<uint32_t>& needs = credits_.needs[lock];
    needs.resize(comers.size());
    // The needs of comers before the first wait are counted back from that wait.
    size_t first = 0;
    while (first < comers.size() && comers[first].need == kNone) ++first;
    for (size_t k = 0; k < comers.size(); ++k) {
      const uint32_t sent = signals_until(lock, comers[k].time_ns);
      if (comers[k].need != kNone) {
        needs[k] = comers[k].need;
      } else if (k < first) {
        const uint32_t at_first = first < comers.size() ? comers[first].need : 0;
        const auto back = static_cast<uint32_t>(first - k);
        needs[k] = std::min(sent, at_first > back ? at_first - back : 0);
      } else {
        needs[k] = std::min(sent, needs[k - 1] + 1);
      }
      if (k > 0) needs[k] = std::max(needs[k], needs[k - 1]);
      // The section's own need is at most the signals sent so far: a thread that waited meanwhile may have needed more.
      credits_.need_of[comers[k].section] = comers[k].need != kNone ? comers[k].need : std::min(sent, needs[k]);
    }
    if (trace_.locks[lock].kind == LockKind::futex) needs.clear();
  }

  const Trace& trace_;
  const std::vector<CriticalSection>& sections_;
  const std::vector<model::SyncWake>& wakes_;
  Credits credits_;
  std::vector<std::vector<Comer>> comers_;        // by lock
  std::vector<std::vector<int64_t>> signals_ns_;  // by lock
  std::map<uint32_t, uint32_t> ends_in_wait_;     // the mutex's release event: the condition waited at
  std::map<Place, uint32_t> places_;              // the condition at which threads from there may wait
};

}  // namespace

Credits count_credits(const Trace& trace, const std::vector<CriticalSection>& sections,
                      const std::vector<model::SyncWake>& wakes) {
  return Counter(trace, sections, wakes).run();
}

}  // namespace contrafact::whatif
