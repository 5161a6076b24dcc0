#include "analysis/unseen_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/saturating.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;

bool begins_wait(EventKind kind) {
  return kind == EventKind::wait_begin || kind == EventKind::block_begin || kind == EventKind::lock_request ||
         kind == EventKind::lock_request_shared || kind == EventKind::sync_wait;
}
bool ends_wait(EventKind kind) {
  return kind == EventKind::wait_end || kind == EventKind::block_end || kind == EventKind::lock_acquired ||
         kind == EventKind::lock_acquired_shared || kind == EventKind::sync_woken;
}

// The thread's waits that events tell of, outermost ones, in time; one without an end lasts for the rest.
std::vector<std::pair<int64_t, int64_t>> seen_waits(const model::Trace& trace, model::EventRange range) {
  std::vector<std::pair<int64_t, int64_t>> waits;
  int depth = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    if (begins_wait(trace.kind[i]) && depth++ == 0) waits.emplace_back(trace.time_ns[i], INT64_MAX);
    if (ends_wait(trace.kind[i]) && depth > 0 && --depth == 0) waits.back().second = trace.time_ns[i];
  }
  return waits;
}

// From its first event to its last, or to its last switch: threads of a Go program end with it, without an event.
std::pair<int64_t, int64_t> life_of(const model::Trace& trace, size_t thread) {
  const model::EventRange range = trace.thread_ranges[thread];
  const bool has_gaps = thread < trace.cpu.size() && !trace.cpu[thread].empty();
  const int64_t last_ns = trace.time_ns[range.end - 1];
  return {trace.time_ns[range.begin], has_gaps ? std::max(last_ns, trace.cpu[thread].back().in_ns) : last_ns};
}

int64_t unseen_ns(const model::Trace& trace, size_t thread) {
  const model::EventRange range = trace.thread_ranges[thread];
  const std::vector<std::pair<int64_t, int64_t>> waits = seen_waits(trace, range);
  const auto [begin_ns, end_ns] = life_of(trace, thread);
  int64_t sum_ns = 0;
  auto wait = waits.begin();
  for (const model::CpuGap& gap : trace.cpu[thread]) {
    const int64_t from_ns = std::max(gap.out_ns, begin_ns), to_ns = std::min(gap.in_ns, end_ns);
    if (gap.preempted || to_ns <= from_ns) continue;
    sum_ns += to_ns - from_ns;
    while (wait != waits.end() && wait->second <= from_ns) ++wait;
    for (auto each = wait; each != waits.end() && each->first < to_ns; ++each)
      sum_ns -= std::max<int64_t>(0, std::min(to_ns, each->second) - std::max(from_ns, each->first));
  }
  return sum_ns;
}

}  // namespace

std::optional<UnseenWaits> unseen_waits(const model::Trace& trace) {
  const bool has_switches = std::ranges::any_of(trace.cpu, [](const auto& gaps) { return !gaps.empty(); });
  if (!has_switches || trace.fact("agent") != "native") return std::nullopt;
  UnseenWaits out;
  for (size_t thread = 0; thread < trace.thread_ranges.size(); ++thread) {
    if (trace.thread_ranges[thread].size() == 0) continue;
    const auto [begin_ns, end_ns] = life_of(trace, thread);
    out.threads_ns = base::add_saturated(out.threads_ns, end_ns - begin_ns);
    if (thread >= trace.cpu.size()) continue;
    const int64_t of_thread_ns = unseen_ns(trace, thread);
    out.blocked_ns = base::add_saturated(out.blocked_ns, of_thread_ns);
    if (of_thread_ns <= out.longest_ns) continue;
    out.longest_ns = of_thread_ns;
    out.longest = model::ThreadId(static_cast<uint32_t>(thread));
  }
  return out;
}

std::string unseen_waits_text(const model::Trace& trace) {
  const std::optional<UnseenWaits> unseen = unseen_waits(trace);
  if (!unseen || unseen->share() < kUnseenShareReported) return "";
  const std::string_view name = trace.string(trace.threads[unseen->longest.index()].name);
  return fmt::format(
      "threads were blocked for {:.0f} % of their time, longest {}, for something that the recorder does not see",
      100 * unseen->share(), name.empty() ? fmt::format("thread {}", unseen->longest.value) : std::string(name));
}

}  // namespace contrafact::analysis
