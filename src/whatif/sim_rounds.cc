#include "whatif/sim_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/middle.h"

namespace contrafact::whatif {
namespace {

using format::BlockReason;
using format::LockKind;
using model::CriticalSection;
using model::EventKind;
using model::Outcome;
using model::Trace;

// A thread that comes to a place where it may get work.
struct Visit {
  uint32_t thread;
  uint32_t event;     // the acquisition that it begins with
  int64_t asked_ns;   // when it asked for the lock
  int64_t handed_ns;  // when it released the lock to go to work; INT64_MAX: it waits there to the end
};
using Place =
    std::tuple<uint32_t, uint32_t, uint32_t>;  // lock, method and line: callers are known of contended ones only

// The visits of all threads, by place: outermost acquisitions of a lock, waits at conditions inside included.
class Visits {
 public:
  Visits(const Trace& trace, std::span<const CriticalSection> sections, const std::vector<uint32_t>& section_of_event)
      : trace_(trace),
        sections_(sections),
        section_of_event_(section_of_event),
        most_at_one_place_(trace.threads.size()),
        visits_of_(trace.threads.size()) {
    for (uint32_t t = 0; t < trace.threads.size(); ++t) gather(t);
  }
  const std::map<Place, std::vector<Visit>>& by_place() const { return by_place_; }
  // Whether the place is where the thread begins its pieces of work: it comes to no other more than twice as often.
  bool is_main(const Place& place, uint32_t thread) const {
    return 2 * visits_.at({place, thread}) >= most_at_one_place_[thread];
  }
  // How often the thread comes to any place.
  uint32_t visits_of(uint32_t thread) const { return visits_of_[thread]; }
  // Whether the thread ever waited for a signal on a visit to that lock, from whatever place.
  bool has_waited(uint32_t lock, uint32_t thread) const { return waited_.contains({lock, thread}); }
  // Whether each thread comes for its first piece of work at once, and does nothing any more once it found none. Such a
  // thread makes one visit more than it works; a loop with work on one side of the lock does not. `At once` is measured
  // by the thread's typical piece of work, of at least kRoundsMin. `visits`: grouped by thread.
  bool find_none_last(std::span<const Visit> visits) const {
    constexpr size_t kRoundsMin = 8;
    constexpr int64_t kAtOnce = 4;  // in less than one part of so many
    std::vector<int64_t> works_ns;
    for (size_t first = 0, i = 0; i < visits.size(); ++i) {
      if (i + 1 < visits.size() && visits[i + 1].thread == visits[i].thread) {
        works_ns.push_back(visits[i + 1].asked_ns - visits[i].handed_ns);
        continue;
      }
      if (works_ns.size() < kRoundsMin || visits[i].handed_ns == INT64_MAX) return false;
      const auto typical_ns = static_cast<int64_t>(base::median(std::span(works_ns)));
      const int64_t before_ns = visits[first].asked_ns - begin_ns(visits[first].thread);
      const int64_t after_ns = end_ns(visits[i].thread) - visits[i].handed_ns;
      if (kAtOnce * std::max(before_ns, after_ns) > typical_ns) return false;
      works_ns.clear();
      first = i + 1;
    }
    return true;
  }
  // Whether all threads end within two rounds of the latest of them, after at least kRoundsMin. `visits`: grouped by
  // thread.
  bool end_together(std::span<const Visit> visits) const {
    constexpr size_t kRoundsMin = 8;
    int64_t latest_ns = INT64_MIN;
    for (const Visit& visit : visits) latest_ns = std::max(latest_ns, end_ns(visit.thread));
    for (size_t first = 0, i = 0; i < visits.size(); ++i) {
      if (i + 1 < visits.size() && visits[i + 1].thread == visits[i].thread) continue;
      const auto rounds = static_cast<int64_t>(i - first);
      const int64_t all_ns = visits[i].handed_ns - visits[first].handed_ns;
      if (rounds < int64_t{kRoundsMin} || visits[i].handed_ns == INT64_MAX) return false;
      if (latest_ns - end_ns(visits[i].thread) > 2 * all_ns / rounds) return false;
      first = i + 1;
    }
    return true;
  }

 private:
  int64_t begin_ns(uint32_t thread) const {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    return range.size() == 0 ? trace_.begin_ns() : trace_.time_ns[range.begin];
  }
  int64_t end_ns(uint32_t thread) const {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    return range.size() == 0 ? trace_.begin_ns() : trace_.time_ns[range.end - 1];
  }

  void gather(uint32_t thread) {
    held_ = 0;
    back_from_wait_ = false;
    open_ = nullptr;
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      switch (trace_.kind[i]) {
        case EventKind::lock_acquire:
        case EventKind::lock_acquired:
        case EventKind::lock_acquire_shared:
        case EventKind::lock_acquired_shared:
          acquired(thread, i);
          break;
        case EventKind::lock_release:
          if (is_of_a_hold(i) && held_ > 0) --held_;
          break;
        case EventKind::sync_wait:
          if (held_ == 0 && open_ != nullptr && waits_for_signals(i)) wait(thread);
          break;
        case EventKind::sync_woken:
          back_from_wait_ = waits_for_signals(i);
          break;
        default:
          break;
      }
    }
  }

  void wait(uint32_t thread) {
    open_->handed_ns = INT64_MAX;
    waited_.emplace(open_lock_, thread);
  }

  bool waits_for_signals(uint32_t event) const {
    const model::LockId lock(trace_.a[event]);
    return lock.valid() && trace_.locks[lock.index()].kind == LockKind::condition;
  }

  bool is_of_a_hold(uint32_t event) const {
    const uint32_t at = section_of_event_[event];
    if (at == UINT32_MAX) return false;
    const CriticalSection& section = sections_[at];
    return section.outcome == Outcome::normal && section.release.valid() &&
           model::is_held(trace_.locks[section.lock.index()].kind);
  }

  Place place_of(const CriticalSection& section) const {
    if (!section.site.valid()) return {section.lock.value, UINT32_MAX, 0};
    const format::ContextRow& site = trace_.contexts[section.site.index()];
    return {section.lock.value, site.method.value, site.line};
  }

  void acquired(uint32_t thread, uint32_t event) {
    const bool again = std::exchange(back_from_wait_, false);
    if (!is_of_a_hold(event) || held_++ > 0) return;
    const CriticalSection& section = sections_[section_of_event_[event]];
    if (again && open_ != nullptr) {
      open_->handed_ns = section.release_ns;
      return;
    }
    const Place place = place_of(section);
    ++visits_of_[thread];
    most_at_one_place_[thread] = std::max(most_at_one_place_[thread], ++visits_[{place, thread}]);
    std::vector<Visit>& there = by_place_[place];
    there.push_back({thread, event, section.request_ns, section.release_ns});
    open_ = &there.back();  // stays valid until the next visit
    open_lock_ = section.lock.value;
  }

  const Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const std::vector<uint32_t>& section_of_event_;
  std::map<Place, std::vector<Visit>> by_place_;
  std::map<std::pair<Place, uint32_t>, uint32_t> visits_;  // by place and thread: how many
  std::vector<uint32_t> most_at_one_place_;                // by thread
  std::vector<uint32_t> visits_of_;                        // by thread: to all places
  // Of the thread that is gathered:
  uint32_t held_ = 0;
  bool back_from_wait_ = false;
  std::set<std::pair<uint32_t, uint32_t>> waited_;  // lock, thread
  Visit* open_ = nullptr;                           // the thread's latest
  uint32_t open_lock_ = 0;
};

// A place's visits, if work is handed out there.
struct HandOut {
  Place place;
  std::vector<Visit> rounds;  // in the order of being handed out
  std::vector<Visit> last;    // each thread's last
  bool waited = false;
};

// Threads whose loops have one length may differ by one or two visits, if their first visits come from another place.
bool differ(std::span<const size_t> counts) {
  constexpr size_t kLeast = 3, kShare = 128;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  return *most - *least >= std::max(kLeast, *most / kShare);
}

// Whether the threads begin their pieces of work there.
bool is_main_of_all(const Visits& all, const Place& place, std::span<const uint32_t> threads) {
  return std::ranges::all_of(threads, [&](uint32_t thread) { return all.is_main(place, thread); });
}

// Whether some of the threads get more pieces of work at the place than others. Threads that draw by chance which place
// they come to next come unequally often to each place, but equally often to all.
bool unequal(const Visits& all, std::span<const uint32_t> threads, std::span<const size_t> counts) {
  std::vector<size_t> in_all;
  for (const uint32_t thread : threads) in_all.push_back(all.visits_of(thread));
  return differ(counts) && differ(in_all);
}

bool by_end(const Visit& x, const Visit& y) {
  return x.handed_ns < y.handed_ns;
}

bool last_come_last(const HandOut& hand_out) {
  return hand_out.rounds.back().handed_ns <=
         std::min_element(hand_out.last.begin(), hand_out.last.end(), by_end)->handed_ns;
}

bool is_handed_out(const Visits& all, std::span<const Visit> visits, HandOut& result) {
  constexpr size_t kRoundsForEachThread = 2;
  std::vector<uint32_t> threads;
  std::vector<size_t> counts;                   // by place in `threads`
  for (size_t i = 0; i < visits.size(); ++i) {  // grouped by thread, in its order
    if (threads.empty() || threads.back() != visits[i].thread) {
      threads.push_back(visits[i].thread);
      counts.push_back(0);
    }
    ++counts.back();
    const bool last = i + 1 == visits.size() || visits[i + 1].thread != visits[i].thread;
    (last ? result.last : result.rounds).push_back(visits[i]);
    result.waited |= all.has_waited(std::get<0>(result.place), visits[i].thread);
  }
  if (threads.size() < 2 || result.rounds.size() < kRoundsForEachThread * threads.size()) return false;
  std::stable_sort(result.rounds.begin(), result.rounds.end(), by_end);
  const bool is_main = is_main_of_all(all, result.place, threads);
  const bool some_get_more = is_main && unequal(all, threads, counts);
  const bool find_none = is_main && all.find_none_last(visits);
  return ((result.waited || some_get_more || find_none) && last_come_last(result)) ||
         (some_get_more && all.end_together(visits));
}

class Finder {
 public:
  Finder(const Trace& trace, std::span<const model::ThreadUse> uses) : trace_(trace), uses_(uses) {}

  void hand_outs(const Visits& visits) {
    std::vector<HandOut> found;
    for (const auto& [place, there] : visits.by_place()) {
      HandOut hand_out{place, {}, {}};
      // What a pool's workers do is in tasks, which the pool hands out.
      const bool in_tasks = std::ranges::any_of(
          there, [&](const Visit& visit) { return uses_[visit.thread].role == model::ThreadRole::worker; });
      if (in_tasks) continue;
      if (is_handed_out(visits, there, hand_out)) found.push_back(std::move(hand_out));
    }
    // A thread's rounds are those of one place: where it waits for work, or else where it comes most often.
    std::stable_sort(found.begin(), found.end(), [](const HandOut& x, const HandOut& y) {
      return std::pair(x.waited, x.rounds.size()) > std::pair(y.waited, y.rounds.size());
    });
    std::set<uint32_t> taken;
    for (const HandOut& hand_out : found) {
      const auto is_taken = [&](const Visit& visit) { return taken.contains(visit.thread); };
      if (std::any_of(hand_out.last.begin(), hand_out.last.end(), is_taken)) continue;
      for (const Visit& visit : hand_out.last) taken.insert(visit.thread);
      add(hand_out);
    }
  }

  void until_awaited() {
    find_awaiting();
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) sleeper(t);
  }

  Rounds result() && { return std::move(rounds_); }

 private:
  void add(const HandOut& hand_out) {
    const auto loop = static_cast<uint32_t>(rounds_.loops.size());
    uint32_t number = 0;
    for (const Visit& visit : hand_out.rounds) rounds_.at_event[visit.event] = round_value(loop, number++);
    rounds_.loops.push_back({RoundLoop::Kind::handed_out, number, {}, {}});
    for (const Visit& visit : hand_out.last) rounds_.at_event[visit.event] = round_value(loop, number++);
    rounds_.notes.push_back(
        fmt::format("{} threads share {} pieces of work that begin at one place: whichever of them is free is taken to "
                    "get the next",
                    hand_out.last.size(), hand_out.rounds.size()));
  }

  // Finds which thread's end is waited for, and since when.
  void find_awaiting() {
    awaited_ns_.assign(trace_.tasks.size(), INT64_MAX);
    runs_.assign(trace_.threads.size(), {});
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      const uint32_t a = trace_.a[i];
      if (a >= trace_.tasks.size()) continue;
      if (trace_.kind[i] == EventKind::wait_begin) awaited_ns_[a] = std::min(awaited_ns_[a], trace_.time_ns[i]);
      if (trace_.kind[i] != EventKind::task_start || trace_.tasks[a].kind != model::TaskKind::thread) continue;
      model::TaskId& run = runs_[trace_.thread_of(model::EventIndex(i)).index()];
      if (!run.valid()) run = model::TaskId(a);
    }
  }

  // The ends of the thread's sleeps without a lock, by place.
  std::map<uint32_t, std::vector<uint32_t>> sleeps(model::EventRange range) const {
    std::map<uint32_t, std::vector<uint32_t>> by_place;
    uint32_t held = 0, begin = UINT32_MAX;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      switch (trace_.kind[i]) {
        case EventKind::lock_acquire:
        case EventKind::lock_acquired:
        case EventKind::lock_acquire_shared:
        case EventKind::lock_acquired_shared:
          ++held;
          break;
        case EventKind::lock_release:
          if (held > 0) --held;
          break;
        case EventKind::block_begin:
          begin = static_cast<BlockReason>(trace_.a[i]) == BlockReason::sleep ? i : UINT32_MAX;
          break;
        case EventKind::block_end:
          if (held == 0 && begin != UINT32_MAX) by_place[trace_.b[begin]].push_back(i);
          begin = UINT32_MAX;
          break;
        default:
          break;
      }
    }
    return by_place;
  }

  int64_t end_ns(uint32_t thread) const {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    const bool ended = range.size() > 0 && trace_.kind[range.end - 1] == EventKind::thread_end;
    return ended ? trace_.time_ns[range.end - 1] : INT64_MAX;
  }

  void sleeper(uint32_t thread) {
    constexpr size_t kRoundsMin = 8;  // with so many, it is unlikely that it ended in the last one by chance
    const int64_t own_end_ns = end_ns(thread);
    // A pool's worker sleeps in its tasks; how many these are is not its own choice.
    if (own_end_ns == INT64_MAX || uses_[thread].role == model::ThreadRole::worker) return;
    const auto by_place = sleeps(trace_.thread_events(model::ThreadId(thread)));
    const auto most = std::max_element(by_place.begin(), by_place.end(),
                                       [](const auto& x, const auto& y) { return x.second.size() < y.second.size(); });
    if (most == by_place.end() || most->second.size() < kRoundsMin) return;
    const std::vector<uint32_t>& ends = most->second;
    if (hands_out_tasks(ends.front(), ends.back())) return;
    RoundLoop loop{RoundLoop::Kind::until_awaited, 0, {}, {}};
    if (!ends_when_others_do(thread, trace_.time_ns[ends[ends.size() - 2]], own_end_ns, loop)) return;
    const auto number = static_cast<uint32_t>(rounds_.loops.size());
    for (const uint32_t end : ends) rounds_.at_event[end] = round_value(number, end == ends.back() ? 1 : 0);
    rounds_.notes.push_back(fmt::format("one thread makes {} rounds with a sleep in each: taken to go on until {}",
                                        ends.size(),
                                        loop.others.empty() ? "somebody waits for its end" : "the others have ended"));
    rounds_.loops.push_back(std::move(loop));
  }

  // A thread that hands out tasks is a client that pauses between its requests, not one that watches: the run is not
  // over before these tasks have been done.
  bool hands_out_tasks(uint32_t begin, uint32_t end) const {
    for (uint32_t i = begin; i < end; ++i) {
      if (trace_.kind[i] == EventKind::task_spawn) return true;
    }
    return false;
  }

  bool ends_when_others_do(uint32_t thread, int64_t after_ns, int64_t own_end_ns, RoundLoop& loop) const {
    const model::TaskId run = runs_[thread];
    const int64_t awaited_ns = run.valid() ? awaited_ns_[run.index()] : INT64_MAX;
    if (awaited_ns > after_ns && awaited_ns <= own_end_ns) {
      loop.run = run;
      return true;
    }
    int64_t last_ns = INT64_MIN;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const int64_t ns = end_ns(t);
      if (t == thread || ns >= own_end_ns) continue;
      loop.others.push_back(t);
      last_ns = std::max(last_ns, ns);
    }
    return last_ns > after_ns;
  }

  const Trace& trace_;
  const std::span<const model::ThreadUse> uses_;
  std::vector<int64_t> awaited_ns_;  // by task
  std::vector<model::TaskId> runs_;  // by thread
  Rounds rounds_;
};

}  // namespace

Rounds find_rounds(const Trace& trace, std::span<const model::ThreadUse> uses,
                   std::span<const CriticalSection> sections, const std::vector<uint32_t>& section_of_event) {
  Finder finder(trace, uses);
  if (!section_of_event.empty()) finder.hand_outs(Visits(trace, sections, section_of_event));
  finder.until_awaited();
  return std::move(finder).result();
}

}  // namespace contrafact::whatif
