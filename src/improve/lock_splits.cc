#include "improve/lock_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "improve/divided_data.h"
#include "improve/kinds/kinds.h"
#include "improve/lock_objects.h"

namespace contrafact::improve {
namespace {

using graph::CellUse;
using model::LockId;

using Lock = LockUses::Lock;

class Splitter {
 public:
  Splitter(const LockUses& uses, Candidates& found) : uses_(uses), found_(found) {}

  void run(const std::vector<LockId>& locks) {
    Placed placed;
    uint32_t most = 0;
    Candidate said;  // what is to be said of the split
    for (const LockId lock : locks) {
      const bool has_few_unknown = uses_.lock(lock).unknown > 0 && uses_.are_few_unknown(uses_.lock(lock));
      if (const std::string_view reason = uses_.not_judged(lock, has_few_unknown); !reason.empty()) {
        refuse(kinds::split_lock, lock, reason);
        continue;
      }
      if (uses_.is_mostly_read(uses_.lock(lock))) {
        refuse(kinds::split_lock, lock, "most of its sections only read: a reader-writer lock comes first");
        continue;
      }
      const uint32_t count = split(lock, placed, said);
      if (count > 1) let_unknown_take_all(uses_.lock(lock), placed, said);
      most = std::max(most, count);
    }
    if (most < 2) return;
    std::ranges::sort(placed, {}, &Place::section);
    std::vector<uint32_t> sections;
    for (const Place& place : placed) sections.push_back(place.section);
    Candidate made = uses_.candidate(kinds::split_lock, std::move(sections));
    const bool one_each = said.taking_two + said.taking_all == 0;
    for (const Place& place : placed) {
      made.improvement.part.push_back(place.part);
      if (!one_each) made.improvement.also_part.push_back(place.also);
    }
    made.parts = most;
    made.taking_two = said.taking_two;
    made.taking_all = said.taking_all;
    made.moves = said.moves;
    made.dividing = said.dividing;
    found_.candidates.push_back(std::move(made));
  }

 private:
  struct Place {
    uint32_t section;
    uint32_t part;
    uint32_t also;  // as Improvement::also_part
  };
  using Placed = std::vector<Place>;

  // A section that is not known may touch data of any part.
  void let_unknown_take_all(const Lock& lock, Placed& placed, Candidate& said) const {
    for (uint32_t s = lock.begin; s < lock.end && lock.unknown > 0; ++s) {
      if (!uses_.counts(s) || uses_.is_known(s)) continue;
      placed.push_back({s, 0, whatif::Improvement::kAllParts});
      ++said.taking_all;
    }
  }

  void refuse(const Kind* optimisation, LockId lock, std::string_view reason) const {
    if (uses_.lock(lock).waited)
      found_.ineligible.push_back({.optimisation = optimisation, .lock = lock, .reason = std::string(reason)});
  }

  // Splits by groups of bytes that no section ties together. If most sections are of one group, splits by objects, of
  // which a section touches one or two; or divides the data as well. Returns the number of parts.
  uint32_t split(LockId id, Placed& placed, Candidate& said) const {
    const Lock& lock = uses_.lock(id);
    const Placed groups = find_groups(lock);
    const uint32_t count = count_of(groups);
    if (count >= 2 && !is_lopsided(groups, count)) {
      placed.insert(placed.end(), groups.begin(), groups.end());
      return count;
    }
    const uint32_t divided = count == 1 ? divide(lock, placed, said.dividing) : 1;
    if (divided > 1) return divided;
    const LockObjects objects = objects_of(uses_, id);
    if (objects.count > count) return take(objects, placed, said);
    if (count >= 2) placed.insert(placed.end(), groups.begin(), groups.end());
    if (count == 1 && lock.waited)
      found_.ineligible.push_back({.optimisation = kinds::split_lock,
                                   .lock = id,
                                   .reason = why_tied(lock, objects),
                                   .redesign = divided_data(uses_, id, objects)});
    return count;
  }

  static uint32_t take(const LockObjects& objects, Placed& placed, Candidate& said) {
    for (const LockObjects::Placed& place : objects.placed) {
      const bool takes_all = place.second == LockObjects::kAll;
      placed.push_back({place.section, place.object, takes_all ? whatif::Improvement::kAllParts : place.second});
    }
    said.taking_two += objects.taking_two;
    said.taking_all += objects.taking_all;
    said.moves |= objects.moves;
    return objects.count;
  }

  // Connected components of guarded bytes: a section ties together all that it touches. By section and the number of
  // its component, from 0 on. `ties(s)`: the section does, or else it is in none; `is_of(cell)`: which bytes.
  template <typename Ties, typename IsOf>
  Placed components(const Lock& lock, Ties ties, IsOf is_of) const {
    Unions unions(lock.guarded.size());
    Placed found;  // by section: one of its cells
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!uses_.counts(s) || !uses_.is_known(s) || !ties(s)) continue;
      uint32_t first = UINT32_MAX;
      for (const CellUse& use : uses_of(lock, s)) {
        if (!is_of(use.cell)) continue;
        if (first == UINT32_MAX) first = use.cell, found.push_back({s, first, first});
        unions.join(use.cell, first);
      }
    }
    std::map<uint32_t, uint32_t> numbers;
    for (Place& place : found)
      place.part = place.also =
          numbers.try_emplace(unions.root(place.part), static_cast<uint32_t>(numbers.size())).first->second;
    return found;
  }
  static uint32_t count_of(const Placed& components) {
    uint32_t count = 0;
    for (const Place& place : components) count = std::max(count, place.part + 1);
    return count;
  }
  graph::LockCells::Uses uses_of(const Lock& lock, uint32_t s) const {
    return lock.cells->of(uses_.facts().sets.of_section[s]);
  }

  Placed find_groups(const Lock& lock) const {
    return components(lock, [](uint32_t) { return true; }, [&](uint32_t cell) { return lock.guarded[cell]; });
  }

  // More than half of the sections are of one group.
  static bool is_lopsided(const Placed& groups, uint32_t count) {
    return largest_of(groups, count) * 2 > groups.size();
  }

  // The same where few sections change data that all parts look at, as an insertion changes the buckets of a table. If
  // that data is divided, too, they are in the part whose data they touch. `dividing` counts them.
  uint32_t divide(const Lock& lock, Placed& placed, uint64_t& dividing) const {
    const std::vector<bool> is_structure = structure_of(lock);
    std::vector<uint32_t> others;  // sections that change some of it: of one part, or of them all
    std::vector<bool> is_other(lock.end - lock.begin);
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      is_other[s - lock.begin] =
          uses_.counts(s) && uses_.is_known(s) && std::ranges::any_of(uses_of(lock, s), [&](const CellUse& use) {
            return use.writes && is_structure[use.cell];
          });
      if (is_other[s - lock.begin]) others.push_back(s);
    }
    const auto is_of = [&](uint32_t cell) { return lock.guarded[cell] && !is_structure[cell]; };
    Placed found = components(lock, [&](uint32_t s) { return !is_other[s - lock.begin]; }, is_of);
    const uint32_t count = count_of(found);
    if (count < 2 || is_lopsided(found, count)) return 1;
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
    for (const Place& place : components) ++sizes[place.part];
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

  // Places sections by the data that they share with the others; those that share none keep the lock. Returns how many
  // change data that several parts look at, or touch data of several.
  uint64_t place_others(const Lock& lock, const std::vector<uint32_t>& others, Placed& found) const {
    Owners owners{std::vector<uint32_t>(lock.guarded.size(), kNobody)};
    for (const Place& place : found) {
      for (const CellUse& use : uses_of(lock, place.section)) owners.touch(use.cell, place.part);
    }
    const size_t placed = found.size();
    for (const uint32_t s : others) {
      uint32_t part = kNobody;
      for (const CellUse& use : uses_of(lock, s)) {
        const uint32_t owner = owners.of_cell[use.cell];
        if (part == kNobody && owner < kSeveral && lock.guarded[use.cell]) part = owner;
      }
      if (part == kNobody) part = 0;
      found.push_back({s, part, part});
    }
    for (size_t i = placed; i < found.size(); ++i) {
      for (const CellUse& use : uses_of(lock, found[i].section)) owners.touch(use.cell, found[i].part);
    }
    uint64_t dividing = 0;
    for (const uint32_t s : others) {
      dividing += std::ranges::any_of(uses_of(lock, s), [&](const CellUse& use) {
        return use.writes && lock.guarded[use.cell] && owners.of_cell[use.cell] == kSeveral;
      });
    }
    return dividing;
  }

  // What nearly all sections touch; empty: nothing.
  static std::string what_ties(const LockObjects& objects) {
    const std::string bytes =
        fmt::format("the same {} byte{}", objects.shared_bytes, objects.shared_bytes == 1 ? "" : "s");
    const std::string_view kernel_state = "the same state of the kernel, as a file's content or position";
    if (!objects.shares_kernel_state && objects.shared_bytes == 0) return "";
    return fmt::format("nearly all of its sections touch {}{}{}", objects.shared_bytes > 0 ? bytes : "",
                       objects.shared_bytes > 0 && objects.shares_kernel_state ? ", and " : "",
                       objects.shares_kernel_state ? kernel_state : "");
  }

  // Of what no lock of its own can guard: the code that keeps most apart if it is left out.
  std::string why_tied(const Lock& lock, const LockObjects& objects) const {
    if (objects.too_many_uses)
      return fmt::format(
          "not looked for objects in what it guards: its sections touch {} million places in sum, too many to list",
          lock.cells->use_count() / 1'000'000);
    const std::string what = what_ties(objects);
    if (objects.count_without > 0)
      return fmt::format("{}: without {} there would be {} objects, each with a lock of its own", what,
                         objects.shared_bytes == 1 && !objects.shares_kernel_state ? "it" : "these",
                         objects.count_without);
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
    if (by == UINT32_MAX) return !what.empty() ? what : "its sections tie together all that they change";
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
