#include "improve/unseen_writes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace contrafact::improve {
namespace {

using graph::CellUse;
using model::LockId;

// Two fields of one entry of a table are no further apart.
constexpr uint64_t kBeside = 128;

// How often a set was observed under a lock, by its number.
using Counts = std::unordered_map<uint32_t, uint64_t>;

Counts observed_counts(const LockUses& uses, LockId id) {
  Counts counts;
  for (const analysis::ObservedSection& section : uses.facts().observed_order[id.index()])
    if (section.set != analysis::kNotObserved) ++counts[section.set];
  return counts;
}

bool is_handed_on(const LockUses::Lock& lock, uint32_t cell) {
  return lock.passages[cell] == Passage::handed_on;
}

// A section knows what it writes itself.
bool only_reads(const CellUse& use) {
  return use.reads && !use.writes;
}

// Others may come to it while the lock is free.
bool is_open(const LockUses::Lock& lock, uint32_t cell) {
  return lock.shared[cell] && !is_handed_on(lock, cell);
}

bool reads_any(const LockUses::Lock& lock, uint32_t set, const std::vector<bool>& cells) {
  return std::ranges::any_of(lock.cells->of(set),
                             [&](const CellUse& use) { return only_reads(use) && cells[use.cell]; });
}

// The sets of the parts of a section's beginning, and of its end.
using PartSets = std::array<std::vector<uint32_t>, 2>;

PartSets part_sets(const model::SectionSets& sets, uint32_t s) {
  PartSets found;
  for (const auto& part : sets.parts_of(sets.head[s])) found[0].push_back(part.set);
  for (const auto& part : sets.parts_of(sets.tail[s])) found[1].push_back(part.set);
  return found;
}

// Cells that a section reads before it comes to `reached` lead there: a table's root, a list's head. By cell: in how
// many sections. Many have equal parts: those that were not observed have the parts of others.
std::vector<uint32_t> count_ways(const LockUses& uses, const LockUses::Lock& lock, const std::vector<uint32_t>& of_site,
                                 const std::vector<bool>& reached) {
  std::map<PartSets, uint32_t> sections;  // of equal parts
  for (const uint32_t s : of_site) ++sections[part_sets(uses.facts().sets, s)];
  std::vector<uint32_t> leading(reached.size());
  const auto reaches = [&](uint32_t set) { return reads_any(lock, set, reached); };
  for (const auto& [ends, count] : sections) {
    std::set<uint32_t> seen;
    for (const std::vector<uint32_t>& parts : ends) {
      const auto last = std::find_if(parts.rbegin(), parts.rend(), reaches).base();
      for (auto set = parts.begin(); set != last; ++set) {
        for (const CellUse& use : lock.cells->of(*set))
          if (only_reads(use) && is_open(lock, use.cell) && seen.insert(use.cell).second) leading[use.cell] += count;
      }
    }
  }
  return leading;
}

// What few of a site's sections write.
struct Write {
  uint32_t cell = 0;
  model::ThreadId thread;
  bool by_several = false;  // threads
  bool is_beside = false;   // what the site that may change reads
};

// The writes in the sets of one site whose places may vary. A place that was observed once may be another one each
// time. Writes at first use only do not count: they come to an end.
std::vector<Write> varying_writes(const LockUses::Lock& lock, const std::map<uint32_t, model::ThreadId>& thread_of_set,
                                  const Counts& counts) {
  constexpr uint64_t kSeldom = 4;                  // one of so many
  std::unordered_map<uint32_t, uint64_t> writing;  // by cell
  uint64_t all = 0;
  const auto count_of = [&](uint32_t set) {
    const auto known = counts.find(set);
    return known == counts.end() ? uint64_t{1} : known->second;
  };
  for (const auto& [set, thread] : thread_of_set) {
    all += count_of(set);
    for (const CellUse& use : lock.cells->of(set))
      if (use.writes && !is_handed_on(lock, use.cell)) writing[use.cell] += count_of(set);
  }
  std::map<uint32_t, Write> found;
  for (const auto& [set, thread] : thread_of_set) {
    for (const CellUse& use : lock.cells->of(set)) {
      if (!use.writes || is_handed_on(lock, use.cell) || lock.settled[use.cell]) continue;
      const uint64_t sections = writing[use.cell];
      if (sections > 1 && sections * kSeldom > all) continue;
      const auto [known, added] = found.try_emplace(use.cell, Write{use.cell, thread});
      known->second.by_several |= known->second.thread != thread;
    }
  }
  std::vector<Write> writes;
  for (const auto& [cell, write] : found) writes.push_back(write);
  return writes;
}

// Marks the writes of other threads that lie beside data that the set reads and several threads use.
void mark_beside(const LockUses::Lock& lock, uint32_t set, model::ThreadId reader, std::vector<Write>& writes) {
  const graph::LockCells& cells = *lock.cells;
  for (const CellUse& use : cells.of(set)) {
    if (!only_reads(use) || !is_open(lock, use.cell)) continue;
    const uint64_t begin = cells.address(use.cell), end = cells.end_address(use.cell);
    auto write = std::ranges::lower_bound(writes, begin < kBeside ? 0 : begin - kBeside, {},
                                          [&](const Write& each) { return cells.end_address(each.cell); });
    for (; write != writes.end() && cells.address(write->cell) < end + kBeside; ++write)
      write->is_beside |= write->by_several || write->thread != reader;
  }
}

// Whether enough writes lie beside reads: some do by chance, as the last entry of a list beside a setting.
bool are_beside(const std::vector<Write>& writes) {
  constexpr size_t kByChance = 10;  // one of so many
  const auto beside = static_cast<size_t>(std::ranges::count_if(writes, &Write::is_beside));
  return beside > 0 && beside * kByChance >= writes.size();
}

// Whether there is a site of which no section was observed: it may write anything. Not counted: sections before there
// was a second thread, and a site that ran once, to begin or end something.
bool has_unknown_site(const LockUses& uses, const LockUses::Lock& lock) {
  const model::ThreadId first = uses.section(lock.begin).thread;
  bool alone = true;
  std::map<uint32_t, uint32_t> sections;  // by site
  for (uint32_t s = lock.begin; s < lock.end; ++s) {
    if (!uses.counts(s)) continue;
    alone &= uses.section(s).thread == first;
    const uint32_t site = uses.facts().site_of[s];
    if (!alone && uses.facts().observed[site] == 0 && !uses.is_known(s) && ++sections[site] > 1) return true;
  }
  return false;
}

}  // namespace

UnseenWrites::UnseenWrites(const LockUses& uses, const std::vector<uint32_t>& of_site) : uses_(uses) {
  std::map<uint32_t, std::vector<uint32_t>> by_lock;
  for (const uint32_t s : of_site) by_lock[uses.section(s).lock.value].push_back(s);
  for (const auto& [lock, sections] : by_lock) look_at(LockId(lock), sections);
}

void UnseenWrites::look_at(LockId id, const std::vector<uint32_t>& of_site) {
  const LockUses::Lock& lock = uses_.lock(id);
  if (!lock.cells) return;
  const analysis::SectionFacts& facts = uses_.facts();
  const Counts counts = observed_counts(uses_, id);
  std::map<uint32_t, std::map<uint32_t, model::ThreadId>> sets_of_site;
  uses_.each_section(std::span(&id, 1), [&](uint32_t s) {
    if (uses_.is_known(s)) sets_of_site[facts.site_of[s]].try_emplace(facts.sets.of_section[s], facts.touched_by[s]);
  });
  std::map<uint32_t, model::ThreadId> own_sets;
  std::vector<uint32_t> reading(lock.cells->cell_count());  // sections of the site, by cell
  std::vector<model::ThreadId> reader(reading.size());      // likewise: the first of its threads
  std::vector<bool> by_several(reading.size());
  size_t readers = 0;  // of anything that is open and not disputed
  for (const uint32_t s : of_site) {
    if (!uses_.is_known(s)) continue;
    own_sets.try_emplace(facts.sets.of_section[s], facts.touched_by[s]);
    bool reads_any = false;
    for (const CellUse& use : lock.cells->of(facts.sets.of_section[s])) {
      if (only_reads(use)) {
        const model::ThreadId thread = facts.touched_by[s];
        if (++reading[use.cell] == 1) reader[use.cell] = thread;
        if (reader[use.cell] != thread) by_several[use.cell] = true;
      }
      reads_any |= only_reads(use) && is_open(lock, use.cell) && !lock.contested[use.cell];
    }
    readers += reads_any;
  }
  bool may_write = has_unknown_site(uses_, lock);
  for (const auto& [site, sets] : sets_of_site) {
    if (may_write) break;
    std::vector<Write> writes = varying_writes(lock, sets, counts);
    if (writes.empty()) continue;
    for (const auto& [set, thread] : own_sets) mark_beside(lock, set, thread, writes);
    may_write = are_beside(writes);
  }
  if (!may_write) return;
  constexpr size_t kMost = 2;  // half of them
  std::vector<bool> reached(reading.size());
  for (size_t cell = 0; cell < reading.size(); ++cell)
    reached[cell] =
        by_several[cell] && !is_handed_on(lock, static_cast<uint32_t>(cell)) && kMost * reading[cell] <= readers;
  const auto is_constant = [&](size_t cell) {
    return analysis::is_constant(facts.constants, lock.cells->address(static_cast<uint32_t>(cell)));
  };
  for (size_t cell = 0; cell < reading.size(); ++cell) reached[cell] = reached[cell] && !is_constant(cell);
  const std::vector<uint32_t> leading = count_ways(uses_, lock, of_site, reached);
  for (size_t cell = 0; cell < reading.size(); ++cell)
    reached[cell] =
        reached[cell] || (leading[cell] > 0 && kMost * leading[cell] >= reading[cell] && !is_constant(cell));
  reached_.emplace(id.value, std::move(reached));
}

bool UnseenWrites::may_reach(LockId lock, uint32_t set) const {
  const auto reached = reached_.find(lock.value);
  return reached != reached_.end() && reads_any(uses_.lock(lock), set, reached->second);
}

}  // namespace contrafact::improve
