#include "improve/divided_data.h"

#include <fmt/format.h>

#include <map>

#include "improve/kinds/kinds.h"

namespace contrafact::improve {
namespace {

using Placed = std::vector<LockObjects::Placed>;

Placed by_thread(const LockUses& uses, model::LockId id, uint32_t& count) {
  std::map<uint32_t, uint32_t> numbers;
  Placed placed;
  for (uint32_t s = uses.lock(id).begin; s < uses.lock(id).end; ++s) {
    if (!uses.counts(s)) continue;
    const auto next = static_cast<uint32_t>(numbers.size());
    const uint32_t part = numbers.try_emplace(uses.section(s).thread.value, next).first->second;
    placed.push_back({s, part, part});
  }
  count = static_cast<uint32_t>(numbers.size());
  return placed;
}

}  // namespace

Candidate divided_data(const LockUses& uses, model::LockId lock, const LockObjects& objects) {
  uint32_t count = objects.count_without;
  const Placed placed = count > 0 ? objects.placed : by_thread(uses, lock, count);
  std::vector<uint32_t> sections;
  for (const LockObjects::Placed& place : placed) sections.push_back(place.section);
  Candidate made = uses.candidate(kinds::split_lock, std::move(sections));
  for (const LockObjects::Placed& place : placed) {
    made.improvement.part.push_back(place.object);
    made.improvement.also_part.push_back(place.second == LockObjects::kAll ? whatif::Improvement::kAllParts
                                                                           : place.second);
  }
  made.parts = count;
  made.is_of_threads = objects.count_without == 0;
  return made;
}

std::string redesign_words(const Candidate& candidate) {
  if (!candidate.is_of_threads)
    return fmt::format(
        "with this data divided as well, into {} parts (a redesign): right where each part needs only its own",
        candidate.parts);
  return "with data of its own for each thread (a redesign), where none needs what another one changed in it, as in a "
         "buffer or "
         "a connection; or with parts by key";
}

}  // namespace contrafact::improve
