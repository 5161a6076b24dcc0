#include "analysis/conflict_places.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/section_overlaps.h"
#include "graph/section_conflicts.h"
#include "graph/section_order.h"

namespace contrafact::analysis {
namespace {

constexpr size_t kRangesMax = 64;  // of a pair: two large structures may meet in thousands

using NameSet = std::set<std::string>;

NameSet names_of(const std::vector<uint64_t>& places, const model::MemoryNames& names) {
  NameSet found;
  for (const uint64_t place : places) {
    std::string name = names.name(place);
    if (!name.empty()) found.insert(std::move(name));
  }
  return found;
}

// What two sets conflict on: for each name, whether it is counted there.
using Counted = std::map<std::string, bool>;

Counted counted_names(const std::vector<graph::SectionConflicts::Meeting>& meetings, const model::MemoryNames& names) {
  using graph::AccessClass;
  const auto is_count = [](AccessClass by) { return by == AccessClass::reads || by == AccessClass::adds; };
  Counted found;
  for (const auto& meeting : meetings) {
    std::string name = names.name(meeting.address);
    if (name.empty()) continue;
    const auto [at, added] = found.emplace(std::move(name), true);
    at->second = at->second && is_count(meeting.by_x) && is_count(meeting.by_y);
  }
  return found;
}

}  // namespace

std::map<model::LockId, std::vector<ConflictField>> conflicts_without_flow(const SectionFacts& facts,
                                                                           const model::SectionFlows& flows,
                                                                           const model::MemoryNames& names,
                                                                           bool control) {
  std::map<model::LockId, std::vector<ConflictField>> out;
  if (names.empty()) return out;
  graph::SectionConflicts conflicts(facts.sets);
  std::map<std::pair<uint32_t, uint32_t>, Counted> of_sets;
  std::map<model::LockId, std::map<std::string, ConflictField>> found;
  each_overlap(facts, [&](const SectionOverlap& overlap) {
    const uint32_t x = facts.sets.of_section[overlap.first], y = facts.sets.of_section[overlap.second];
    if (conflicts.between(x, y) != graph::PairKind::conflict) return;
    if (flows.has(overlap.second, overlap.first, control)) return;
    const auto [known, added] = of_sets.try_emplace(std::minmax(x, y));
    if (added) known->second = counted_names(conflicts.meetings(x, y, kRangesMax), names);
    for (const auto& [name, is_counter] : known->second) {
      ConflictField& field = found[facts.sections[overlap.second].lock][name];
      field.memory = name;
      ++field.pairs;
      field.is_counter = field.is_counter && is_counter;
    }
  });
  for (auto& [lock, fields] : found) {
    for (auto& [name, field] : fields) out[lock].push_back(std::move(field));
    std::ranges::stable_sort(out[lock], std::greater(), &ConflictField::pairs);
  }
  return out;
}

std::vector<ConflictPlace> conflict_places(const SectionFacts& facts, const model::MemoryNames& names) {
  if (names.empty()) return {};
  graph::SectionConflicts conflicts(facts.sets);
  std::map<std::pair<uint32_t, uint32_t>, NameSet> of_sets;
  std::map<std::pair<uint32_t, std::string>, uint64_t> pairs;
  for (const graph::SectionPair& pair : graph::adjacent_pairs(facts.recorded)) {
    const uint32_t x = facts.sets.of_section[pair.first], y = facts.sets.of_section[pair.second];
    if (conflicts.between(x, y) != graph::PairKind::conflict) continue;
    const auto [known, added] = of_sets.try_emplace(std::minmax(x, y));
    if (added) known->second = names_of(conflicts.places(x, y, kRangesMax), names);
    for (const std::string& name : known->second) ++pairs[{facts.site_of[pair.second], name}];
  }
  std::vector<ConflictPlace> out;
  for (const auto& [at, count] : pairs) out.push_back({at.first, at.second, count});
  std::ranges::stable_sort(out, std::greater(), &ConflictPlace::pairs);
  return out;
}

}  // namespace contrafact::analysis
