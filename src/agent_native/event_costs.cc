#include "agent_native/event_costs.h"

#include "agent_native/recording.h"

namespace contrafact::agent_native {

void begin_timed() {
  t_local.timed_since_ns = g_clock.now_ns();
}

void end_timed(EventKind kind, bool reads_clock) {
  const int64_t end_ns = g_clock.now_ns();
  // Between two readings lies the time that one of them takes: as if the event's own had been among what is timed.
  const int64_t clock_ns = reads_clock ? g_clock.now_ns() - end_ns : 0;
  if (t_local.until_timed == 0) g_event_costs.add(kind, end_ns - t_local.timed_since_ns - clock_ns);
  t_local.until_timed = kTimedPeriod;
}

constinit EventCosts g_event_costs;

void EventCosts::report(recorder::SharedLog& log) const {
  for (const format::EventSchema& schema : format::kEventSchemas) {
    const Sum& sum = sums_[static_cast<size_t>(schema.kind)];
    const uint64_t count = sum.count.load(std::memory_order_relaxed);
    if (count >= kCountMin)
      log.set_count("recording.ns.", schema.name.data(), sum.ns.load(std::memory_order_relaxed) / count);
  }
}

}  // namespace contrafact::agent_native
