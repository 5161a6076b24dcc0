// Sites most of whose sections only look at contested data, and find what they look for: get or insert, make at first
// use. The kinds that take the lock off such looks start from here. Pure. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "improve/lock_search.h"

namespace contrafact::improve {

struct Looks {
  std::vector<uint32_t> sections;  // all known ones that take their lock exclusively, ascending
  std::vector<bool> only;          // by position: it looks, and changes nothing contested
  int64_t look_ns = 0;             // how long such a one takes: the median
};

// None: the sections of the site (`of_site`, by number) ran in one thread, wait at a condition, or do not mostly look.
std::optional<Looks> looks_of(const LockSearch& search, const std::vector<uint32_t>& of_site);

}  // namespace contrafact::improve
