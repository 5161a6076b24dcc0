// A trace in Perfetto's format, for ui.perfetto.dev: a track for each thread with slices for tasks, waits, blocks and
// methods; flows from spawn to start and from completion to the waiter's wake-up; counters of threads in each state.
//
// Pure function. Linear in the events; about 30 bytes for each.
// Invariants of the result:
//  1. Slices of one track nest: what a damaged trace left open ends with its thread.
//  2. Every flow has both of its ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_sink.h"
#include "model/trace.h"

namespace contrafact::exporters {

// Values from `time_ns` to the next sample's time.
struct CounterSample {
  int64_t time_ns;
  uint32_t value;
};
struct CounterTrack {
  std::string name;  // "threads waiting"
  std::string unit;  // "threads"
  std::vector<CounterSample> samples;
};

void perfetto_trace(const model::Trace& trace, const std::vector<CounterTrack>& counters, const base::TextSink& sink);

}  // namespace contrafact::exporters
