#include "model/critical_sections.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace contrafact::model {
namespace {

class SectionCollector {
 public:
  explicit SectionCollector(const Trace& trace)
      : trace_(trace),
        lossy_(trace.loss.events_dropped > 0 || trace.loss.blocks_damaged > 0),
        partial_(!trace.fact("jvm.name").empty()),
        end_ns_(trace.end_ns()) {}

  std::vector<CriticalSection> run() {
    sections_.reserve(static_cast<size_t>(std::count_if(trace_.kind.begin(), trace_.kind.end(), begins_section)));
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) scan(ThreadId(t));
    if (!given_away_.empty()) {  // now it is known which locks one thread acquires and another releases
      sections_.clear();
      for (uint32_t t = 0; t < trace_.threads.size(); ++t) scan(ThreadId(t));
    }
    std::sort(sections_.begin(), sections_.end(), [](const CriticalSection& x, const CriticalSection& y) {
      return std::tuple(x.lock, x.acquire_ns, x.thread, x.acquire) <
             std::tuple(y.lock, y.acquire_ns, y.thread, y.acquire);
    });
    if (!given_away_.empty()) close_given_away();
    if (lossy_ || partial_) end_at_next();
    return std::move(sections_);
  }

 private:
  static bool begins_section(EventKind kind) {
    switch (kind) {
      case EventKind::lock_acquire:
      case EventKind::lock_acquire_shared:
      case EventKind::lock_acquired:
      case EventKind::lock_acquired_shared:
      case EventKind::sync_woken:
        return true;
      default:
        return false;
    }
  }
  struct Open {
    size_t section;
    uint32_t depth;
  };
  struct Release {
    int64_t time_ns;
    EventIndex event;
  };

  void scan(ThreadId thread) {
    const EventRange range = trace_.thread_events(thread);
    open_.clear();
    request_ = EventIndex::none();
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const LockId lock(trace_.a[i]);
      switch (trace_.kind[i]) {
        case EventKind::lock_request:
        case EventKind::lock_request_shared:
        case EventKind::sync_wait:
          request_ = EventIndex(i);
          break;
        case EventKind::lock_acquire:
        case EventKind::lock_acquire_shared:
          acquire(thread, i, lock, EventIndex::none(), ContextId(trace_.b[i]), Outcome::normal);
          break;
        case EventKind::lock_acquired:
        case EventKind::lock_acquired_shared:
        case EventKind::sync_woken:
          finish_request(thread, i, lock);
          break;
        case EventKind::lock_release:
          release(i, lock);
          break;
        default:
          break;
      }
    }
    for (const auto& [lock, open] : open_) sections_[open.section].release_ns = end_ns_;
  }

  void finish_request(ThreadId thread, uint32_t i, LockId lock) {
    if (!request_.valid() || trace_.a[request_.index()] != lock.value) return;
    acquire(thread, i, lock, request_, ContextId(trace_.b[request_.index()]), static_cast<Outcome>(trace_.b[i]));
    request_ = EventIndex::none();
  }

  void acquire(ThreadId thread, uint32_t i, LockId lock, EventIndex request, ContextId site, Outcome outcome) {
    if (!lock.valid()) return;
    const auto away = given_away_.find(lock.value);
    if (const auto found = open_.find(lock.value); found != open_.end() && outcome == Outcome::normal) {
      if (!lossy_) {
        ++found->second.depth;
        return;
      }
      sections_[found->second.section].release_ns = trace_.time_ns[i];  // its release may be lost
    }
    CriticalSection section;
    section.lock = lock;
    section.thread = thread;
    section.site = site;
    section.request = request;
    section.acquire = EventIndex(i);
    section.acquire_ns = section.request_ns = section.release_ns = trace_.time_ns[i];
    if (request.valid()) section.request_ns = trace_.time_ns[request.index()];
    section.outcome = outcome;
    section.shared =
        trace_.kind[i] == EventKind::lock_acquire_shared || trace_.kind[i] == EventKind::lock_acquired_shared;
    const bool holds = trace_.kind[i] != EventKind::sync_woken && is_held(trace_.locks[lock.index()].kind);
    if (holds && outcome == Outcome::normal) {
      if (away == given_away_.end()) {
        open_[lock.value] = {sections_.size(), 1};
      } else {
        section.release_ns = end_ns_;
      }
    }
    sections_.push_back(section);
  }

  void release(uint32_t i, LockId lock) {
    const auto found = open_.find(lock.value);
    if (found == open_.end()) {
      if (lossy_) return;  // its acquisition may be lost, too
      if (lock.valid()) given_away_[lock.value].push_back({trace_.time_ns[i], EventIndex(i)});
      return;
    }
    if (--found->second.depth > 0) return;
    sections_[found->second.section].release_ns = trace_.time_ns[i];
    sections_[found->second.section].release = EventIndex(i);
    open_.erase(found);
  }

  // Where events are missing, a release may be, too: no thread holds a lock after another one has acquired it.
  void end_at_next() {
    CriticalSection* last = nullptr;
    for (CriticalSection& section : sections_) {
      if (section.outcome != Outcome::normal || section.shared) continue;
      if (last && last->lock == section.lock) last->release_ns = std::min(last->release_ns, section.acquire_ns);
      last = &section;
    }
  }

  // Only times distinguish such a lock's sections: a release ends the latest section that is open then.
  void close_given_away() {
    for (auto& [lock, releases] : given_away_) {
      std::sort(releases.begin(), releases.end(), [](const Release& x, const Release& y) {
        return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.event < y.event;
      });
      // The first scan found the foreign ones, the second all of them.
      releases.erase(std::unique(releases.begin(), releases.end(),
                                 [](const Release& x, const Release& y) { return x.event == y.event; }),
                     releases.end());
      auto section = std::lower_bound(sections_.begin(), sections_.end(), LockId(lock),
                                      [](const CriticalSection& s, LockId id) { return s.lock < id; });
      std::vector<CriticalSection*> open;
      for (const Release& release : releases) {
        for (; section != sections_.end() && section->lock.value == lock && section->acquire_ns <= release.time_ns;
             ++section) {
          if (section->outcome == Outcome::normal) open.push_back(&*section);
        }
        if (open.empty()) continue;
        open.back()->release = release.event;
        open.back()->release_ns = release.time_ns;
        open.pop_back();
      }
    }
  }

  const Trace& trace_;
  const bool lossy_;      // events are missing
  const bool partial_;    // releases in classes of a JVM's that were not chosen are missing
  const int64_t end_ns_;  // of the trace
  std::vector<CriticalSection> sections_;
  std::unordered_map<uint32_t, Open> open_;                        // the thread's, by lock
  EventIndex request_;                                             // the thread's unfinished one
  std::unordered_map<uint32_t, std::vector<Release>> given_away_;  // by lock
};

}  // namespace

std::vector<CriticalSection> critical_sections(const Trace& trace) {
  return SectionCollector(trace).run();
}

}  // namespace contrafact::model
