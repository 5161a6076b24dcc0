#include "improve/lock_candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <string>

#include "graph/lock_cells.h"

namespace contrafact::improve {
namespace {

using analysis::SectionFacts;
using graph::CellUse;
using graph::LockCells;
using model::CriticalSection;
using model::EventKind;
using model::LockId;
using whatif::Optimisation;

// No memory lies there (docs/format.md).
constexpr bool is_kernel_state(uint64_t address) {
  return address >> 63 != 0;
}

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

// What is known of one lock.
struct Lock {
  uint32_t begin = 0, end = 0;  // its sections
  bool waited = false;          // somebody waited for it
  bool with_condition = false;  // it is given up while waiting at a condition
  uint64_t unknown = 0;
  std::optional<LockCells> cells;
  std::vector<bool> contested;  // by cell
  std::vector<bool> guarded;    // likewise: or written, and all that touch it are sections of lone sites
};

class Finder {
 public:
  explicit Finder(const SectionFacts& facts)
      : facts_(facts), trace_(*facts.trace), locks_(trace_.locks.size()), groups_(trace_.locks.size()) {}

  Candidates run() {
    list_locks();
    std::map<uint32_t, std::vector<LockId>> groups;
    for (uint32_t lock = 0; lock < locks_.size(); ++lock) {
      if (locks_[lock].begin < locks_[lock].end) groups[groups_.root(lock)].emplace_back(lock);
    }
    for (const auto& [root, locks] : groups) {
      if (std::ranges::none_of(locks, [&](LockId lock) { return locks_[lock.index()].waited; })) continue;
      look_at(locks);
    }
    return std::move(found_);
  }

 private:
  using SectionsOfSite = std::map<uint32_t, std::vector<uint32_t>>;

  const CriticalSection& section(uint32_t s) const { return facts_.sections[s]; }
  bool is_known(uint32_t s) const { return facts_.sets.is_complete(facts_.sets.of_section[s]); }

  // A lock's sections belong together with those of others that the same code takes: it is the code that changes.
  void list_locks() {
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

  bool counts(uint32_t s) const {
    return section(s).outcome == model::Outcome::normal && model::is_held(trace_.locks[section(s).lock.index()].kind);
  }

  // It begins with the end of a wait at a condition, or ends in one: the wait needs the mutex.
  bool follows_wait(uint32_t s) const {
    const uint32_t acquire = section(s).acquire.value;
    return acquire > 0 && trace_.kind[acquire - 1] == EventKind::sync_woken &&
           trace_.time_ns[acquire - 1] == trace_.time_ns[acquire];
  }
  bool ends_in_wait(uint32_t s) const {
    if (!section(s).release.valid()) return false;
    const uint32_t after = section(s).release.value + 1;
    return after < trace_.event_count() && trace_.kind[after] == EventKind::sync_wait &&
           trace_.time_ns[after] == trace_.time_ns[after - 1];
  }
  bool is_around_wait(uint32_t s) const { return follows_wait(s) || ends_in_wait(s); }

  template <typename Visit>
  void each_section(const std::vector<LockId>& locks, Visit visit) const {
    for (const LockId lock : locks) {
      for (uint32_t s = locks_[lock.index()].begin; s < locks_[lock.index()].end; ++s) {
        if (counts(s)) visit(s);
      }
    }
  }

  void look_at(const std::vector<LockId>& locks) {
    SectionsOfSite by_site;
    each_section(locks, [&](uint32_t s) { by_site[facts_.site_of[s]].push_back(s); });
    lone_sites_.clear();
    for (const auto& [site, sections] : by_site) {
      const model::ThreadId thread = section(sections[0]).thread;
      const auto same = [this, thread](uint32_t s) { return section(s).thread == thread; };
      if (std::ranges::all_of(sections, same)) lone_sites_.insert(site);
    }
    for (const LockId lock : locks) find_contested(locks_[lock.index()]);
    reader_sites_.clear();
    for (const auto& [site, sections] : by_site) {
      if (may_read(sections)) reader_sites_.insert(site);
    }
    for (auto& [site, sections] : by_site) {
      std::sort(sections.begin(), sections.end());
      try_drop(sections);
    }
    for (const auto& [function, sections] : by_function(by_site)) try_shorten(sections);
    try_readers(by_site);
    try_atomic(locks);
    try_split(locks);
    for (const LockId lock : locks) locks_[lock.index()].cells.reset();
  }

  // What one function does to its section may be asked for in two places: where it locks and, with a condition, where
  // it waits. Without conditions each site is by itself.
  SectionsOfSite by_function(const SectionsOfSite& by_site) const {
    SectionsOfSite groups;
    std::map<std::string, uint32_t> first_site;  // by function
    for (const auto& [site, sections] : by_site) {
      const model::ContextId context = facts_.sites.sites()[site].context;
      const bool is_with_condition = locks_[section(sections[0]).lock.index()].with_condition;
      uint32_t group = site;
      if (is_with_condition && context.valid() && trace_.contexts[context.index()].method.valid()) {
        const std::string function = trace_.method_label(trace_.contexts[context.index()].method);
        group = first_site.try_emplace(function, site).first->second;
      }
      groups[group].insert(groups[group].end(), sections.begin(), sections.end());
    }
    return groups;
  }

  void find_contested(Lock& lock) {
    std::vector<uint32_t> used;
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!counts(s)) continue;
      used.push_back(facts_.sets.of_section[s]);
      for (const model::SectionSets::PartRange& range : {facts_.sets.head[s], facts_.sets.tail[s]}) {
        for (const model::SectionSets::Part& part : facts_.sets.parts_of(range)) used.push_back(part.set);
      }
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
    };
    std::vector<Use> uses(lock.cells->cell_count());
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!counts(s)) continue;
      for (const CellUse& each : lock.cells->of(facts_.sets.of_section[s])) {
        Use& use = uses[each.cell];
        use.several |= use.thread != UINT32_MAX && use.thread != section(s).thread.value;
        use.thread = section(s).thread.value;
        use.written |= each.writes;
        use.lone &= lone_sites_.contains(facts_.site_of[s]);
      }
    }
    lock.contested.assign(uses.size(), false);
    lock.guarded.assign(uses.size(), false);
    for (size_t cell = 0; cell < uses.size(); ++cell) {
      lock.contested[cell] = uses[cell].several && uses[cell].written;
      lock.guarded[cell] = lock.contested[cell] || (uses[cell].written && uses[cell].lone);
    }
  }

  // Whether a set, in use under the lock, touches a contested byte.
  bool is_contested(LockId id, uint32_t set) const {
    const Lock& lock = locks_[id.index()];
    if (!lock.cells) return true;
    return std::ranges::any_of(lock.cells->of(set), [&](const CellUse& use) { return lock.contested[use.cell]; });
  }
  bool is_guarded(uint32_t s) const {
    const Lock& lock = locks_[section(s).lock.index()];
    return std::ranges::any_of(lock.cells->of(facts_.sets.of_section[s]),
                               [&](const CellUse& use) { return lock.guarded[use.cell]; });
  }
  bool is_harmless(uint32_t s) const {
    return is_known(s) && !is_around_wait(s) && !is_contested(section(s).lock, facts_.sets.of_section[s]);
  }

  Candidate candidate(Optimisation optimisation, std::vector<uint32_t> sections) const {
    std::sort(sections.begin(), sections.end());
    Candidate made;
    std::map<uint32_t, size_t> sites;
    for (const uint32_t s : sections) {
      ++sites[facts_.site_of[s]];
      if (made.locks.empty() || made.locks.back() != section(s).lock) made.locks.push_back(section(s).lock);
    }
    for (const auto& [site, count] : sites) made.sites.push_back(site);
    std::ranges::stable_sort(made.sites, [&](uint32_t x, uint32_t y) { return sites[x] > sites[y]; });
    made.improvement = whatif::section_improvement(optimisation, std::move(sections));
    each_section(made.locks, [&](uint32_t s) {
      made.of_sections += sites.contains(facts_.site_of[s]);
      made.unknown += !is_known(s);
    });
    return made;
  }

  void try_drop(const std::vector<uint32_t>& of_site) {
    std::vector<uint32_t> sections;
    std::ranges::copy_if(of_site, std::back_inserter(sections), [&](uint32_t s) { return is_harmless(s); });
    const bool is_lone = lone_sites_.contains(facts_.site_of[of_site[0]]);
    if (is_lone && std::ranges::any_of(sections, [&](uint32_t s) { return is_guarded(s); })) {
      return refuse(Optimisation::drop_lock, section(of_site[0]).lock, "only one thread ran what writes under it");
    }
    if (sections.size() < of_site.size() && reader_sites_.contains(facts_.site_of[of_site[0]])) {
      return refuse(Optimisation::drop_lock, section(of_site[0]).lock,
                    "which sections read what others write depends on the data: a reader-writer lock is safe");
    }
    if (!sections.empty()) found_.candidates.push_back(candidate(Optimisation::drop_lock, std::move(sections)));
  }

  void try_shorten(const std::vector<uint32_t>& of_site) {
    std::vector<uint32_t> sections;
    for (const uint32_t s : of_site) {
      const bool needs_lock = is_known(s) && is_contested(section(s).lock, facts_.sets.of_section[s]);
      if (needs_lock && hoisted(s).first + hoisted(s).second > 0) {
        sections.push_back(s);
      }
    }
    if (sections.empty()) return;
    Candidate made = candidate(Optimisation::shorten_section, std::move(sections));
    for (const uint32_t s : made.improvement.sections) {
      made.improvement.head_ns.push_back(hoisted(s).first);
      made.improvement.tail_ns.push_back(hoisted(s).second);
    }
    found_.candidates.push_back(std::move(made));
  }

  // What may move out before and after.
  std::pair<int64_t, int64_t> hoisted(uint32_t s) const {
    const auto harmless_ns = [&](auto parts) {  // up to the first that is not
      int64_t sum_ns = 0;
      for (const model::SectionSets::Part& part : parts) {
        if (!facts_.sets.is_complete(part.set) || is_contested(section(s).lock, part.set)) break;
        sum_ns += part.length_ns;
      }
      return sum_ns;
    };
    return {follows_wait(s) ? 0 : harmless_ns(facts_.sets.parts_of(facts_.sets.head[s])),
            ends_in_wait(s) ? 0 : harmless_ns(std::views::reverse(facts_.sets.parts_of(facts_.sets.tail[s])))};
  }

  bool only_reads(uint32_t s) const {
    return std::ranges::none_of(facts_.sets.ranges_of(facts_.sets.of_section[s]), [](const model::AccessRange& range) {
      return (range.flags & format::kAccessWrite) != 0;
    });
  }

  // What it writes no other thread uses under the lock, as a local variable that lies in its caller's frame: of those
  // that read the same, several may run at a time.
  bool writes_only_its_own(uint32_t s) const {
    const Lock& lock = locks_[section(s).lock.index()];
    return lock.cells && std::ranges::none_of(lock.cells->of(facts_.sets.of_section[s]),
                                              [&](const CellUse& use) { return use.writes && lock.guarded[use.cell]; });
  }

  // A site whose sections may share the lock, and where some need it: of several threads, or writing nothing at all.
  bool may_read(const std::vector<uint32_t>& sections) const {
    bool only_read = true, any_contested = false;
    for (const uint32_t s : sections) {
      if (is_around_wait(s)) return false;
      if (!is_known(s)) continue;
      if (!only_reads(s)) only_read = false;
      if (!only_reads(s) && !writes_only_its_own(s)) return false;
      any_contested |= is_contested(section(s).lock, facts_.sets.of_section[s]);
    }
    return only_read || any_contested;
  }

  void try_readers(const SectionsOfSite& by_site) {
    std::vector<uint32_t> readers;
    for (const auto& [site, sections] : by_site) {
      if (!reader_sites_.contains(site)) continue;
      std::ranges::copy_if(sections, std::back_inserter(readers),
                           [&](uint32_t s) { return is_known(s) && !section(s).shared; });
    }
    if (!readers.empty()) found_.candidates.push_back(candidate(Optimisation::reader_writer_lock, std::move(readers)));
  }

  // Most sections of the lock only read, some of them what is written: where its parts lie depends on the data.
  bool is_mostly_read(const Lock& lock) const {
    size_t all = 0, reading = 0;
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      all += counts(s);
      reading += counts(s) && !section(s).shared && reader_sites_.contains(facts_.site_of[s]);
    }
    return 2 * reading > all;
  }

  void refuse(Optimisation optimisation, LockId lock, std::string_view reason) {
    if (locks_[lock.index()].waited) found_.ineligible.push_back({.optimisation = optimisation, .lock = lock, .reason = std::string(reason)});
  }

  // Why the lock's sections cannot be judged as a whole; empty: they can.
  std::string_view not_judged(LockId id) const {
    const Lock& lock = locks_[id.index()];
    if (lock.with_condition) return "threads wait at a condition with it";
    if (lock.unknown > 0) return "it has sections whose reads and writes are not known";
    if (!lock.cells) return "its sections touch too many different places";
    return "";
  }

  bool changes_kernel_state(const Lock& lock) const {
    for (uint32_t cell = 0; cell < lock.contested.size(); ++cell) {
      if (lock.contested[cell] && is_kernel_state(lock.cells->address(cell))) return true;
    }
    return false;
  }

  // One word under every lock: 8 bytes at most that an atomic operation can take.
  bool has_one_word(const Lock& lock) const {
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint32_t cell = 0; cell < lock.contested.size(); ++cell) {
      if (!lock.contested[cell]) continue;
      begin = std::min(begin, lock.cells->address(cell));
      end = std::max(end, lock.cells->end_address(cell));
    }
    return end == 0 || begin / 8 == (end - 1) / 8;
  }

  // A section that computes the new value from the old one otherwise than by an operation that commutes.
  bool replaces(LockId id) const {
    const Lock& lock = locks_[id.index()];
    return std::ranges::any_of(lock.cells->sets(), [&](uint32_t set) {
      return std::ranges::any_of(lock.cells->of(set),
                                 [&](const CellUse& use) { return lock.contested[use.cell] && use.replaces; });
    });
  }

  void try_atomic(const std::vector<LockId>& locks) {
    std::vector<uint32_t> sections;
    bool any = false;
    for (const LockId lock : locks) {
      const std::string_view reason = not_judged(lock);
      if (!reason.empty()) return refuse(Optimisation::make_atomic, lock, reason);
      const Lock& info = locks_[lock.index()];
      if (changes_kernel_state(info)) return refuse(Optimisation::make_atomic, lock, "it orders system calls");
      if (!has_one_word(info)) return;
      if (replaces(lock)) return refuse(Optimisation::make_atomic, lock, "a section needs the value that it replaces");
      any |= std::ranges::find(info.contested, true) != info.contested.end();
    }
    each_section(locks, [&](uint32_t s) { sections.push_back(s); });
    if (any) found_.candidates.push_back(candidate(Optimisation::make_atomic, std::move(sections)));
  }

  void try_split(const std::vector<LockId>& locks) {
    std::vector<std::pair<uint32_t, uint32_t>> placed;  // section and its part
    uint32_t most = 0;
    for (const LockId lock : locks) {
      if (const std::string_view reason = not_judged(lock); !reason.empty()) {
        refuse(Optimisation::split_lock, lock, reason);
        continue;
      }
      if (is_mostly_read(locks_[lock.index()])) {
        refuse(Optimisation::split_lock, lock, "most of its sections only read: a reader-writer lock comes first");
        continue;
      }
      const uint32_t parts = split(locks_[lock.index()], placed);
      if (parts == 1) refuse(Optimisation::split_lock, lock, why_tied(locks_[lock.index()]));
      most = std::max(most, parts);
    }
    if (most < 2) return;
    std::sort(placed.begin(), placed.end());
    std::vector<uint32_t> sections;
    for (const auto& [s, part] : placed) sections.push_back(s);
    Candidate made = candidate(Optimisation::split_lock, std::move(sections));
    for (const auto& [s, part] : placed) made.improvement.part.push_back(part);
    made.parts = most;
    found_.candidates.push_back(std::move(made));
  }

  static constexpr uint32_t kNoSite = UINT32_MAX;

  // Connected components of the guarded bytes: a section ties together all that it touches. By section and the number
  // of its component, from 0 on; those of `left_out` tie nothing, and are not in it.
  std::vector<std::pair<uint32_t, uint32_t>> components(const Lock& lock, uint32_t left_out = kNoSite) const {
    Unions ties(lock.guarded.size());
    std::vector<std::pair<uint32_t, uint32_t>> found;  // by section: one of its cells
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!counts(s) || facts_.site_of[s] == left_out) continue;
      uint32_t first = UINT32_MAX;
      for (const CellUse& use : lock.cells->of(facts_.sets.of_section[s])) {
        if (!lock.guarded[use.cell]) continue;
        if (first == UINT32_MAX) found.emplace_back(s, first = use.cell);
        ties.join(use.cell, first);
      }
    }
    std::map<uint32_t, uint32_t> numbers;
    for (auto& [section, cell] : found) {
      cell = numbers.try_emplace(ties.root(cell), static_cast<uint32_t>(numbers.size())).first->second;
    }
    return found;
  }
  static uint32_t count_of(const std::vector<std::pair<uint32_t, uint32_t>>& components) {
    uint32_t count = 0;
    for (const auto& [section, number] : components) count = std::max(count, number + 1);
    return count;
  }

  // Returns how many there are.
  uint32_t split(const Lock& lock, std::vector<std::pair<uint32_t, uint32_t>>& placed) const {
    const auto found = components(lock);
    const uint32_t count = count_of(found);
    if (count >= 2) placed.insert(placed.end(), found.begin(), found.end());
    return count;
  }

  // Of what no lock of its own can guard: the code that keeps most apart if it is left out.
  std::string why_tied(const Lock& lock) const {
    constexpr size_t kSitesMax = 16;
    std::set<uint32_t> sites;
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (counts(s)) sites.insert(facts_.site_of[s]);
    }
    uint32_t most = 1, by = kNoSite;
    for (const uint32_t site : sites) {
      if (sites.size() < 2 || sites.size() > kSitesMax) break;
      const uint32_t count = count_of(components(lock, site));
      if (count > most) most = count, by = site;
    }
    if (by == kNoSite) return "its sections tie together all that they change";
    return facts_.sites.sites()[by].label + " ties together what would be " + std::to_string(most) +
           " groups without it";
  }

  const SectionFacts& facts_;
  const model::Trace& trace_;
  std::vector<Lock> locks_;          // by lock
  Unions groups_;                    // of locks
  std::set<uint32_t> lone_sites_;    // of the locks that are looked at: sites that one thread ran
  std::set<uint32_t> reader_sites_;  // likewise: sites whose sections may share the lock
  Candidates found_;
};

}  // namespace

Candidates lock_candidates(const SectionFacts& facts) {
  return Finder(facts).run();
}

}  // namespace contrafact::improve
