#include "cli/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "analysis/headroom.h"
#include "cli/metric_tables.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

uint32_t cores_of(const model::Trace& trace) {
  std::string_view text = trace.fact("cores");
  uint32_t cores = 0;
  std::from_chars(text.data(), text.data() + text.size(), cores);
  return cores;
}

double overloaded_share(const analysis::ThreadUsage& usage, uint32_t cores) {
  int64_t overloaded_ns = 0;
  for (size_t i = 0; i < usage.steps.size(); ++i) {
    const analysis::UsageStep& step = usage.steps[i];
    int64_t end_ns = i + 1 < usage.steps.size() ? usage.steps[i + 1].time_ns : usage.window.end_ns;
    if (step.active - step.blocked > cores) overloaded_ns += end_ns - step.time_ns;
  }
  return static_cast<double>(overloaded_ns) / static_cast<double>(usage.window.duration_ns());
}

// Share of the window in which some thread was pushed off its core while it still had work; none where the kernel told
// nothing.
std::optional<double> preempted_share(const model::Trace& trace, const analysis::UsageWindow& window) {
  std::vector<model::CpuGap> gaps;
  bool known = false;
  for (const std::vector<model::CpuGap>& thread : trace.cpu) {
    known |= !thread.empty();
    for (const model::CpuGap& gap : thread) {
      if (gap.preempted) gaps.push_back(gap);
    }
  }
  if (!known) return std::nullopt;
  std::ranges::sort(gaps, {}, &model::CpuGap::out_ns);
  int64_t preempted_ns = 0;
  int64_t covered_to_ns = window.begin_ns;
  for (const model::CpuGap& gap : gaps) {
    int64_t begin_ns = std::max(gap.out_ns, covered_to_ns);
    int64_t end_ns = std::min(gap.in_ns, window.end_ns);
    if (end_ns <= begin_ns) continue;
    preempted_ns += end_ns - begin_ns;
    covered_to_ns = end_ns;
  }
  return static_cast<double>(preempted_ns) / static_cast<double>(window.duration_ns());
}

// Why queues matter in this run; empty if nothing ran short.
std::string shortage(const model::Trace& trace, uint32_t cores) {
  analysis::ThreadUsage usage = analysis::thread_usage(trace, {analysis::ThreadUsageOptions::Window::tasks});
  if (usage.window.duration_ns() <= 0) return "";
  for (const analysis::PoolHeadroom& pool : analysis::headroom(trace, usage)) {
    double share = static_cast<double>(pool.saturated_ns) / static_cast<double>(usage.window.duration_ns());
    if (pool.size == 0 || share <= kSaturatedMax) continue;
    return fmt::format("pool {} had all {} workers occupied for {} of the time", pool_name(trace, pool.pool), pool.size,
                       table::percent_text(share));
  }
  if (std::optional<double> share = preempted_share(trace, usage.window)) {
    if (*share <= kOverloadedMax) return "";
    return fmt::format("some thread had to wait for a core for {} of the time", table::percent_text(*share));
  }
  if (cores == 0) cores = cores_of(trace);
  if (cores == 0) return "";
  double share = overloaded_share(usage, cores);
  if (share <= kOverloadedMax) return "";
  return fmt::format("more threads were active than the {} for {} of the time",
                     table::counted_text(cores, "core", "cores"), table::percent_text(share));
}

}  // namespace

Headline headline_of(const model::Trace& trace, const whatif::BaselineCheck* baseline, uint32_t cores) {
  if (baseline == nullptr) return {model::Origin::estimated, "nothing was simulated"};
  std::string short_of = shortage(trace, cores);
  if (short_of.empty()) return {model::Origin::estimated, "no pool was saturated, and the cores sufficed"};
  if (baseline->stuck) {
    return {model::Origin::estimated, short_of +
                                          ", but the simulation of the unchanged run came to no end: what these "
                                          "figures say of queues, they do not know"};
  }
  if (baseline->trusted) return {model::Origin::simulated, short_of};
  return {model::Origin::simulated,
          fmt::format("{}; the simulation missed its self-check by {}, and its gains are uncertain by as much",
                      short_of, table::percent_text(std::fabs(baseline->error)))};
}

}  // namespace contrafact::cli
