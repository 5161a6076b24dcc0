#include "analysis/inner_guards.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/made_locks.h"
#include "graph/lock_cells.h"
#include "model/section_sets.h"

namespace contrafact::analysis {
namespace {

using model::CriticalSection;
using model::EventKind;

// What bounds the memory, whatever a trace claims.
constexpr size_t kNestedMax = 16;
constexpr size_t kTouchesMax = 16 << 20;

// One set of the accesses of a section, and the sections inside of it that were open then: from `inner_begin` to
// `inner_end` in `inner_`.
struct Touch {
  uint32_t section = 0;
  uint32_t set = 0;
  uint32_t inner_begin = 0, inner_end = 0;
};

class Guards {
 public:
  Guards(const model::Trace& trace, std::span<const CriticalSection> sections, const model::SectionSets& sets,
         const LockSites& sites, std::span<const uint32_t> site_of)
      : trace_(trace),
        sections_(sections),
        sites_(sites),
        site_of_(site_of),
        closed_by_(made_locks(trace, sections, sets, site_of)),
        touches_(trace.locks.size()) {}

  std::vector<InnerGuard> run() {
    list_events();
    for (uint32_t t = 0; t < trace_.threads.size() && count_ < kTouchesMax; ++t)
      scan(trace_.thread_events(model::ThreadId(t)));
    std::vector<InnerGuard> guards(trace_.locks.size());
    if (count_ >= kTouchesMax) return guards;
    for (size_t lock = 0; lock < touches_.size(); ++lock) {
      const std::vector<Touch>& of_lock = touches_[lock];
      const bool any = std::ranges::any_of(of_lock, [](const Touch& t) { return t.inner_begin < t.inner_end; });
      if (!any) continue;
      if (all_.sets.empty()) all_.sets = trace_.access_sets, all_.ranges = trace_.access_ranges;
      guards[lock] = guard_of(of_lock);
    }
    return guards;
  }

 private:
  void list_events() {
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      const CriticalSection& section = sections_[s];
      if (section.outcome != model::Outcome::normal || !model::is_held(trace_.locks[section.lock.index()].kind))
        continue;
      begins_.emplace(section.acquire.value, s);
      if (section.release.valid()) ends_.emplace(section.release.value, s);
      if (closed_by_[s] != kTakesNothing) taken_by_.emplace(closed_by_[s], s);
    }
  }

  void scan(model::EventRange range) {
    std::vector<uint32_t> open;
    for (uint32_t i = range.begin; i < range.end && count_ < kTouchesMax; ++i) {
      const EventKind kind = trace_.kind[i];
      if (kind == EventKind::accesses && trace_.a[i] < trace_.access_sets.size()) take(open, trace_.a[i]);
      if (kind == EventKind::lock_release) {
        if (const auto end = ends_.find(i); end != ends_.end()) close(end->second, open);
      } else if (const auto begin = begins_.find(i); begin != begins_.end() && open.size() < kNestedMax) {
        open.push_back(begin->second);
      }
    }
  }

  // A section that acquires a lock of the program's own making stays open until another section releases that lock.
  void close(uint32_t section, std::vector<uint32_t>& open) const {
    if (closed_by_[section] == kTakesNothing) std::erase(open, section);
    if (const auto taken = taken_by_.find(section); taken != taken_by_.end()) std::erase(open, taken->second);
  }

  void take(const std::vector<uint32_t>& open, uint32_t set) {
    const auto begin = static_cast<uint32_t>(inner_.size());
    inner_.insert(inner_.end(), open.begin(), open.end());
    for (uint32_t i = 0; i < open.size(); ++i)
      touches_[sections_[open[i]].lock.index()].push_back(
          {open[i], set, begin + i + 1, static_cast<uint32_t>(inner_.size())});
    count_ += open.size();
  }

  std::span<const uint32_t> inner_of(const Touch& touch) const {
    return std::span(inner_).subspan(touch.inner_begin, touch.inner_end - touch.inner_begin);
  }

  InnerGuard guard_of(const std::vector<Touch>& touches) {
    std::vector<uint32_t> sets;
    for (const Touch& touch : touches) sets.push_back(touch.set);
    std::ranges::sort(sets);
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    const auto cells = graph::LockCells::make(all_, std::move(sets), graph::kCellUsesMax);
    if (!cells) return {};
    std::vector<model::LockId> guard = locks_of_all(*cells, touches);
    leave_out_what_follows(*cells, touches, guard);
    InnerGuard found;
    for (uint32_t cell = 0; cell < guard.size(); ++cell) {
      if (!guard[cell].valid()) continue;
      const uint64_t begin = cells->address(cell), end = cells->end_address(cell);
      const bool goes_on = !found.ranges.empty() && found.ranges.back().second == begin;
      if (goes_on)
        found.ranges.back().second = end;
      else
        found.ranges.emplace_back(begin, end);
    }
    found.at = most_used(touches);
    found.is_made = std::ranges::any_of(touches, [&](const Touch& touch) {
      return std::ranges::any_of(inner_of(touch), [&](uint32_t s) { return closed_by_[s] != kTakesNothing; });
    });
    return found;
  }

  // By cell: the lock that all sections hold inside when they touch the cell; none if there is no such lock.
  std::vector<model::LockId> locks_of_all(const graph::LockCells& cells, const std::vector<Touch>& touches) const {
    std::vector<std::optional<std::vector<model::LockId>>> held(cells.cell_count());
    for (const Touch& touch : touches) {
      for (const graph::CellUse& use : cells.of(touch.set)) {
        std::optional<std::vector<model::LockId>>& known = held[use.cell];
        const auto is_held_now = [&](model::LockId lock) {
          return std::ranges::any_of(inner_of(touch), [&](uint32_t s) {
            return sections_[s].lock == lock && !(use.writes && sections_[s].shared);
          });
        };
        if (known) {
          std::erase_if(*known, [&](model::LockId lock) { return !is_held_now(lock); });
          continue;
        }
        known.emplace();
        for (const uint32_t s : inner_of(touch)) {
          if (is_held_now(sections_[s].lock)) known->push_back(sections_[s].lock);
        }
      }
    }
    std::vector<model::LockId> guard(held.size());
    for (size_t cell = 0; cell < held.size(); ++cell) {
      if (held[cell] && !held[cell]->empty()) guard[cell] = held[cell]->front();
    }
    return guard;
  }

  // Leaves out bytes that a section looks at in one inner section and changes in a later one.
  void leave_out_what_follows(const graph::LockCells& cells, const std::vector<Touch>& touches,
                              std::vector<model::LockId>& guard) const {
    struct Seen {
      uint32_t section = UINT32_MAX, inner = UINT32_MAX;
      bool written = false, looked_before = false;
    };
    std::vector<Seen> last(guard.size());
    for (const Touch& touch : touches) {
      for (const graph::CellUse& use : cells.of(touch.set)) {
        if (!guard[use.cell].valid()) continue;
        uint32_t inner = UINT32_MAX;
        for (const uint32_t s : inner_of(touch)) {
          if (sections_[s].lock == guard[use.cell]) inner = s;
        }
        Seen& seen = last[use.cell];
        if (seen.section != touch.section) seen = {touch.section, inner};
        if (seen.inner != inner) seen = {touch.section, inner, false, seen.looked_before || !seen.written};
        seen.written |= use.writes;
        if (seen.written && seen.looked_before) guard[use.cell] = {};
      }
    }
  }

  std::string most_used(const std::vector<Touch>& touches) const {
    std::map<uint32_t, size_t> of_site;
    for (const Touch& touch : touches) {
      for (const uint32_t s : inner_of(touch)) ++of_site[site_of_[s]];
    }
    const auto most = std::ranges::max_element(of_site, {}, [](const auto& each) { return each.second; });
    return most == of_site.end() ? "" : sites_.sites()[most->first].label;
  }

  const model::Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const LockSites& sites_;
  const std::span<const uint32_t> site_of_;
  const std::vector<uint32_t> closed_by_;                 // by section (made_locks)
  std::unordered_map<uint32_t, uint32_t> taken_by_;       // the other way round
  std::unordered_map<uint32_t, uint32_t> begins_, ends_;  // sections by event
  std::vector<std::vector<Touch>> touches_;               // by lock; those of a section one after the other
  std::vector<uint32_t> inner_;                           // open sections at each touch, the outermost first
  size_t count_ = 0;
  model::SectionSets all_;
};

}  // namespace

bool InnerGuard::covers(uint64_t begin, uint64_t end) const {
  const auto after = std::ranges::upper_bound(ranges, begin, {}, &std::pair<uint64_t, uint64_t>::first);
  return after != ranges.begin() && std::prev(after)->second >= end;
}

std::vector<InnerGuard> inner_guards(const model::Trace& trace, std::span<const CriticalSection> sections,
                                     const model::SectionSets& sets, const LockSites& sites,
                                     std::span<const uint32_t> site_of) {
  return Guards(trace, sections, sets, sites, site_of).run();
}

}  // namespace contrafact::analysis
