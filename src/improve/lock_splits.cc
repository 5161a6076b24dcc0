#include "improve/lock_splits.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace contrafact::improve {
namespace {

using graph::CellUse;
using model::LockId;
using whatif::Optimisation;

using Lock = LockUses::Lock;

class Splitter {
 public:
  Splitter(const LockUses& uses, Candidates& found) : uses_(uses), found_(found) {}

  void run(const std::vector<LockId>& locks) {
    std::vector<std::pair<uint32_t, uint32_t>> placed;  // section and its part
    uint32_t most = 0;
    uint64_t dividing = 0;
    for (const LockId lock : locks) {
      if (const std::string_view reason = uses_.not_judged(lock); !reason.empty()) {
        refuse(Optimisation::split_lock, lock, reason);
        continue;
      }
      if (uses_.is_mostly_read(uses_.lock(lock))) {
        refuse(Optimisation::split_lock, lock, "most of its sections only read: a reader-writer lock comes first");
        continue;
      }
      uint32_t parts = split(uses_.lock(lock), placed);
      if (parts == 1) parts = divide(uses_.lock(lock), placed, dividing);
      if (parts == 1) refuse(Optimisation::split_lock, lock, why_tied(uses_.lock(lock)));
      most = std::max(most, parts);
    }
    if (most < 2) return;
    std::sort(placed.begin(), placed.end());
    std::vector<uint32_t> sections;
    for (const auto& [s, part] : placed) sections.push_back(s);
    Candidate made = uses_.candidate(Optimisation::split_lock, std::move(sections));
    for (const auto& [s, part] : placed) made.improvement.part.push_back(part);
    made.parts = most;
    made.dividing = dividing;
    found_.candidates.push_back(std::move(made));
  }

 private:
  void refuse(Optimisation optimisation, LockId lock, std::string_view reason) {
    if (uses_.lock(lock).waited)
      found_.ineligible.push_back({.optimisation = optimisation, .lock = lock, .reason = std::string(reason)});
  }

  using Placed = std::vector<std::pair<uint32_t, uint32_t>>;  // by section and its part

  // Connected components of guarded bytes: a section ties together all that it touches. By section and the number of
  // its component, from 0 on. `ties(s)`: the section does, or else it is in none; `is_of(cell)`: which bytes.
  template <typename Ties, typename IsOf>
  Placed components(const Lock& lock, Ties ties, IsOf is_of) const {
    Unions unions(lock.guarded.size());
    Placed found;  // by section: one of its cells
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!uses_.counts(s) || !ties(s)) continue;
      uint32_t first = UINT32_MAX;
      for (const CellUse& use : uses_of(lock, s)) {
        if (!is_of(use.cell)) continue;
        if (first == UINT32_MAX) found.emplace_back(s, first = use.cell);
        unions.join(use.cell, first);
      }
    }
    std::map<uint32_t, uint32_t> numbers;
    for (auto& [section, cell] : found)
      cell = numbers.try_emplace(unions.root(cell), static_cast<uint32_t>(numbers.size())).first->second;
    return found;
  }
  static uint32_t count_of(const Placed& components) {
    uint32_t count = 0;
    for (const auto& [section, number] : components) count = std::max(count, number + 1);
    return count;
  }
  std::span<const CellUse> uses_of(const Lock& lock, uint32_t s) const {
    return lock.cells->of(uses_.facts().sets.of_section[s]);
  }

  // Returns how many there are.
  uint32_t split(const Lock& lock, Placed& placed) const {
    const Placed found =
        components(lock, [](uint32_t) { return true; }, [&](uint32_t cell) { return lock.guarded[cell]; });
    const uint32_t count = count_of(found);
    if (count >= 2) placed.insert(placed.end(), found.begin(), found.end());
    return count;
  }

  // The same where few sections change what all parts look at, as inserting changes the buckets of a table: divided
  // with the data, those are in the part whose data they touch. `dividing` counts them.
  uint32_t divide(const Lock& lock, Placed& placed, uint64_t& dividing) const {
    const std::vector<bool> is_structure = structure_of(lock);
    std::vector<uint32_t> others;  // sections that change some of it: of one part, or of them all
    std::vector<bool> is_other(lock.end - lock.begin);
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      is_other[s - lock.begin] = uses_.counts(s) && std::ranges::any_of(uses_of(lock, s), [&](const CellUse& use) {
                                   return use.writes && is_structure[use.cell];
                                 });
      if (is_other[s - lock.begin]) others.push_back(s);
    }
    const auto is_of = [&](uint32_t cell) { return lock.guarded[cell] && !is_structure[cell]; };
    Placed found = components(lock, [&](uint32_t s) { return !is_other[s - lock.begin]; }, is_of);
    const uint32_t count = count_of(found);
    if (count < 2 || largest_of(found, count) * 2 > found.size()) return 1;
    const uint64_t few = place_others(lock, others, found);
    if (few == 0 || few * kRare > found.size()) return 1;
    placed.insert(placed.end(), found.begin(), found.end());
    dividing += few;
    return count;
  }

  // Cells that many sections touch and hardly one changes.
  std::vector<bool> structure_of(const Lock& lock) const {
    std::vector<uint64_t> touched(lock.guarded.size()), written(lock.guarded.size());
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!uses_.counts(s)) continue;
      for (const CellUse& use : uses_of(lock, s)) {
        ++touched[use.cell];
        written[use.cell] += use.writes;
      }
    }
    std::vector<bool> is_structure(touched.size());
    for (size_t cell = 0; cell < touched.size(); ++cell)
      is_structure[cell] = written[cell] > 0 && written[cell] * kRare <= touched[cell];
    return is_structure;
  }

  static size_t largest_of(const Placed& components, uint32_t count) {
    std::vector<size_t> sizes(count);
    for (const auto& [section, number] : components) ++sizes[number];
    return std::ranges::max(sizes);
  }

  static constexpr uint64_t kRare = 20;  // one of so many
  static constexpr uint32_t kNobody = UINT32_MAX, kSeveral = UINT32_MAX - 1;

  // The part whose sections alone touch each cell.
  struct Owners {
    std::vector<uint32_t> of_cell;
    void touch(uint32_t cell, uint32_t part) {
      uint32_t& owner = of_cell[cell];
      if (owner == kNobody) owner = part;
      if (owner != part) owner = kSeveral;
    }
  };

  // By the data that they share with the others; those that share none keep the lock. Returns how many of them change
  // what several parts look at, or touch data of several.
  uint64_t place_others(const Lock& lock, const std::vector<uint32_t>& others, Placed& found) const {
    Owners owners{std::vector<uint32_t>(lock.guarded.size(), kNobody)};
    for (const auto& [s, part] : found) {
      for (const CellUse& use : uses_of(lock, s)) owners.touch(use.cell, part);
    }
    const size_t placed = found.size();
    for (const uint32_t s : others) {
      uint32_t part = kNobody;
      for (const CellUse& use : uses_of(lock, s)) {
        const uint32_t owner = owners.of_cell[use.cell];
        if (part == kNobody && owner < kSeveral && lock.guarded[use.cell]) part = owner;
      }
      found.emplace_back(s, part == kNobody ? 0 : part);
    }
    for (size_t i = placed; i < found.size(); ++i) {
      for (const CellUse& use : uses_of(lock, found[i].first)) owners.touch(use.cell, found[i].second);
    }
    uint64_t dividing = 0;
    for (const uint32_t s : others) {
      dividing += std::ranges::any_of(uses_of(lock, s), [&](const CellUse& use) {
        return use.writes && lock.guarded[use.cell] && owners.of_cell[use.cell] == kSeveral;
      });
    }
    return dividing;
  }

  // Of what no lock of its own can guard: the code that keeps most apart if it is left out.
  std::string why_tied(const Lock& lock) const {
    constexpr size_t kSitesMax = 16;
    const std::vector<uint32_t>& site_of = uses_.facts().site_of;
    std::set<uint32_t> sites;
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (uses_.counts(s)) sites.insert(site_of[s]);
    }
    uint32_t most = 1, by = UINT32_MAX;
    for (const uint32_t site : sites) {
      if (sites.size() < 2 || sites.size() > kSitesMax) break;
      const uint32_t count = count_of(components(
          lock, [&](uint32_t s) { return site_of[s] != site; }, [&](uint32_t cell) { return lock.guarded[cell]; }));
      if (count > most) most = count, by = site;
    }
    if (by == UINT32_MAX) return "its sections tie together all that they change";
    return uses_.facts().sites.sites()[by].label + " ties together what would be " + std::to_string(most) +
           " groups without it";
  }

  const LockUses& uses_;
  Candidates& found_;
};

}  // namespace

void add_splits(const LockUses& uses, const std::vector<LockId>& locks, Candidates& found) {
  Splitter(uses, found).run(locks);
}

}  // namespace contrafact::improve
