#include "advise/branch_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analysis/duration_stats.h"
#include "analysis/places.h"
#include "improve/kinds/kinds.h"
#include "model/library_calls.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

// Fewer, or more alike, say nothing of branches.
constexpr size_t kTasksMin = 8;
constexpr int64_t kRatioMin = 4;  // of the 90th percentile to the shortest

bool has_function_events(const model::Trace& trace) {
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == model::EventKind::method_enter &&
        !model::makes_thread_local(trace, model::MethodId(trace.a[i])))
      return true;
  }
  return false;
}

analysis::DurationStats durations_of(const model::Trace& trace, const std::vector<model::TaskId>& tasks) {
  std::vector<int64_t> durations_ns;
  for (const model::TaskId task : tasks) {
    const model::TaskRow& row = trace.tasks[task.index()];
    durations_ns.push_back(trace.time_ns[row.end.index()] - trace.time_ns[row.start.index()]);
  }
  return analysis::summarise(durations_ns);
}

// "shop.Feed*": the class of the body, with those nested in it.
std::string pattern_of(const model::Trace& trace, model::MethodId body) {
  const std::string_view name = trace.string(trace.methods[body.index()].class_name);
  return std::string(name.substr(0, name.find('$'))) + "*";
}

}  // namespace

std::string branch_hint(const model::Trace& trace, const improve::Candidates& found) {
  if (trace.fact("agent") == "native" || has_function_events(trace)) return "";
  std::set<uint32_t> told_apart;
  for (const improve::Candidate& candidate : found.candidates) {
    if (candidate.improvement.optimisation == improve::kinds::hoist_branch) told_apart.insert(candidate.set);
  }
  for (const improve::Candidate& candidate : found.candidates) {
    const bool whole_set = candidate.improvement.optimisation == improve::kinds::convert_to_inline;
    if (!whole_set || told_apart.contains(candidate.set) || candidate.improvement.tasks.size() < kTasksMin) continue;
    if (!candidate.improvement.body.valid() || !trace.owner_name(candidate.improvement.body).empty()) continue;
    const analysis::DurationStats stats = durations_of(trace, candidate.improvement.tasks);
    if (stats.p90_ns < kRatioMin * std::max<int64_t>(stats.min_ns, 1)) continue;
    return fmt::format(
        "the {} handed out at {} run for {} to {} on one recorded path: if they branch, hoist-branch sees it in a "
        "recording with --include '{}'",
        table::counted_text(candidate.improvement.tasks.size(), "task", "tasks"),
        trace.context_label(
            analysis::place_of(trace, candidate.improvement.spawn_context, candidate.improvement.tasks)),
        table::duration_text(static_cast<double>(stats.min_ns)),
        table::duration_text(static_cast<double>(stats.max_ns)), pattern_of(trace, candidate.improvement.body));
  }
  return "";
}

}  // namespace contrafact::advise
