#include "analysis/lock_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/cpu_use.h"
#include "analysis/lock_likeness.h"
#include "base/saturating.h"
#include "graph/sync_graph.h"
#include "model/processes.h"

namespace contrafact::analysis {
namespace {

using model::CriticalSection;
using model::EventKind;

// What is gathered before it is summarised.
struct Gathered {
  LockUse use;
  uint32_t sections = 0;
  std::vector<int64_t> waits_ns, holds_ns;
  std::map<uint32_t, int64_t> owners_ns;  // by the owner's site

  void add(const model::LockWait& wait) {
    ++use.acquisitions;
    ++use.contended;
    use.waits_only = sections == 0;
    waits_ns.push_back(wait.wait_ns());
  }
  void add(const CriticalSection& section, bool held, int64_t hold_cpu_ns) {
    ++sections;
    use.waits_only = false;
    const bool had = section.outcome == model::Outcome::normal;
    if (had) {
      ++use.acquisitions;
      use.contended += section.contended();
      use.shared += section.shared;
      if (held) holds_ns.push_back(section.hold_ns());
      use.hold_cpu_ns += hold_cpu_ns;
    } else {
      ++use.failed;
    }
    if (section.contended()) waits_ns.push_back(section.wait_ns());
  }
  void finish() {
    use.wait = summarise(waits_ns);
    use.hold = summarise(holds_ns);
  }
};

// Half-open.
struct RowRange {
  size_t begin = 0, end = 0;
};

// By lock: the first lock of its group. A native program's variables have different names, or none: each is a group.
std::vector<uint32_t> lock_groups(const model::Trace& trace) {
  std::vector<uint32_t> groups(trace.locks.size());
  std::map<std::tuple<uint32_t, format::LockKind, uint32_t>, uint32_t> firsts;  // by process, kind and name
  const bool native = model::is_native(trace);
  for (uint32_t i = 0; i < groups.size(); ++i) {
    const format::LockRow& row = trace.locks[i];
    const uint32_t process = model::process_of(trace, LockId(i));
    groups[i] =
        native || !row.name.valid() ? i : firsts.try_emplace({process, row.kind, row.name.value}, i).first->second;
  }
  return groups;
}

// A try that found the lock held.
struct FailedTry {
  uint32_t lock;
  uint32_t site;
};

class LockProfiler {
 public:
  LockProfiler(const model::Facts& facts, const LockProfileOptions& options)
      : facts_(facts),
        trace_(facts.trace()),
        options_(options),
        sections_(facts.sections()),
        wakes_(facts.wakes()),
        locks_by_use_(locks_by_use(trace_, sections_, wakes_)),
        waits_(model::lock_waits(trace_)),
        groups_(lock_groups(trace_)),
        cpu_(trace_),
        sites_of_(trace_) {}

  LockProfile run() {
    profile_.run_ns = trace_.end_ns() - trace_.begin_ns();
    for (const model::EventRange& range : trace_.thread_ranges) {
      if (range.size() > 0) profile_.threads_ns += trace_.time_ns[range.end - 1] - trace_.time_ns[range.begin];
    }
    profile_.cpu_known = cpu_.known();
    profile_.path_known = model::is_native(trace_);
    list_thread_waits();
    list_failed_tries();
    follow_critical_path();
    add_locks();
    cut(profile_.locks);
    cut(profile_.lock_sites);
    keep_longest_waits();
    profile_.sites = sites_of_.sites();
    return std::move(profile_);
  }

 private:
  // What is gathered of one lock, or of one group of locks.
  struct LockTotals {
    Gathered gathered;
    std::vector<uint32_t> threads;
    uint32_t instances = 0;
    int64_t held_ns = 0;
    std::map<uint32_t, Gathered> sites;
  };

  // Each thread's own waits for locks, in time: an owner that is in one is part of a chain.
  void list_thread_waits() {
    waits_of_thread_.resize(trace_.threads.size());
    for (const CriticalSection& section : sections_) {
      if (section.contended() && model::is_held(trace_.locks[section.lock.index()].kind)) {
        waits_of_thread_[section.thread.index()].emplace_back(section.request_ns, section.acquire_ns);
      }
    }
    for (auto& waits : waits_of_thread_) std::sort(waits.begin(), waits.end());
  }

  void list_failed_tries() {
    for (size_t i = 0; i < trace_.event_count(); ++i) {
      if (trace_.kind[i] != EventKind::lock_busy || trace_.a[i] == UINT32_MAX) continue;
      failed_tries_.push_back({trace_.a[i], site_of(LockId(trace_.a[i]), model::ContextId(trace_.b[i]))});
    }
    std::sort(failed_tries_.begin(), failed_tries_.end(),
              [](const FailedTry& x, const FailedTry& y) { return x.lock < y.lock; });
  }

  // One lock's ranges of sections, of failed tries and of waits.
  struct LockPart {
    uint32_t group = 0, lock = 0;
    RowRange sections, failed, waits;
  };

  // One group after the other.
  void add_locks() {
    reserve_rows();
    std::vector<LockPart> parts = lock_parts();
    std::ranges::stable_sort(parts, {}, &LockPart::group);
    for (size_t begin = 0; begin < parts.size();) {
      LockTotals totals;
      size_t end = begin;
      for (; end < parts.size() && parts[end].group == parts[begin].group; ++end) add_part(parts[end], totals);
      add_rows(LockId(parts[begin].lock), totals);
      begin = end;
    }
  }

  // In the order of locks, as sections, tries and waits are.
  std::vector<LockPart> lock_parts() const {
    std::vector<LockPart> parts;
    size_t section = 0, failed = 0, wait = 0;
    const auto lock_at = [](const auto& rows, size_t at, auto lock_of) {
      return at < rows.size() ? lock_of(rows[at]) : UINT32_MAX;
    };
    const auto of_row = [](const auto& row) { return row.lock.value; };
    const auto of_try = [](const FailedTry& row) { return row.lock; };
    const auto take = [&](const auto& rows, size_t& at, uint32_t lock, auto lock_of) {
      RowRange range{at, at};
      while (lock_at(rows, at, lock_of) == lock) range.end = ++at;
      return range;
    };
    while (section < sections_.size() || failed < failed_tries_.size() || wait < waits_.size()) {
      const uint32_t lock = std::min(
          {lock_at(sections_, section, of_row), lock_at(failed_tries_, failed, of_try), lock_at(waits_, wait, of_row)});
      LockPart& part = parts.emplace_back();
      part.lock = lock;
      part.group = groups_[lock];
      part.sections = take(sections_, section, lock, of_row);
      part.failed = take(failed_tries_, failed, lock, of_try);
      part.waits = take(waits_, wait, lock, of_row);
    }
    return parts;
  }

  void add_part(const LockPart& part, LockTotals& totals) {
    ++totals.instances;
    if (part.sections.end > part.sections.begin) add_sections(part.sections.begin, part.sections.end, totals);
    for (size_t i = part.failed.begin; i < part.failed.end; ++i) {
      ++totals.sites[failed_tries_[i].site].use.failed;
      ++totals.gathered.use.failed;
    }
    for (size_t i = part.waits.begin; i < part.waits.end; ++i) add_wait(waits_[i], totals);
  }

  void add_wait(const model::LockWait& wait, LockTotals& totals) {
    Gathered& site = totals.sites[site_of(wait.lock, wait.site)];
    site.add(wait);
    totals.gathered.add(wait);
    totals.threads.push_back(wait.thread.value);
    if (wait.holder_at.valid()) site.owners_ns[site_of(wait.lock, wait.holder_at)] += wait.wait_ns();
    if (!wait.holder.valid()) return;
    for (Gathered* each : {&site, &totals.gathered}) each->use.owner_wait_ns += wait.wait_ns();
  }

  void keep_longest_waits() {
    if (options_.locks_only)
      std::erase_if(waits_, [&](const auto& wait) { return !model::is_held(trace_.locks[wait.lock.index()].kind); });
    std::ranges::stable_sort(waits_, std::greater(), &model::LockWait::wait_ns);
    profile_.wait_count = waits_.size();
    if (waits_.size() > options_.rows_max) waits_.resize(options_.rows_max);
    profile_.longest_waits = std::move(waits_);
  }

  void reserve_rows() {
    size_t locks = 0;
    for (size_t s = 0; s < sections_.size(); ++s) locks += s == 0 || sections_[s].lock != sections_[s - 1].lock;
    locks = std::min(locks, rows_kept());
    profile_.locks.reserve(locks);
    profile_.lock_sites.reserve(locks);
  }

  uint32_t site_of(LockId lock, model::ContextId context) { return sites_of_.of(lock, context); }

  void add_sections(size_t begin, size_t end, LockTotals& totals) {
    const LockId lock = sections_[begin].lock;
    const bool held = model::is_held(trace_.locks[lock.index()].kind);
    int64_t covered_ns = INT64_MIN;
    for (size_t s = begin; s < end; ++s) {
      const CriticalSection& section = sections_[s];
      Gathered& site = totals.sites[site_of(section.lock, section.site)];
      site.use.critical_ns += critical_ns_[s];
      totals.gathered.use.critical_ns += critical_ns_[s];
      const bool counts = held && cpu_.known() && section.outcome == model::Outcome::normal;
      const int64_t cpu_ns = counts ? cpu_.cpu_ns(section.thread, section.acquire_ns, section.release_ns) : 0;
      site.add(section, held, cpu_ns);
      totals.gathered.add(section, held, cpu_ns);
      totals.threads.push_back(section.thread.value);
      const int64_t from_ns = std::max(covered_ns, section.acquire_ns);
      if (held && section.release_ns > from_ns) {  // readers overlap: each instant once
        totals.held_ns += section.release_ns - from_ns;
        covered_ns = section.release_ns;
      }
    }
    if (held) {
      find_owners(begin, end, totals);
    } else {
      find_wakers(begin, end, totals);
    }
  }

  void find_wakers(size_t begin, size_t end, LockTotals& totals) {
    auto wake = std::ranges::lower_bound(wakes_, begin, {}, &model::SyncWake::wait);
    for (; wake != wakes_.end() && wake->wait < end; ++wake) {
      const CriticalSection& wait = sections_[wake->wait];
      const uint32_t waker = site_of(wait.lock, model::ContextId(trace_.b[wake->cause.index()]));
      totals.sites[site_of(wait.lock, wait.site)].owners_ns[waker] += wait.wait_ns();
    }
  }

  // For sections of one lock, by time. For each wait it goes back from the acquisition through the sections in the
  // wait. It stops at one that begins before the wait: of an exclusive lock, at most one such section ends in it.
  void find_owners(size_t begin, size_t end, LockTotals& totals) {
    constexpr size_t kReadersBeforeMax =
        64;  // a reader may have begun long before: look so far behind the wait's begin
    for (size_t s = begin; s < end; ++s) {
      const CriticalSection& wait = sections_[s];
      if (!wait.contended()) continue;
      size_t before = 0;
      for (size_t o = end_of_candidates(begin, end, s); o-- > begin && before < kReadersBeforeMax;) {
        const CriticalSection& owner = sections_[o];
        if (owner.acquire_ns < wait.request_ns) ++before;
        if (o == s || owner.thread == wait.thread) continue;
        const int64_t from_ns = std::max(owner.acquire_ns, wait.request_ns);
        const int64_t to_ns = std::min(owner.release_ns, wait.acquire_ns);
        if (to_ns <= from_ns) continue;
        charge(wait, owner, from_ns, to_ns, totals);
      }
    }
  }

  size_t end_of_candidates(size_t begin, size_t end, size_t s) const {
    (void)begin;
    size_t after = s + 1;  // sections that were acquired at the same instant come later in the order
    while (after < end && sections_[after].acquire_ns == sections_[s].acquire_ns) ++after;
    return after;
  }

  void charge(const CriticalSection& wait, const CriticalSection& owner, int64_t from_ns, int64_t to_ns,
              LockTotals& totals) {
    Gathered& site = totals.sites[site_of(wait.lock, wait.site)];
    const int64_t chained_ns = overlap(waits_of_thread_[owner.thread.index()], from_ns, to_ns);
    for (Gathered* each : {&site, &totals.gathered}) {
      each->use.owner_wait_ns += to_ns - from_ns;
      each->use.chained_ns += chained_ns;
    }
    site.owners_ns[site_of(owner.lock, owner.site)] += to_ns - from_ns;
  }

  static int64_t overlap(const std::vector<std::pair<int64_t, int64_t>>& waits, int64_t from_ns, int64_t to_ns) {
    int64_t sum_ns = 0;
    auto at = std::lower_bound(waits.begin(), waits.end(), std::pair(from_ns, INT64_MIN));
    if (at != waits.begin()) --at;
    for (; at != waits.end() && at->first < to_ns; ++at) {
      sum_ns += std::max<int64_t>(0, std::min(to_ns, at->second) - std::max(from_ns, at->first));
    }
    return sum_ns;
  }

  void follow_critical_path() {
    critical_ns_.assign(sections_.size(), 0);
    if (sections_.empty() || !profile_.path_known) return;
    const graph::SectionOrder recorded = graph::recorded_order(trace_, sections_);
    const graph::SyncGraph graph = graph::build_sync_graph(facts_, recorded);
    profile_.critical_ns = graph.duration_ns();
    std::vector<std::vector<graph::PathPart>> runs(trace_.threads.size());  // of the path, by thread
    for (const graph::PathPart& part : graph::critical_path(graph, recorded)) {
      if (part.handed != UINT32_MAX) {
        critical_ns_[part.handed] += part.end_ns - part.begin_ns;
      } else if (!part.woken) {
        runs[part.thread.index()].push_back(part);
      }
    }
    for (size_t s = 0; s < sections_.size(); ++s) {
      const CriticalSection& section = sections_[s];
      const auto& of_thread = runs[section.thread.index()];
      auto part = std::partition_point(of_thread.begin(), of_thread.end(),
                                       [&](const graph::PathPart& each) { return each.end_ns <= section.acquire_ns; });
      for (; part != of_thread.end() && part->begin_ns < section.release_ns; ++part) {
        critical_ns_[s] += std::min(part->end_ns, section.release_ns) - std::max(part->begin_ns, section.acquire_ns);
      }
    }
  }

  double share(int64_t part_ns, int64_t whole_ns) const {
    return whole_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0;
  }

  // A row takes as much memory as several events: those that will not be shown are thrown away now and then.
  size_t rows_kept() const { return options_.rows_max > SIZE_MAX / 4 ? SIZE_MAX : 2 * options_.rows_max + 1000; }

  void add_rows(LockId lock, LockTotals& totals) {
    totals.gathered.finish();
    const bool is_lock = model::is_held(trace_.locks[lock.index()].kind) || locks_by_use_[lock.index()];
    if (options_.locks_only && !is_lock) {
      ++profile_.left_out;
      profile_.left_out_wait_ns = base::add_saturated(profile_.left_out_wait_ns, totals.gathered.use.wait.total_ns);
      return;
    }
    LockRowStats row{lock, totals.instances, totals.gathered.use};
    row.is_lock = is_lock;
    row.held_share = share(totals.held_ns, profile_.run_ns);
    row.wait_share = share(row.use.wait.total_ns, profile_.threads_ns);
    row.critical_share = share(row.use.critical_ns, profile_.critical_ns);
    std::sort(totals.threads.begin(), totals.threads.end());
    row.threads =
        static_cast<uint32_t>(std::unique(totals.threads.begin(), totals.threads.end()) - totals.threads.begin());
    ++profile_.lock_count;
    profile_.locks.push_back(row);
    if (profile_.locks.size() >= rows_kept()) cut(profile_.locks);
    for (auto& [site, gathered] : totals.sites) add_site_row(lock, site, gathered);
  }

  void add_site_row(LockId lock, uint32_t site, Gathered& gathered) {
    gathered.finish();
    LockSiteStats row{lock, site, gathered.use};
    row.wait_share = share(row.use.wait.total_ns, profile_.threads_ns);
    row.critical_share = share(row.use.critical_ns, profile_.critical_ns);
    const auto most = std::max_element(gathered.owners_ns.begin(), gathered.owners_ns.end(),
                                       [](const auto& x, const auto& y) { return x.second < y.second; });
    if (most != gathered.owners_ns.end()) {
      row.owner_site = most->first;
      row.owner_share = std::min(share(most->second, row.use.wait.total_ns), 1.0);  // readers hold it together
    }
    ++profile_.lock_site_count;
    profile_.lock_sites.push_back(row);
    if (profile_.lock_sites.size() >= rows_kept()) cut(profile_.lock_sites);
  }

  static auto order_of(const LockRowStats& row) {
    return std::tuple(-row.use.wait.total_ns, -int64_t{row.use.acquisitions}, row.lock);
  }
  static auto order_of(const LockSiteStats& row) {
    return std::tuple(-row.use.wait.total_ns, -int64_t{row.use.acquisitions}, row.lock, row.site);
  }

  // Leaves the first rows, the longest waited for first. In place: a stable sort would need the rows twice.
  template <typename Row>
  void cut(std::vector<Row>& rows) {
    std::ranges::sort(rows, {}, [](const Row& row) { return order_of(row); });
    if (rows.size() > options_.rows_max)
      rows.erase(rows.begin() + static_cast<ptrdiff_t>(options_.rows_max), rows.end());
  }

  const model::Facts& facts_;
  const model::Trace& trace_;
  const LockProfileOptions options_;
  const std::vector<CriticalSection>& sections_;
  const std::vector<model::SyncWake>& wakes_;
  std::vector<bool> locks_by_use_;
  std::vector<model::LockWait> waits_;
  const std::vector<uint32_t> groups_;  // by lock
  CpuTimes cpu_;
  LockProfile profile_;
  std::vector<FailedTry> failed_tries_;  // in the order of locks
  std::vector<int64_t> critical_ns_;     // by section, of the critical path
  LockSites sites_of_;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> waits_of_thread_;
};

}  // namespace

std::string lock_name(const model::Trace& trace, LockId lock) {
  return model::lock_label(trace, lock);
}

LockProfile lock_profile(const model::Facts& facts, const LockProfileOptions& options) {
  return LockProfiler(facts, options).run();
}

}  // namespace contrafact::analysis
