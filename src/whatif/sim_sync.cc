#include "whatif/sim_sync.h"

#include <algorithm>

#include "model/sync_wakes.h"
#include "whatif/least_counts.h"
#include "whatif/sim_busy_cores.h"
#include "whatif/sim_conventions.h"
#include "whatif/sim_latency.h"
#include "whatif/sim_lock_ways.h"

namespace contrafact::whatif {
namespace {

using format::LockKind;
using model::CriticalSection;
using model::EventKind;
using model::Outcome;
using model::Trace;

// With only a dozen chases, one that took long would make every tenth way long.
constexpr size_t kEnoughChases = 100;

class Gatherer {
 public:
  Gatherer(const model::Facts& facts, uint32_t cores) : known_(facts), trace_(facts.trace()), cores_(cores) {}

  SyncFacts run(uint32_t first_token) {
    if (!model::is_native(trace_) && !model::has_lock_events(trace_)) return std::move(facts_);
    busy_ = BusyCores(trace_, cores_);
    find_usual_blocks();
    facts_.sections = known_.sections();
    woken_ = find_woken(trace_, facts_.sections);
    index_events();
    match_waits(first_token);
    facts_.credits = count_credits(trace_, known_.sections(), known_.wakes());
    count_semaphores();
    sample_latencies();
    facts_.wake_cost = measure_wake_cost(trace_, facts_.sections, woken_);
    facts_.lingers = find_lingers(trace_, facts_.sections, woken_);
    if (SimConventions::of(known_).tries_before_sleep) facts_.tries = find_tries(facts_.sections, trace_.locks.size());
    facts_.wake_placement = measure_wake_placement(trace_, facts_.sections, woken_, busy_);
    facts_.queue = CoreQueue(trace_);
    return std::move(facts_);
  }

 private:
  LockKind kind_of(const CriticalSection& section) const { return trace_.locks[section.lock.index()].kind; }
  int64_t time(model::EventIndex event) const { return trace_.time_ns[event.index()]; }

  // A tenth of a place's blocks are no longer than this.
  void find_usual_blocks() {
    std::unordered_map<uint32_t, std::vector<int64_t>> lengths_ns;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const model::EventRange range = trace_.thread_events(model::ThreadId(t));
      uint32_t begin = SyncFacts::kNone;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        if (trace_.kind[i] == EventKind::block_begin) begin = i;
        if (trace_.kind[i] != EventKind::block_end || begin == SyncFacts::kNone) continue;
        lengths_ns[trace_.b[begin]].push_back(trace_.time_ns[i] - trace_.time_ns[begin]);
      }
    }
    for (auto& [place, all_ns] : lengths_ns) {
      const auto tenth = all_ns.begin() + static_cast<int64_t>(all_ns.size() / 10);
      std::nth_element(all_ns.begin(), tenth, all_ns.end());
      facts_.usual_block_ns[place] = *tenth;
    }
  }

  void index_events() {
    facts_.section_of_event.assign(trace_.event_count(), SyncFacts::kNone);
    for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
      const CriticalSection& section = facts_.sections[s];
      facts_.section_of_event[section.acquire.index()] = s;
      if (section.release.valid()) facts_.section_of_event[section.release.index()] = s;
    }
  }

  void match_waits(uint32_t first_token) {
    facts_.token_of_section.assign(facts_.sections.size(), SyncFacts::kNone);
    facts_.round_of_section.assign(facts_.sections.size(), SyncFacts::kNone);
    struct Member {
      uint32_t cause;
      uint32_t section;
    };
    std::vector<Member> members;
    uint32_t token = first_token;
    for (const model::SyncWake& wake : known_.wakes()) {
      const LockKind kind = kind_of(facts_.sections[wake.wait]);
      if (kind == LockKind::barrier) {
        members.push_back({wake.cause.value, wake.wait});
      } else if (kind == LockKind::once) {
        facts_.token_of_section[wake.wait] = token;
        facts_.fires.push_back({wake.cause.value, token++});
      }
    }
    std::sort(facts_.fires.begin(), facts_.fires.end(), [](const TokenFire& x, const TokenFire& y) {
      return x.event != y.event ? x.event < y.event : x.token < y.token;
    });
    if (members.empty()) return;
    // The thread that came last belongs to the round that it ended.
    for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
      const CriticalSection& section = facts_.sections[s];
      if (kind_of(section) == LockKind::barrier && section.contended() && section.outcome == Outcome::normal)
        members.push_back({section.request.value, s});
    }
    std::sort(members.begin(), members.end(), [](const Member& x, const Member& y) {
      return x.cause != y.cause ? x.cause < y.cause : x.section < y.section;
    });
    for (size_t i = 0; i < members.size();) {
      size_t next = i + 1;
      while (next < members.size() && members[next].cause == members[i].cause) ++next;
      // A waiter's own request is a cause only if that waiter came last.
      if (next - i > 1) {
        for (size_t k = i; k < next; ++k)
          facts_.round_of_section[members[k].section] = static_cast<uint32_t>(facts_.round_sizes.size());
        facts_.round_sizes.push_back(static_cast<uint32_t>(next - i));
      }
      i = next;
    }
  }

  void count_semaphores() {
    facts_.semaphore_counts.assign(trace_.locks.size(), 0);
    std::vector<CountChange> changes;
    for (const CriticalSection& section : facts_.sections) {
      if (kind_of(section) == LockKind::semaphore && section.outcome == Outcome::normal)
        changes.push_back({section.lock.value, section.acquire_ns, -1});
    }
    if (changes.empty()) return;
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      const model::LockId lock(trace_.a[i]);
      if (trace_.kind[i] != EventKind::sync_signal || !lock.valid()) continue;
      if (trace_.locks[lock.index()].kind == LockKind::semaphore)
        changes.push_back({lock.value, trace_.time_ns[i], +1});
    }
    each_count(changes, [&](uint32_t lock, int64_t count) {
      uint32_t& least = facts_.semaphore_counts[lock];
      if (count < 0) least = std::max(least, static_cast<uint32_t>(-count));
    });
  }

  void estimate_ways() {
    const std::vector<Chase> found = chases(trace_, facts_.sections, busy_);
    facts_.mutex_way = facts_.lock_latency;
    if (found.size() >= kEnoughChases) facts_.mutex_way.sorted_ns = way_lengths(found);
  }

  // Samples the time from the last release that stood in the way to the acquisition.
  void sample_latencies() {
    const auto was_free = [&](int64_t time_ns) { return busy_.was_free(time_ns); };
    std::vector<int64_t> free_ns(facts_.sections.size());  // by section: when its lock had been released before
    int64_t writers_ns = 0, all_ns = 0;
    std::vector<int64_t> crowded_ns;
    for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
      const CriticalSection& section = facts_.sections[s];
      if (s == 0 || facts_.sections[s - 1].lock != section.lock) writers_ns = all_ns = INT64_MIN;
      free_ns[s] = section.shared ? writers_ns : all_ns;
      if (section.outcome != Outcome::normal || !model::is_held(kind_of(section))) continue;
      if (section.contended() && free_ns[s] > section.request_ns && free_ns[s] <= section.acquire_ns) {
        std::vector<int64_t>& samples = was_free(free_ns[s]) ? facts_.lock_latency.sorted_ns : crowded_ns;
        samples.push_back(section.acquire_ns - free_ns[s]);
      }
      all_ns = std::max(all_ns, section.release_ns);
      if (!section.shared) writers_ns = std::max(writers_ns, section.release_ns);
    }
    settle(facts_.lock_latency.sorted_ns, crowded_ns);
    facts_.mutex_ways_ns = ways_by_kernel(facts_.sections, woken_, busy_);
    if (facts_.mutex_ways_ns.size() < kEnoughChases) {
      facts_.mutex_ways_ns.clear();
      estimate_ways();
    } else {
      facts_.mutex_way.sorted_ns = facts_.mutex_ways_ns;
      std::ranges::sort(facts_.mutex_way.sorted_ns);
    }
    crowded_ns.clear();
    for (const model::SyncWake& wake : known_.wakes()) {
      const CriticalSection& wait = facts_.sections[wake.wait];
      int64_t cause_ns = time(wake.cause);
      // The thread has to acquire the mutex again.
      const uint32_t next = wait.acquire.value + 1;
      if (next < trace_.event_count() && trace_.kind[next] == EventKind::lock_acquire) {
        const uint32_t retaken = facts_.section_of_event[next];
        if (retaken != SyncFacts::kNone) cause_ns = std::max(cause_ns, free_ns[retaken]);
      }
      if (cause_ns <= wait.request_ns || cause_ns > wait.acquire_ns) continue;
      std::vector<int64_t>& samples = was_free(cause_ns) ? facts_.token_latency.sorted_ns : crowded_ns;
      samples.push_back(wait.acquire_ns - cause_ns);
    }
    settle(facts_.token_latency.sorted_ns, crowded_ns);
    sample_threads(was_free);
    sample_slices();
  }

  template <typename WasFree>
  void sample_threads(WasFree&& was_free) {
    std::vector<int64_t> crowded_starts_ns, crowded_joins_ns;
    for (const model::TaskRow& task : trace_.tasks) {
      if (task.kind != model::TaskKind::thread || !task.spawn.valid() || !task.start.valid()) continue;
      const model::EventRange range = trace_.thread_events(trace_.thread_of(task.start));
      const int64_t spawn_ns = time(task.spawn);
      (was_free(spawn_ns - 1) ? facts_.thread_latency.sorted_ns : crowded_starts_ns)
          .push_back(std::max<int64_t>(0, trace_.time_ns[range.begin] - spawn_ns));
    }
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const model::EventRange range = trace_.thread_events(model::ThreadId(t));
      int64_t since_ns = 0;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        if (trace_.kind[i] == EventKind::wait_begin) since_ns = trace_.time_ns[i];
        if (trace_.kind[i] != EventKind::wait_end || trace_.a[i] == model::TaskId::kNone) continue;
        const int64_t done_ns = completion_ns(trace_, model::TaskId(trace_.a[i]));
        if (done_ns <= since_ns || done_ns > trace_.time_ns[i]) continue;
        (was_free(done_ns) ? facts_.join_latency.sorted_ns : crowded_joins_ns).push_back(trace_.time_ns[i] - done_ns);
      }
    }
    settle(facts_.thread_latency.sorted_ns, crowded_starts_ns);
    settle(facts_.join_latency.sorted_ns, crowded_joins_ns);
  }

  // Where hardly a core was ever free, the shortest of the other times say most about the way alone. A time that is
  // longer than any way is not a way.
  static void settle(std::vector<int64_t>& samples_ns, std::vector<int64_t>& crowded_ns) {
    constexpr size_t kEnough = 10;
    constexpr int64_t kWayMax = 100'000;
    if (samples_ns.size() < kEnough && !crowded_ns.empty()) {
      std::sort(crowded_ns.begin(), crowded_ns.end());
      crowded_ns.resize((crowded_ns.size() + 3) / 4);
      for (const int64_t ns : crowded_ns) samples_ns.push_back(std::min(ns, kWayMax));
    }
    std::sort(samples_ns.begin(), samples_ns.end());
  }

  // A shorter run was ended by a thread that was just woken, which says nothing about how long a turn is.
  void sample_slices() {
    std::vector<int64_t> runs_ns;
    for (const std::vector<model::CpuGap>& gaps : trace_.cpu) {
      for (size_t i = 1; i < gaps.size(); ++i) {
        const int64_t ran_ns = gaps[i].out_ns - gaps[i - 1].in_ns;
        if (gaps[i].preempted && ran_ns >= SyncFacts::kSliceLeastNs) runs_ns.push_back(ran_ns);
      }
    }
    if (runs_ns.empty()) return;
    const auto middle = runs_ns.begin() + static_cast<int64_t>(runs_ns.size() / 2);
    std::nth_element(runs_ns.begin(), middle, runs_ns.end());
    facts_.slice_ns = *middle;
  }

  const model::Facts& known_;
  const Trace& trace_;
  const uint32_t cores_;
  SyncFacts facts_;
  BusyCores busy_;
  Woken woken_;
};

}  // namespace

std::span<const TokenFire> SyncFacts::fires_at(uint32_t event) const {
  const auto range = std::equal_range(fires.begin(), fires.end(), TokenFire{event, 0},
                                      [](const TokenFire& x, const TokenFire& y) { return x.event < y.event; });
  return {range.first, range.second};
}

int64_t SyncFacts::longer_than_usual_ns(uint32_t place, int64_t block_ns) const {
  const auto usual = usual_block_ns.find(place);
  return usual == usual_block_ns.end() ? 0 : std::max<int64_t>(0, block_ns - usual->second);
}

int64_t SyncFacts::off_core_ns(int64_t longer_ns, int64_t out_ns, int64_t in_ns) const {
  const int64_t gap_ns = in_ns - out_ns;
  return gap_ns - std::clamp<int64_t>(std::min(longer_ns, queue.waited_ns(out_ns, in_ns)), 0, gap_ns);
}

SyncFacts gather_sync_facts(const model::Facts& facts, uint32_t cores, uint32_t first_token) {
  return Gatherer(facts, cores).run(first_token);
}

}  // namespace contrafact::whatif
