// The budget of work for advice, by the length of the trace; and estimates, within that budget, of many improvements,
// each by itself. Improvements are estimated together in lanes (batch.h), and one after the other where lanes cannot.
// An improvement for which the budget has no room says so: a gain or loss that was not worked out is never reported.
//
// Deterministic: the limit is on the work done, not on the time taken. Progress is reported from the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "whatif/batch.h"

namespace contrafact::whatif {

// The reason given for an improvement for which the budget had no room.
inline constexpr std::string_view kBeyondBudget = "not worked out: the work for it is spent (--budget)";

// The budget in visited vertices: this many for the single estimates, and as many again for the search for the best
// combination. That is some seconds on two cores; for long traces, four passes.
uint64_t default_visits(const Estimator& estimator);

// How many improvements, or combinations, are simulated, each by itself. The longer the trace, the fewer.
size_t simulations_max(const model::Trace& trace);

// Whether an estimated run is restored as a trace where only a detail needs it. For a long trace that takes as much
// time as five estimates, and more memory than all else.
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
// The results are by improvement, estimated in the given order. Figures::peak_active and peak_waiting are left 0
// (batch.h). Errors say why an improvement cannot be estimated.
Screened screen(const Batch& batch, const ScreenOptions& options = {});

// The same, with a batch of its own.
std::vector<base::Result<Figures>> screen(const Estimator& estimator, const std::vector<Improvement>& improvements,
                                          const ScreenOptions& options = {});

}  // namespace contrafact::whatif
