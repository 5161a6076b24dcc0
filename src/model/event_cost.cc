#include "model/event_cost.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace contrafact::model {

namespace {

constexpr int64_t kFactMostNs = 200'000;  // as the recorder has it

int64_t from_completion_to_end_ns(const Trace& trace) {
  constexpr size_t kTasksMin = 100;
  constexpr int64_t kMostNs = 200;
  std::vector<int64_t> times_ns;
  for (const EventRange& range : trace.thread_ranges) {
    for (uint32_t i = range.begin; i + 1 < range.end; ++i) {
      const bool ends = trace.kind[i] == EventKind::task_complete && trace.kind[i + 1] == EventKind::task_end;
      if (ends && trace.a[i] == trace.a[i + 1]) times_ns.push_back(trace.time_ns[i + 1] - trace.time_ns[i]);
    }
  }
  if (times_ns.size() < kTasksMin) return 0;
  const auto nth = times_ns.begin() + static_cast<ptrdiff_t>(times_ns.size() / 10);
  std::ranges::nth_element(times_ns, nth);
  return std::min(*nth, kMostNs);
}

std::optional<int64_t> told_ns(const Trace& trace, std::string_view kind) {
  const std::string_view text = trace.fact("recording.ns." + std::string(kind));
  int64_t ns = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), ns);
  const bool is_number = !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_number && ns >= 0 && ns <= kFactMostNs ? std::optional(ns) : std::nullopt;
}

}  // namespace

EventCosts event_costs(const Trace& trace) {
  EventCosts costs(from_completion_to_end_ns(trace));
  for (const format::EventSchema& schema : format::kEventSchemas) {
    if (const auto ns = told_ns(trace, schema.name)) costs.set(schema.kind, *ns);
  }
  return costs;
}

}  // namespace contrafact::model
