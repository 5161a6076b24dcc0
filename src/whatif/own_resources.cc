#include "whatif/own_resources.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/processes.h"

namespace contrafact::whatif {
namespace {

using format::LockKind;
using model::CriticalSection;
using model::EventKind;
using model::LockId;
using model::Outcome;
using model::Trace;
using What = ResourceUse::What;

// A function and line where a lock is asked for.
using MutexPlace = std::tuple<uint32_t, uint32_t, uint32_t>;

// What was found at one condition or semaphore, before it is known whether that is a resource.
struct Found {
  struct Use {
    uint32_t event;
    What what;
    int64_t time_ns;  // when one was got, or given
  };
  std::vector<Use> uses;
  std::vector<uint32_t> left_out;
  model::ContextId taken_at;
};

// At least so many waits, and this share of all taking and giving by the same thread.
constexpr size_t kResourceWaitsMin = 3;
constexpr double kBalancedMin = 0.95;
// A signal stands in its section, or close behind it.
constexpr size_t kSectionsBack = 4;

class ResourceFinder {
 public:
  explicit ResourceFinder(const model::Facts& facts) : trace_(facts.trace()), sections_(facts.sections()) {}

  OwnResources run() {
    find_places();
    collect_sections();
    collect_events();
    for (auto& [lock, found] : found_) judge(found);
    std::ranges::stable_sort(made_.uses, {}, &ResourceUse::event);
    std::ranges::sort(made_.left_out);
    made_.left_out.erase(std::ranges::unique(made_.left_out).begin(), made_.left_out.end());
    return std::move(made_);
  }

 private:
  LockKind kind_of(uint32_t lock) const {
    return lock < trace_.locks.size() ? trace_.locks[lock].kind : LockKind::mutex;
  }
  bool is(uint32_t event, EventKind kind) const { return event < trace_.event_count() && trace_.kind[event] == kind; }

  MutexPlace place_of(const CriticalSection& section) const {
    if (!section.site.valid()) return {section.lock.value, UINT32_MAX, 0};
    const format::ContextRow& row = trace_.contexts[section.site.index()];
    return {section.lock.value, row.method.value, row.line};
  }

  // The wait at a condition for which the section was left, as an event `sync_wait`.
  std::optional<uint32_t> wait_behind(const CriticalSection& section) const {
    if (!section.release.valid()) return std::nullopt;
    const uint32_t wait = section.release.value + 1;
    const bool waits = is(wait, EventKind::sync_wait) && kind_of(trace_.a[wait]) == LockKind::condition &&
                       wait < trace_.thread_events(section.thread).end;
    return waits ? std::optional(wait) : std::nullopt;
  }

  // Whether a thread came back from a wait, in which it had left the mutex.
  bool comes_back(const CriticalSection& section) const {
    const uint32_t before = section.acquire.value - 1;
    return section.acquire.value > 0 && is(before, EventKind::sync_woken) &&
           trace_.time_ns[before] == section.acquire_ns;
  }

  // From where threads come to wait at a condition, and from where it is signalled.
  void find_places() {
    for (uint32_t i = 0; i < sections_.size(); ++i) {
      const CriticalSection& section = sections_[i];
      if (!section.acquire.valid() || !model::is_mutex(kind_of(section.lock.value))) continue;
      by_acquire_.push_back(i);
      const std::optional<uint32_t> wait = wait_behind(section);
      if (!wait || comes_back(section)) continue;
      taken_at_.emplace(place_of(section), trace_.a[*wait]);
      mutex_of_.emplace(trace_.a[*wait], section.lock.value);
    }
    std::ranges::sort(by_acquire_, {}, [&](uint32_t i) { return sections_[i].acquire.value; });
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      if (!is(i, EventKind::sync_signal) && !is(i, EventKind::sync_broadcast)) continue;
      const auto mutex = mutex_of_.find(trace_.a[i]);
      if (mutex == mutex_of_.end()) continue;
      if (const CriticalSection* giving = section_before(i, mutex->second))
        given_at_.emplace(place_of(*giving), trace_.a[i]);
    }
    for (const auto& [place, condition] : given_at_) {
      if (const auto both = taken_at_.find(place); both != taken_at_.end()) taken_at_.erase(both);
    }
  }

  // The section of the mutex in which the thread is, or was last.
  const CriticalSection* section_before(uint32_t event, uint32_t mutex) const {
    const model::ThreadId thread = trace_.thread_of(model::EventIndex(event));
    auto at = std::ranges::upper_bound(by_acquire_, event, {}, [&](uint32_t i) { return sections_[i].acquire.value; });
    for (size_t looked_at = 0; at != by_acquire_.begin() && looked_at < kSectionsBack; ++looked_at) {
      const CriticalSection& section = sections_[*--at];
      if (section.thread != thread) return nullptr;
      if (section.lock.value == mutex) return &section;
    }
    return nullptr;
  }

  void collect_sections() {
    for (const uint32_t i : by_acquire_) {
      const CriticalSection& section = sections_[i];
      if (section.outcome != Outcome::normal || comes_back(section)) continue;
      const MutexPlace place = place_of(section);
      if (const auto takes = taken_at_.find(place); takes != taken_at_.end()) {
        take(found_[takes->second], section, takes->second);
      } else if (const auto gives = given_at_.find(place); gives != given_at_.end() && section.release.valid()) {
        found_[gives->second].uses.push_back({section.release.value, What::give, section.release_ns});
      }
    }
  }

  // After each wait the thread is in the mutex again, and may find that another one was faster: one wait in all.
  void take(Found& found, const CriticalSection& section, uint32_t condition) {
    const std::optional<uint32_t> wait = wait_behind(section);
    if (!wait || trace_.a[*wait] != condition) {
      const uint32_t begins = section.request.valid() ? section.request.value : section.acquire.value;
      found.uses.push_back({begins, What::take, section.acquire_ns});
      return;
    }
    found.taken_at = section.site;
    const uint32_t end = trace_.thread_events(section.thread).end;
    const auto next = [&](uint32_t from, EventKind kind, uint32_t lock) {
      while (from < end && !(trace_.kind[from] == kind && trace_.a[from] == lock)) ++from;
      return from;
    };
    uint32_t woken = next(*wait, EventKind::sync_woken, condition);
    for (uint32_t last = woken; last < end; last = next(last + 2, EventKind::sync_woken, condition)) {
      woken = last;
      const uint32_t left = next(last, EventKind::lock_release, section.lock.value);
      if (left + 1 >= end || !is(left + 1, EventKind::sync_wait) || trace_.a[left + 1] != condition) break;
      last = left;
    }
    if (woken >= end) return;
    for (uint32_t i = *wait; i <= woken; ++i) found.left_out.push_back(i);
    found.uses.push_back({*wait, What::wait_begin, trace_.time_ns[*wait]});
    found.uses.push_back({woken, What::wait_end, trace_.time_ns[woken]});
    if (static_cast<Outcome>(trace_.b[woken]) == Outcome::normal)
      found.uses.push_back({woken, What::take, trace_.time_ns[woken]});
  }

  // Signals, and semaphores.
  void collect_events() {
    uint32_t asked = UINT32_MAX;
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      const EventKind kind = trace_.kind[i];
      const uint32_t lock = trace_.a[i];
      switch (kind) {
        case EventKind::sync_signal:
        case EventKind::sync_broadcast:
          if (kind_of(lock) == LockKind::semaphore) {
            found_[lock].uses.push_back({i, What::give, trace_.time_ns[i]});
          } else if (const auto known = found_.find(lock); known == found_.end()) {
            break;
          }
          found_[lock].left_out.push_back(i);
          break;
        case EventKind::lock_request:
          asked = i;
          break;
        case EventKind::lock_acquire:
          if (kind_of(lock) != LockKind::semaphore) break;
          found_[lock].uses.push_back({i, What::take, trace_.time_ns[i]});
          found_[lock].left_out.push_back(i);
          break;
        case EventKind::lock_acquired:
          if (kind_of(lock) == LockKind::semaphore) taken_after_waiting(found_[lock], lock, asked, i);
          asked = UINT32_MAX;
          break;
        default:
          break;
      }
    }
  }

  void taken_after_waiting(Found& found, uint32_t semaphore, uint32_t asked, uint32_t got) const {
    if (asked == UINT32_MAX || trace_.a[asked] != semaphore) return;
    if (trace_.thread_of(model::EventIndex(asked)) != trace_.thread_of(model::EventIndex(got))) return;
    found.left_out.insert(found.left_out.end(), {asked, got});
    found.uses.push_back({asked, What::wait_begin, trace_.time_ns[asked]});
    found.uses.push_back({got, What::wait_end, trace_.time_ns[got]});
    if (static_cast<Outcome>(trace_.b[got]) == Outcome::normal)
      found.uses.push_back({got, What::take, trace_.time_ns[got]});
    if (!found.taken_at.valid()) found.taken_at = model::ContextId(trace_.b[asked]);
  }

  // Keeps it, if it is a resource.
  void judge(Found& found) {
    std::ranges::stable_sort(found.uses, {}, &Found::Use::event);
    const auto waits = static_cast<size_t>(std::ranges::count(found.uses, What::wait_begin, &Found::Use::what));
    if (waits < kResourceWaitsMin || !is_given_by_takers(found)) return;
    const uint32_t size = size_of(found);
    if (size == 0) return;
    const auto number = static_cast<uint32_t>(made_.all.size());
    made_.all.push_back({name_of(found), found.taken_at, size, waits});
    for (const Found::Use& use : found.uses) made_.uses.push_back({use.event, use.what, number});
    made_.left_out.insert(made_.left_out.end(), found.left_out.begin(), found.left_out.end());
  }

  bool is_given_by_takers(const Found& found) const {
    uint64_t takes = 0, gives = 0, matched = 0, out = 0;
    model::ThreadId thread;
    for (const Found::Use& use : found.uses) {
      if (const model::ThreadId now = trace_.thread_of(model::EventIndex(use.event)); now != thread)
        thread = now, out = 0;
      if (use.what == What::take) ++takes, ++out;
      if (use.what != What::give) continue;
      // Whoever made the resource may have filled it in the same way.
      if (out == 0 && takes == 0) continue;
      ++gives;
      if (out > 0) --out, ++matched;
    }
    return takes > 0 && static_cast<double>(matched) >= kBalancedMin * static_cast<double>(std::max(takes, gives));
  }

  // As many as were out when a thread had to wait. 0: not known, as it was another number each time.
  uint32_t size_of(const Found& found) const {
    std::vector<Found::Use> uses = found.uses;
    std::ranges::stable_sort(uses, [](const Found::Use& x, const Found::Use& y) {
      return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.what == What::give && y.what != What::give;
    });
    int64_t out = 0, most = 0;
    std::map<int64_t, size_t> at_waits;
    size_t waits = 0;
    for (const Found::Use& use : uses) {
      if (use.what == What::take) ++out;
      if (use.what == What::give) out = std::max<int64_t>(out - 1, 0);
      if (use.what == What::wait_begin) ++at_waits[out], ++waits;
    }
    for (const auto& [count, times] : at_waits) {
      if (times * 10 >= waits) most = count;
    }
    size_t near = 0;
    for (const auto& [count, times] : at_waits) {
      if (count >= most - 1) near += times;
    }
    return near * 4 >= waits * 3 ? static_cast<uint32_t>(most) : 0;
  }

  std::string name_of(const Found& found) {
    std::string name = "a resource";
    if (found.taken_at.valid()) {
      const format::ContextRow& row = trace_.contexts[found.taken_at.index()];
      if (row.method.valid()) name = trace_.method_name(trace_.methods[row.method.index()], true);
    }
    const model::ThreadId thread = trace_.thread_of(model::EventIndex(found.uses.front().event));
    name = model::with_process(trace_, model::process_of(trace_, thread), std::move(name));
    const size_t alike = ++of_name_[name];
    return alike == 1 ? name : name + " " + std::to_string(alike);
  }

  const Trace& trace_;
  const std::vector<CriticalSection>& sections_;
  OwnResources made_;
  std::vector<uint32_t> by_acquire_;                    // sections of mutexes, by the event at which they were acquired
  std::map<MutexPlace, uint32_t> taken_at_, given_at_;  // the condition
  std::unordered_map<uint32_t, uint32_t> mutex_of_;     // by condition
  std::map<uint32_t, Found> found_;                     // by condition or semaphore
  std::map<std::string, size_t> of_name_;               // how many resources have it
};

}  // namespace

OwnResources own_resources(const model::Facts& facts) {
  if (!model::is_native(facts.trace())) return {};
  return ResourceFinder(facts).run();
}

}  // namespace contrafact::whatif
