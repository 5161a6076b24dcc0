#include "improve/lock_looks.h"

#include <algorithm>

namespace contrafact::improve {
namespace {

bool only_looks(const LockUses& uses, uint32_t s) {
  return uses.may_share(s) && uses.is_contested(uses.section(s).lock, uses.facts().sets.of_section[s]);
}

}  // namespace

std::optional<Looks> looks_of(const LockSearch& search, const std::vector<uint32_t>& of_site) {
  if (search.is_lone(search.facts().site_of[of_site[0]])) return std::nullopt;
  Looks looks;
  std::vector<int64_t> looks_ns;
  for (const uint32_t s : of_site) {
    if (search.is_around_wait(s)) return std::nullopt;
    if (!search.is_known(s) || search.section(s).shared) continue;
    looks.sections.push_back(s);
    looks.only.push_back(only_looks(search, s));
    if (looks.only.back()) looks_ns.push_back(search.section(s).hold_ns());
  }
  constexpr size_t kShareMin = 2;  // half of them
  if (looks_ns.size() < 2 || kShareMin * looks_ns.size() < looks.sections.size()) return std::nullopt;
  const auto middle = looks_ns.begin() + static_cast<ptrdiff_t>(looks_ns.size() / 2);
  std::ranges::nth_element(looks_ns, middle);
  looks.look_ns = *middle;
  return looks;
}

}  // namespace contrafact::improve
