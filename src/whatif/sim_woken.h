// Which release of a mutex woke which sleeper, from the kernel's context switches.
//
// A mutex is marked when a thread finds it held. The release of a marked mutex wakes one sleeper: the one that has
// slept the longest. So take the sleeps at a mutex in the order in which they began: each belongs to the first release
// after its beginning that found the mutex marked and woke no other thread. Where events are missing, it belongs to the
// first release that woke no other thread. Reader-writer locks without readers count as mutexes.
//
// Pure; linear in the sections and switches but for sorts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/trace.h"

namespace contrafact::whatif {

struct Woken {
  // The thread that a release woke.
  struct Coming {
    int64_t core_ns = INT64_MAX;   // when it got a core again; INT64_MAX: no thread was woken
    int64_t there_ns = INT64_MAX;  // when it looked at the mutex again; estimated where another thread was faster
  };
  bool known = false;                   // by the kernel's switches
  int64_t return_ns = 0;                // typical time of a woken thread from getting a core to looking
  std::vector<Coming> by_release = {};  // by section; empty where they are not known

  bool woke(size_t section) const { return by_release[section].core_ns != INT64_MAX; }
};

// `sections`: of model::critical_sections.
Woken find_woken(const model::Trace& trace, std::span<const model::CriticalSection> sections);

// Whether the sections, all of one lock, took it as a mutex.
bool serves_as_mutex(const model::Trace& trace, std::span<const model::CriticalSection> of_lock);

// Calls `each` with the sections of one lock after another.
template <typename Each>
void for_each_lock(std::span<const model::CriticalSection> sections, Each&& each) {
  for (size_t begin = 0, i = 0; i < sections.size(); ++i) {
    if (i + 1 < sections.size() && sections[i + 1].lock == sections[i].lock) continue;
    each(sections.subspan(begin, i + 1 - begin), begin);
    begin = i + 1;
  }
}

}  // namespace contrafact::whatif
