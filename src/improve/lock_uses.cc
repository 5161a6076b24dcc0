#include "improve/lock_uses.h"

#include <algorithm>

namespace contrafact::improve {

using graph::CellUse;
using graph::LockCells;
using model::CriticalSection;
using model::EventKind;
using model::LockId;

LockUses::LockUses(const analysis::SectionFacts& facts)
    : facts_(facts), trace_(*facts.trace), locks_(trace_.locks.size()), groups_(trace_.locks.size()) {
  list_locks();
}

std::vector<std::vector<LockId>> LockUses::groups() {
  std::map<uint32_t, std::vector<LockId>> by_root;
  for (uint32_t lock = 0; lock < locks_.size(); ++lock) {
    if (locks_[lock].begin < locks_[lock].end) by_root[groups_.root(lock)].emplace_back(lock);
  }
  std::vector<std::vector<LockId>> waited;
  for (auto& [root, locks] : by_root) {
    if (std::ranges::any_of(locks, [&](LockId id) { return lock(id).waited; })) waited.push_back(std::move(locks));
  }
  return waited;
}

void LockUses::look_at(const std::vector<LockId>& locks) {
  by_site_.clear();
  each_section(locks, [&](uint32_t s) { by_site_[facts_.site_of[s]].push_back(s); });
  lone_sites_.clear();
  for (auto& [site, sections] : by_site_) {
    std::ranges::sort(sections);
    const model::ThreadId thread = section(sections[0]).thread;
    const auto same = [this, thread](uint32_t s) { return section(s).thread == thread; };
    if (std::ranges::all_of(sections, same)) lone_sites_.insert(site);
  }
  for (const LockId lock : locks) find_contested(locks_[lock.index()]);
  reader_sites_.clear();
  for (const auto& [site, sections] : by_site_) {
    if (may_read(sections)) reader_sites_.insert(site);
  }
}

void LockUses::forget(const std::vector<LockId>& locks) {
  for (const LockId lock : locks) locks_[lock.index()].cells.reset();
  by_site_.clear();
}

// Locks that the same code asks for belong to one group: it is the code that changes.
void LockUses::list_locks() {
  std::map<uint32_t, uint32_t> lock_of_site;
  for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
    if (!counts(s)) continue;
    const uint32_t lock = section(s).lock.value;
    Lock& info = locks_[lock];
    if (info.begin == info.end) info.begin = s;
    info.end = s + 1;
    info.waited |= section(s).contended();
    info.with_condition |= is_around_wait(s);
    info.unknown += !is_known(s);
    const auto [known, added] = lock_of_site.try_emplace(facts_.site_of[s], lock);
    if (!added) groups_.join(lock, known->second);
  }
}

bool LockUses::counts(uint32_t s) const {
  return section(s).outcome == model::Outcome::normal && model::is_held(trace_.locks[section(s).lock.index()].kind);
}

bool LockUses::follows_wait(uint32_t s) const {
  const uint32_t acquire = section(s).acquire.value;
  return acquire > 0 && trace_.kind[acquire - 1] == EventKind::sync_woken &&
         trace_.time_ns[acquire - 1] == trace_.time_ns[acquire];
}
bool LockUses::ends_in_wait(uint32_t s) const {
  if (!section(s).release.valid()) return false;
  const uint32_t after = section(s).release.value + 1;
  return after < trace_.event_count() && trace_.kind[after] == EventKind::sync_wait &&
         trace_.time_ns[after] == trace_.time_ns[after - 1];
}
// A thread that gives up a lock and asks for it again at once may have it for as long as sections are observed.
bool LockUses::is_seen_of_one(const Lock& lock) const {
  model::ThreadId seen, ran;
  bool several_ran = false;
  for (uint32_t s = lock.begin; s < lock.end; ++s) {
    if (!counts(s)) continue;
    several_ran |= ran.valid() && section(s).thread != ran;
    ran = section(s).thread;
    if (!is_known(s)) continue;
    if (seen.valid() && facts_.touched_by[s] != seen) return false;
    seen = facts_.touched_by[s];
  }
  return several_ran && seen.valid();
}

void LockUses::find_contested(Lock& lock) {
  lock.seen_of_one = is_seen_of_one(lock);
  std::vector<uint32_t> used;
  for (uint32_t s = lock.begin; s < lock.end; ++s) {
    if (!counts(s)) continue;
    used.push_back(facts_.sets.of_section[s]);
    for (const model::SectionSets::PartRange& range : {facts_.sets.head[s], facts_.sets.tail[s]}) {
      for (const model::SectionSets::Part& part : facts_.sets.parts_of(range)) used.push_back(part.set);
    }
  }
  for (const auto& [set, thread] : facts_.observed_order[section(lock.begin).lock.index()]) {
    if (set != analysis::kNotObserved) used.push_back(set);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  lock.cells = LockCells::make(facts_.sets, std::move(used), graph::kCellUsesMax);
  if (!lock.cells) return;
  struct Use {
    uint32_t thread = UINT32_MAX;
    bool several = false;
    bool written = false;
    bool lone = true;
    uint32_t last_write = 0;
  };
  std::vector<Use> uses(lock.cells->cell_count());
  for (uint32_t s = lock.begin; s < lock.end; ++s) {
    if (!counts(s)) continue;
    const uint32_t thread = facts_.touched_by[s].value;
    for (const CellUse& each : lock.cells->of(facts_.sets.of_section[s])) {
      Use& use = uses[each.cell];
      use.several |= lock.seen_of_one || (use.thread != UINT32_MAX && use.thread != thread);
      use.thread = thread;
      use.written |= each.writes;
      if (each.writes) use.last_write = s;
      use.lone &= lone_sites_.contains(facts_.site_of[s]);
    }
  }
  lock.shared.assign(uses.size(), false);
  lock.written.assign(uses.size(), false);
  lock.contested.assign(uses.size(), false);
  lock.guarded.assign(uses.size(), false);
  lock.settled.assign(uses.size(), false);
  lock.inside.assign(uses.size(), false);
  const analysis::InnerGuard& inner = facts_.inner_guards[section(lock.begin).lock.index()];
  const uint32_t settled_from = lock.settled_from();
  for (size_t cell = 0; cell < uses.size(); ++cell) {
    const bool is_guarded = uses[cell].several && uses[cell].written;
    const auto at = static_cast<uint32_t>(cell);
    lock.shared[cell] = uses[cell].several;
    lock.written[cell] = uses[cell].written;
    lock.inside[cell] = is_guarded && inner.covers(lock.cells->address(at), lock.cells->end_address(at));
    lock.contested[cell] = is_guarded && !lock.inside[cell];
    lock.settled[cell] = lock.contested[cell] && uses[cell].last_write < settled_from;
    lock.guarded[cell] = lock.contested[cell] || (uses[cell].written && uses[cell].lone);
  }
  lock.passages = cell_passages(*lock.cells, facts_.observed_order[section(lock.begin).lock.index()]);
}

bool LockUses::is_contested(LockId id, uint32_t set) const {
  const Lock& lock = locks_[id.index()];
  if (!lock.cells) return true;
  return std::ranges::any_of(lock.cells->of(set), [&](const CellUse& use) { return lock.contested[use.cell]; });
}
bool LockUses::is_disputed(LockId id, uint32_t set) const {
  const Lock& lock = locks_[id.index()];
  if (!lock.cells) return true;
  return std::ranges::any_of(lock.cells->of(set), [&](const CellUse& use) {
    return lock.contested[use.cell] && (use.writes || !lock.settled[use.cell]);
  });
}
bool LockUses::touches_written(LockId id, uint32_t set) const {
  const Lock& lock = locks_[id.index()];
  if (!lock.cells) return true;
  return std::ranges::any_of(lock.cells->of(set), [&](const CellUse& use) { return lock.written[use.cell]; });
}
Passage LockUses::passage(LockId id, uint32_t set) const {
  const Lock& lock = locks_[id.index()];
  if (!lock.cells) return Passage::unknown;
  Passage passage = Passage::handed_on;
  for (const CellUse& use : lock.cells->of(set)) {
    if (!lock.contested[use.cell] || (!use.writes && lock.settled[use.cell])) continue;
    if (lock.passages[use.cell] == Passage::taken) return Passage::taken;
    if (lock.passages[use.cell] == Passage::unknown) passage = Passage::unknown;
  }
  return passage;
}
bool LockUses::is_guarded(uint32_t s) const {
  const Lock& lock = locks_[section(s).lock.index()];
  return !lock.cells || std::ranges::any_of(lock.cells->of(facts_.sets.of_section[s]),
                                            [&](const CellUse& use) { return lock.guarded[use.cell]; });
}
bool LockUses::is_guarded_inside(uint32_t s) const {
  const Lock& lock = locks_[section(s).lock.index()];
  return lock.cells && std::ranges::any_of(lock.cells->of(facts_.sets.of_section[s]),
                                           [&](const CellUse& use) { return lock.inside[use.cell]; });
}
bool LockUses::is_harmless(uint32_t s) const {
  return is_known(s) && !is_around_wait(s) && !is_contested(s);
}

Candidate LockUses::candidate(const whatif::Optimisation* optimisation, std::vector<uint32_t> sections) const {
  std::sort(sections.begin(), sections.end());
  Candidate made;
  std::map<uint32_t, size_t> sites;
  for (const uint32_t s : sections) {
    ++sites[facts_.site_of[s]];
    if (made.locks.empty() || made.locks.back() != section(s).lock) made.locks.push_back(section(s).lock);
  }
  made.observed = 0;
  for (const auto& [site, count] : sites) {
    made.sites.push_back(site);
    *made.observed += facts_.observed[site];
  }
  if (std::ranges::any_of(sections, [&](uint32_t s) { return is_guarded_inside(s); })) {
    const analysis::InnerGuard& inner = facts_.inner_guards[section(sections[0]).lock.index()];
    made.guarded_at = inner.at;
    made.is_guard_made = inner.is_made;
  }
  std::ranges::stable_sort(made.sites, [&](uint32_t x, uint32_t y) { return sites[x] > sites[y]; });
  made.improvement = whatif::section_improvement(optimisation, std::move(sections));
  each_section(made.locks, [&](uint32_t s) {
    made.of_sections += sites.contains(facts_.site_of[s]);
    made.unknown += !is_known(s);
  });
  return made;
}

bool LockUses::only_reads(uint32_t s) const {
  return std::ranges::none_of(facts_.sets.ranges_of(facts_.sets.of_section[s]), [](const model::AccessRange& range) {
    return (range.flags & format::kAccessWrite) != 0 && !graph::is_atomic(range.flags);
  });
}

bool LockUses::writes_only_its_own(uint32_t s) const {
  const Lock& lock = locks_[section(s).lock.index()];
  return lock.cells && std::ranges::none_of(lock.cells->of(facts_.sets.of_section[s]),
                                            [&](const CellUse& use) { return use.writes && lock.guarded[use.cell]; });
}

bool LockUses::may_read(const std::vector<uint32_t>& sections) const {
  bool only_read = true, any_contested = false;
  for (const uint32_t s : sections) {
    if (is_around_wait(s)) return false;
    if (!is_known(s)) continue;
    if (!only_reads(s)) only_read = false;
    if (!only_reads(s) && !writes_only_its_own(s)) return false;
    any_contested |= is_contested(s);
  }
  return only_read || any_contested;
}

bool LockUses::is_mostly_read(const Lock& lock) const {
  size_t all = 0, reading = 0;
  for (uint32_t s = lock.begin; s < lock.end; ++s) {
    all += counts(s);
    reading += counts(s) && !section(s).shared && reader_sites_.contains(facts_.site_of[s]);
  }
  return 2 * reading > all;
}

bool LockUses::are_few_unknown(const Lock& lock) const {
  constexpr uint64_t kRare = 20;  // one of so many
  uint64_t all = 0;
  for (uint32_t s = lock.begin; s < lock.end; ++s) all += counts(s);
  return lock.unknown * kRare <= all;
}

std::string_view LockUses::not_judged(LockId id, bool but_for_unknown) const {
  const Lock& lock = locks_[id.index()];
  if (lock.with_condition) return "threads wait at a condition with it";
  if (lock.unknown > 0 && !but_for_unknown) return "it has sections whose reads and writes are not known";
  if (!lock.cells) return "not compared: its sections touch more than a thousand million places in sum";
  return "";
}

}  // namespace contrafact::improve
