// How long a thread that waits for a mutex takes from being woken to being there, from recorded acquisitions.
//
// Who gets a mutex that was given up is who comes first: the thread that was woken, or one that comes by. Only where
// the woken one is first does the recording show when it came. Elsewhere it came while the mutex was held, saw that,
// slept, and was woken anew when it was given up; or it was still on its way. To look only at threads that were first
// makes the way seem short; on a busy machine, where a woken thread waits for a core, many times too short.
//
// So the lengths are estimated with what is not seen left open: expectation and maximisation (Dempster, Laird and Rubin
// 1977) over a histogram. Each chase for a mutex, from the release that woke somebody to the acquisition by somebody
// who had slept, is explained by all ways that may have been made in it, each as likely as the histogram makes it; and
// the histogram is counted anew from these.
//
// Where the kernel's context switches are known, every arrival of a woken thread is known, too (sim_woken.h).
//
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/trace.h"
#include "whatif/sim_busy_cores.h"
#include "whatif/sim_woken.h"

namespace contrafact::whatif {

// From the release that woke somebody (time 0) to the end; times in ns, in order.
struct Chase {
  struct Hold {
    int64_t begin_ns, end_ns;
  };
  std::vector<Hold> holds;  // by others who came by and were first
  int64_t end_ns = 0;       // when somebody who had slept acquired the mutex, after the last of them
};

// Of the chases for mutexes that were given up while a core was free: what is waiting for a core, the simulation adds
// by itself. At most so many as can be looked through quickly. `sections`: of model::critical_sections.
std::vector<Chase> chases(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                          const BusyCores& busy);

// The ways that the kernel's context switches show, in ns, in the order of their time: to mutexes that were given up
// while a core was free. `woken`: find_woken of the sections.
std::vector<int64_t> all_ways_by_kernel(std::span<const model::CriticalSection> sections, const Woken& woken,
                                        const BusyCores& busy);

// Ten medians. What takes longer is no way: the thread waited for a core that was in use, although another core was
// idle (sim_wake_placement.h).
int64_t longest_way_ns(std::vector<int64_t> ways_ns);

// Without those that take longer.
std::vector<int64_t> ways_by_kernel(std::span<const model::CriticalSection> sections, const Woken& woken,
                                    const BusyCores& busy);

// Lengths of ways in ns, sorted, each as likely as the others. Empty if there are no chases. Linear in the sum of the
// squares of the numbers of holds.
std::vector<int64_t> way_lengths(std::span<const Chase> chases);

}  // namespace contrafact::whatif
