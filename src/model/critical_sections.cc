#include "model/critical_sections.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace contrafact::model {
namespace {

class Collector {
 public:
  explicit Collector(const Trace& trace) : trace_(trace) {}

  std::vector<CriticalSection> run() {
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) scan(ThreadId(t));
    close_by_others();
    std::sort(sections_.begin(), sections_.end(), [](const CriticalSection& x, const CriticalSection& y) {
      return std::tuple(x.lock, x.acquire_ns, x.thread, x.acquire) < std::tuple(y.lock, y.acquire_ns, y.thread, y.acquire);
    });
    return std::move(sections_);
  }

 private:
  struct Open {
    size_t section;
    uint32_t depth;
  };
  struct Release {
    LockId lock;
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
    const int64_t end_ns = trace_.end_ns();
    for (const auto& [lock, open] : open_) sections_[open.section].release_ns = end_ns;
  }

  void finish_request(ThreadId thread, uint32_t i, LockId lock) {
    if (!request_.valid() || trace_.a[request_.index()] != lock.value) return;
    acquire(thread, i, lock, request_, ContextId(trace_.b[request_.index()]), static_cast<Outcome>(trace_.b[i]));
    request_ = EventIndex::none();
  }

  void acquire(ThreadId thread, uint32_t i, LockId lock, EventIndex request, ContextId site, Outcome outcome) {
    if (!lock.valid()) return;
    if (const auto found = open_.find(lock.value); found != open_.end() && outcome == Outcome::normal) {
      ++found->second.depth;
      return;
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
    section.shared = trace_.kind[i] == EventKind::lock_acquire_shared || trace_.kind[i] == EventKind::lock_acquired_shared;
    const bool holds = trace_.kind[i] != EventKind::sync_woken && is_held(trace_.locks[lock.index()].kind);
    if (holds && outcome == Outcome::normal) open_[lock.value] = {sections_.size(), 1};
    sections_.push_back(section);
  }

  void release(uint32_t i, LockId lock) {
    const auto found = open_.find(lock.value);
    if (found == open_.end()) {
      if (lock.valid()) by_others_.push_back({lock, trace_.time_ns[i], EventIndex(i)});
      return;
    }
    if (--found->second.depth > 0) return;
    sections_[found->second.section].release_ns = trace_.time_ns[i];
    sections_[found->second.section].release = EventIndex(i);
    open_.erase(found);
  }

  // Locks that one thread takes and another gives up: each such release ends the lock's latest section that began before
  // it and was not given up by its own thread.
  void close_by_others() {
    if (by_others_.empty()) return;
    std::sort(by_others_.begin(), by_others_.end(),
              [](const Release& x, const Release& y) { return x.time_ns < y.time_ns; });
    std::unordered_map<uint32_t, std::vector<size_t>> open;
    for (size_t s = 0; s < sections_.size(); ++s) {
      const CriticalSection& section = sections_[s];
      if (!section.release.valid() && section.hold_ns() > 0) open[section.lock.value].push_back(s);
    }
    for (const Release& release : by_others_) {
      const auto candidates = open.find(release.lock.value);
      if (candidates == open.end()) continue;
      CriticalSection* best = nullptr;
      for (size_t s : candidates->second) {
        CriticalSection& section = sections_[s];
        if (section.release.valid() || section.acquire_ns > release.time_ns) continue;
        if (!best || section.acquire_ns > best->acquire_ns) best = &section;
      }
      if (!best) continue;
      best->release = release.event;
      best->release_ns = release.time_ns;
    }
  }

  const Trace& trace_;
  std::vector<CriticalSection> sections_;
  std::unordered_map<uint32_t, Open> open_;  // the thread's, by lock
  EventIndex request_;                       // the thread's unfinished one
  std::vector<Release> by_others_;
};

}  // namespace

std::vector<CriticalSection> critical_sections(const Trace& trace) {
  return Collector(trace).run();
}

}  // namespace contrafact::model
