// The *way* of a thread that waits for a mutex: how long it takes from being woken to trying the mutex again. Estimated
// from recorded acquisitions.
//
// The first thread to come acquires a released mutex: the thread that was woken, or one that comes by. The recording
// shows when the woken thread came only if that thread was first. Otherwise, the thread came while the mutex was held,
// slept again, and was woken anew at the next release; or it was still on its way. To look only at threads that were
// first makes the way seem short. On a busy machine, where a woken thread waits for a core, it seems many times too
// short.
//
// So the unseen lengths are estimated, too, by expectation and maximisation (Dempster, Laird and Rubin 1977) over a
// histogram. A chase for a mutex lasts from a release that woke a thread to the acquisition by a thread that had slept.
// Each chase is explained by all ways that may have been made in it, each as likely as the histogram makes it; the
// histogram is then counted anew from these.
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

// From the release that woke a thread (time 0) to the end; times in ns, in order.
struct Chase {
  struct Hold {
    int64_t begin_ns, end_ns;
  };
  std::vector<Hold> holds;  // by other threads, which came by and were first
  int64_t end_ns = 0;       // when a thread that had slept acquired the mutex, after the last hold
};

// The chases for mutexes that were released while a core was free, because the simulation adds waits for a core by
// itself. At most as many as can be looked through quickly. `sections`: of model::critical_sections.
std::vector<Chase> chases(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                          const BusyCores& busy);

// The ways that the kernel's context switches show, in ns, in the order of their time: to mutexes that were released
// while a core was free. `woken`: find_woken of the sections.
std::vector<int64_t> all_ways_by_kernel(std::span<const model::CriticalSection> sections, const Woken& woken,
                                        const BusyCores& busy);

// Ten times what seven in ten of the ways take. A longer time is no way: the thread waited for a core that was in use,
// although another core was idle (sim_wake_placement.h). Ten medians would not do. About half of the ways may be as
// long as the piece of work of the thread on the core; then chance decides in which half the median lies.
int64_t longest_way_ns(std::vector<int64_t> ways_ns);

// The ways of all_ways_by_kernel without those that take longer than longest_way_ns.
std::vector<int64_t> ways_by_kernel(std::span<const model::CriticalSection> sections, const Woken& woken,
                                    const BusyCores& busy);

// Lengths of ways in ns, sorted, each as likely as the others. Empty if there are no chases. Linear in the sum of the
// squares of the numbers of holds.
std::vector<int64_t> way_lengths(std::span<const Chase> chases);

}  // namespace contrafact::whatif
