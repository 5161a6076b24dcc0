// What the critical sections of each lock do to the data that the lock guards: which bytes are contested, and which
// sections need no exclusion (lock_candidates.h defines both). Every kind of candidate starts from it.
//
// One group of locks is looked at at a time. Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/section_facts.h"
#include "graph/lock_cells.h"
#include "improve/candidate.h"
#include "improve/hand_over_cells.h"

namespace contrafact::improve {

// Disjoint sets of the numbers below `count`.
class Unions {
 public:
  explicit Unions(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t root(uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void join(uint32_t x, uint32_t y) { parent_[root(x)] = root(y); }

 private:
  std::vector<uint32_t> parent_;
};

// No memory lies there (docs/format.md).
constexpr bool is_kernel_state(uint64_t address) {
  return address >> 63 != 0;
}

// Stands for making a file's earlier writes durable (docs/format.md). That may happen later, but not earlier.
constexpr bool is_made_durable(uint64_t address) {
  return address >> 56 == 0x8a;
}

class LockUses {
 public:
  using SectionsOfSite = std::map<uint32_t, std::vector<uint32_t>>;

  // The facts about one lock.
  struct Lock {
    uint32_t begin = 0, end = 0;  // its sections
    bool waited = false;          // a thread waited for it
    bool with_condition = false;  // it is released while waiting at a condition
    bool seen_of_one = false;  // several threads ran its sections, and what is known is of one: taken for all threads'
    uint64_t unknown = 0;
    std::optional<graph::LockCells> cells;
    std::vector<bool> shared;       // by cell: several threads use it
    std::vector<bool> written;      // by cell
    std::vector<bool> contested;    // by cell: several threads use it, one writes it, and no inner lock guards it
    std::vector<bool> guarded;      // by cell: contested; or written, and touched by sections of lone sites only
    std::vector<bool> settled;      // by cell: contested, and written only by the first sections
    std::vector<Passage> passages;  // likewise
    std::vector<bool> inside;       // by cell: several threads use it, and a lock that they take inside guards it, too

    // The first section behind the beginning, a twentieth of all: what only sections before it write is settled.
    uint32_t settled_from() const { return begin + (end - begin) / 20; }
  };

  explicit LockUses(const analysis::SectionFacts& facts);

  // Groups of locks that the same code asks for, at least one of which was waited for: a change of that code affects
  // them all.
  std::vector<std::vector<model::LockId>> groups();
  // The questions that follow are about these locks. REQUIRES: one of groups().
  void look_at(const std::vector<model::LockId>& locks);
  // Frees the memory for these locks.
  void forget(const std::vector<model::LockId>& locks);

  const analysis::SectionFacts& facts() const { return facts_; }
  const model::Trace& trace() const { return trace_; }
  const Lock& lock(model::LockId id) const { return locks_[id.index()]; }
  const Lock& lock_of(uint32_t s) const { return lock(section(s).lock); }
  const model::CriticalSection& section(uint32_t s) const { return facts_.sections[s]; }
  // Sections by the code that asks for them, in the order of their numbers.
  const SectionsOfSite& by_site() const { return by_site_; }

  // The section held its lock.
  bool counts(uint32_t s) const;
  bool is_known(uint32_t s) const { return facts_.sets.is_complete(facts_.sets.of_section[s]); }
  // It begins with the end of a wait at a condition, or ends in one: the wait needs the mutex.
  bool follows_wait(uint32_t s) const;
  bool ends_in_wait(uint32_t s) const;
  bool is_around_wait(uint32_t s) const { return follows_wait(s) || ends_in_wait(s); }
  // Whether a set, in use under the lock, touches a contested byte.
  bool is_contested(model::LockId id, uint32_t set) const;
  // The same of a whole section.
  bool is_contested(uint32_t s) const { return is_contested(section(s).lock, facts_.sets.of_section[s]); }
  // As is_contested, except that reads of settled data do not count: data that was made at first use (a locale's
  // tables) keeps no later reader within the lock.
  bool is_disputed(model::LockId id, uint32_t set) const;
  // Whether a set, in use under the lock, touches a byte that any of its sections writes.
  bool touches_written(model::LockId id, uint32_t set) const;
  // It makes earlier writes to a file durable.
  bool makes_durable(uint32_t set) const {
    return std::ranges::any_of(facts_.sets.ranges_of(set),
                               [](const model::AccessRange& range) { return is_made_durable(range.begin); });
  }
  // For the disputed cells of the set: handed_on if all of them are, or if there are none; taken if one of them is.
  Passage passage(model::LockId id, uint32_t set) const;
  bool is_guarded(uint32_t s) const;
  bool is_harmless(uint32_t s) const;
  // It touches data that a lock inside of it guards, too.
  bool is_guarded_inside(uint32_t s) const;
  bool only_reads(uint32_t s) const;
  // No other thread uses, under the lock, the data that it writes (such as a local variable in its caller's frame).
  // Several such sections that read the same data may run at a time.
  bool writes_only_its_own(uint32_t s) const;
  bool may_share(uint32_t s) const { return only_reads(s) || writes_only_its_own(s); }
  // One thread ran all of the site's sections.
  bool is_lone(uint32_t site) const { return lone_sites_.contains(site); }
  // The site's sections may share the lock as readers: none of them writes anything, or some touch contested data and
  // so need the lock.
  bool is_reader(uint32_t site) const { return reader_sites_.contains(site); }
  // Most sections of the lock only read, and some of them read written data: where the lock's parts lie depends on the
  // data.
  bool is_mostly_read(const Lock& lock) const;
  // Why the lock's sections cannot be judged as a whole; empty: they can.
  std::string_view not_judged(model::LockId id, bool but_for_unknown = false) const;
  // Few of the lock's sections are not known: they can go on excluding all others.
  bool are_few_unknown(const Lock& lock) const;

  template <typename Visit>
  void each_section(std::span<const model::LockId> locks, Visit visit) const {
    for (const model::LockId id : locks) {
      for (uint32_t s = lock(id).begin; s < lock(id).end; ++s) {
        if (counts(s)) visit(s);
      }
    }
  }

  // A candidate with the places and locks of these sections, which may come in any order.
  Candidate candidate(const whatif::Optimisation* optimisation, std::vector<uint32_t> sections) const;

 private:
  void list_locks();
  void find_contested(Lock& lock);
  bool is_seen_of_one(const Lock& lock) const;
  bool may_read(const std::vector<uint32_t>& sections) const;

  const analysis::SectionFacts& facts_;
  const model::Trace& trace_;
  std::vector<Lock> locks_;  // by lock
  Unions groups_;            // of locks
  SectionsOfSite by_site_;
  std::set<uint32_t> lone_sites_;
  std::set<uint32_t> reader_sites_;
};

}  // namespace contrafact::improve
