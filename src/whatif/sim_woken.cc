#include "whatif/sim_woken.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/saturating.h"
#include "model/facts.h"
#include "model/on_core.h"
#include "whatif/sim_latency.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

// One sleep of a thread that waited for the mutex.
struct Sleep {
  int64_t turn_ns;  // of two that sleep, a release wakes the one with the earlier turn
  int64_t out_ns;
  int64_t in_ns;
  int64_t there_ns;  // INT64_MAX: it came in vain, and when is not seen
};

// Numbers below a bound, of which each is taken once. Near constant time.
class Untaken {
 public:
  explicit Untaken(size_t count) : next_(count + 1) { std::iota(next_.begin(), next_.end(), 0u); }
  // The least one from `from` on; `count` if there is none.
  uint32_t at_or_after(uint32_t from) {
    uint32_t found = from;
    while (next_[found] != found) found = next_[found];
    while (next_[from] != found) from = std::exchange(next_[from], found);
    return found;
  }
  void take(uint32_t number) { next_[number] = number + 1; }

 private:
  std::vector<uint32_t> next_;
};

// Matches the sleeps and releases of one lock's sections.
class Matcher {
 public:
  // With `keeps_turn`, who came in vain is still the first of those that wait, and else the last.
  Matcher(const model::Trace& trace, std::span<const CriticalSection> sections, bool keeps_turn)
      : trace_(trace), sections_(sections), keeps_turn_(keeps_turn) {
    for (const CriticalSection& section : sections) {
      if (section.contended()) add_wait(section);
    }
    order_.resize(sections.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::stable_sort(order_, {}, [&](uint32_t s) { return sections_[s].release_ns; });
    for (const uint32_t s : order_) releases_ns_.push_back(sections_[s].release_ns);
    std::ranges::sort(marks_ns_);
    std::ranges::sort(sleeps_, {}, [](const Sleep& sleep) { return std::pair(sleep.turn_ns, sleep.out_ns); });
  }

  // `found`: by section of this lock.
  void match(std::span<Woken::Coming> found) const {
    Untaken marked = marked_releases(), any(order_.size());
    for (const Sleep& sleep : sleeps_) {
      const auto after = std::ranges::upper_bound(releases_ns_, sleep.out_ns);
      const auto first = static_cast<uint32_t>(after - releases_ns_.begin());
      uint32_t release = marked.at_or_after(first);
      if (!ends(sleep, release)) release = any.at_or_after(first);
      if (!ends(sleep, release)) continue;
      marked.take(release);
      any.take(release);
      found[order_[release]] = {sleep.in_ns, sleep.there_ns};
    }
  }

  // How long the threads that acquired the mutex took to do so once they had a core.
  void add_returns(std::vector<int64_t>& returns_ns) const {
    for (const Sleep& sleep : sleeps_) {
      if (sleep.there_ns != INT64_MAX) returns_ns.push_back(sleep.there_ns - sleep.in_ns);
    }
  }

 private:
  void add_wait(const CriticalSection& section) {
    marks_ns_.push_back(section.request_ns);
    marks_ns_.push_back(section.acquire_ns);
    const std::vector<model::CpuGap>& gaps = trace_.cpu[section.thread.index()];
    auto gap = std::ranges::lower_bound(gaps, section.request_ns, {}, &model::CpuGap::out_ns);
    bool slept = false;
    for (; gap != gaps.end() && gap->in_ns <= section.acquire_ns; ++gap) {
      if (gap->preempted) continue;
      marks_ns_.push_back(gap->out_ns);
      sleeps_.push_back({keeps_turn_ ? section.request_ns : gap->out_ns, gap->out_ns, gap->in_ns, INT64_MAX});
      slept = true;
    }
    if (slept && section.outcome == model::Outcome::normal) sleeps_.back().there_ns = section.acquire_ns;
  }

  // The first release after each mark.
  Untaken marked_releases() const {
    Untaken marked(order_.size());
    auto mark = marks_ns_.begin();
    for (uint32_t i = 0; i < order_.size(); ++i) {
      const auto first = mark;
      while (mark != marks_ns_.end() && *mark < releases_ns_[i]) ++mark;
      if (mark == first) marked.take(i);
    }
    return marked;
  }

  bool ends(const Sleep& sleep, uint32_t release) const {
    return release < order_.size() && releases_ns_[release] <= sleep.in_ns;
  }

  const model::Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const bool keeps_turn_;
  std::vector<uint32_t> order_;  // sections by release
  std::vector<int64_t> releases_ns_;
  std::vector<int64_t> marks_ns_;
  std::vector<Sleep> sleeps_;
};

}  // namespace

// Writers take a reader-writer lock as a mutex where there are no readers.
bool serves_as_mutex(const model::Trace& trace, std::span<const CriticalSection> of_lock) {
  const format::LockKind kind = trace.locks[of_lock.front().lock.index()].kind;
  return kind == format::LockKind::mutex ||
         (kind == format::LockKind::rwlock && std::ranges::none_of(of_lock, &CriticalSection::shared));
}

Woken find_woken(const model::Trace& trace, std::span<const CriticalSection> sections) {
  Woken woken;
  woken.known = trace.cpu.size() == trace.threads.size() && model::has_switches(trace);
  if (!woken.known) return woken;
  woken.by_release.resize(sections.size());
  std::vector<int64_t> returns_ns;
  const bool keeps_turn = !model::is_native(trace);  // a lock of java.util.concurrent, not the C library's
  for_each_lock(sections, [&](std::span<const CriticalSection> of_lock, size_t begin) {
    if (!serves_as_mutex(trace, of_lock)) return;
    const Matcher matcher(trace, of_lock, keeps_turn);
    matcher.match(std::span(woken.by_release).subspan(begin, of_lock.size()));
    matcher.add_returns(returns_ns);
  });
  woken.return_ns = median_ns(returns_ns);
  for (Woken::Coming& coming : woken.by_release) {
    if (coming.core_ns != INT64_MAX && coming.there_ns == INT64_MAX)
      coming.there_ns = base::add_saturated(coming.core_ns, woken.return_ns);
  }
  return woken;
}

}  // namespace contrafact::whatif
