#include "agent_native/event_costs.h"

namespace contrafact::agent_native {

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
