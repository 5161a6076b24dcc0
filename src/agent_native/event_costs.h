// What recording an event takes the program's thread, by kind of event: one in kTimedPeriod is timed. It becomes the facts
// `recording.ns.KIND`, so that a prediction can leave it out (model/event_cost.h): a server that answers a request in 10 us
// has some ten events in each.
//
// Thread safety: all of it, in a signal's handler, too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "format/event.h"
#include "recorder/shared_log.h"

namespace contrafact::agent_native {

inline constexpr int kTimedPeriod = 61;  // a prime: programs do things by twos and by tens

class EventCosts {
 public:
  // Longer times than kMostNs are no event's cost: the thread lost its core.
  void add(format::EventKind kind, int64_t ns) {
    if (ns < 0 || ns > kMostNs) return;
    Sum& sum = sums_[static_cast<size_t>(kind)];
    sum.ns.fetch_add(static_cast<uint64_t>(ns), std::memory_order_relaxed);
    sum.count.fetch_add(1, std::memory_order_relaxed);
  }
  // Sets the counts of the kinds of which enough were timed.
  void report(recorder::SharedLog& log) const;

 private:
  static constexpr int64_t kMostNs = 5'000;  // as the reader has it
  static constexpr uint64_t kCountMin = 100;
  struct Sum {
    std::atomic<uint64_t> ns{0}, count{0};
  };
  std::array<Sum, format::kEventKinds> sums_{};
};
extern constinit EventCosts g_event_costs;

}  // namespace contrafact::agent_native
