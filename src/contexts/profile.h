// Profile: what the analysis `contexts` wrote (src/online/context_analysis.cc), as it is in its file
// (docs/contexts.md).
//
// Plain data. Invariants, checked by read_profile: methods are there; a context's parent comes before it; the first
// context is the code outside of what was profiled, and its own parent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::contexts {

struct Method {
  std::string class_name;  // with dots; empty for code outside
  std::string name;
  std::string file;
  uint32_t line = 0;
};

struct Counts {
  uint64_t calls = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;

  Counts& operator+=(const Counts& more);
};

struct Context {
  uint32_t parent = 0;  // places in `contexts` and `methods`
  uint32_t method = 0;
  Counts own;
};

struct Profile {
  std::vector<Method> methods;
  std::vector<Context> contexts;
  uint64_t lost = 0;     // events
  uint64_t refused = 0;  // methods without probes
  Counts beyond;         // in contexts that had no room
};

// Errors say what is wrong with the text and where.
base::Result<Profile> read_profile(std::string_view text);

// Of each context, its own and those of all contexts in it. Linear.
std::vector<Counts> totals_of(const Profile& profile);

}  // namespace contrafact::contexts
