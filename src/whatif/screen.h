// How much work advice may be, by the length of the trace, and many improvements estimated each by itself within it:
// all at a time in lanes (batch.h), and one after the other what the lanes do not know. What the budget has no room for
// says so: it is never a gain or a loss that nobody worked out.
//
// Deterministic: what bounds the work is the work done, not the time taken. Progress is reported from the calling
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "whatif/batch.h"

namespace contrafact::whatif {

// The reason of what the budget had no room for.
inline constexpr std::string_view kBeyondBudget = "not worked out: the work for it is spent (--budget)";

// Vertices visited: for the estimates by themselves, and as much again for the search for the best combination. Some
// seconds on two cores; of long traces four passes.
uint64_t default_visits(const Estimator& estimator);

// How many improvements, or combinations, are simulated, each by itself. The longer the trace, the fewer.
size_t simulations_max(const model::Trace& trace);

// Whether an estimated run is restored as a trace where only a detail needs it. For a long trace that takes as much time
// as five estimates, and more memory than all else.
bool is_worth_restoring(const model::Trace& trace);

// How many estimates with their interval, three passes each, the budget has room for; at least one.
size_t intervals_max(const Estimator& estimator, uint64_t visits_max);

struct ScreenOptions {
  uint64_t visits_max = UINT64_MAX;
  unsigned threads = 0;                                     // 0: as many as there are cores (batch.h)
  std::function<void(size_t done, size_t total)> progress;  // may be empty
};

struct Screened {
  std::vector<base::Result<Figures>> figures;  // by improvement
  uint64_t visits = 0;                         // the work done
};
// By improvement. Figures::peak_active and peak_waiting are left 0 (batch.h). Errors say why it cannot be estimated.
// What stands first is estimated first.
Screened screen(const Batch& batch, const ScreenOptions& options = {});

// The same, with a batch of its own.
std::vector<base::Result<Figures>> screen(const Estimator& estimator, const std::vector<Improvement>& improvements,
                                          const ScreenOptions& options = {});

}  // namespace contrafact::whatif
