#include "improve/lock_candidates.h"

#include <algorithm>

#include "improve/kinds/kinds.h"
#include "improve/lock_search.h"
#include "improve/section_change.h"

namespace contrafact::improve {
namespace {

std::vector<const SectionChange*> kinds_by_turn() {
  std::vector<const SectionChange*> kinds;
  for (const Kind* kind : all_kinds()) {
    if (kind->target() == whatif::Target::sections) kinds.push_back(static_cast<const SectionChange*>(kind));
  }
  std::ranges::sort(kinds, {}, &SectionChange::turn);
  return kinds;
}

}  // namespace

Candidates lock_candidates(const analysis::SectionFacts& facts) {
  const std::vector<const SectionChange*> kinds = kinds_by_turn();
  LockSearch search(facts);
  for (const std::vector<model::LockId>& locks : search.groups()) {
    search.begin(locks);
    for (const SectionChange* kind : kinds) kind->find(search);
    search.end();
  }
  return std::move(search.found());
}

}  // namespace contrafact::improve
