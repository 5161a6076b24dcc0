#include "analysis/cpu_use.h"

#include <algorithm>
#include <string>

#include "model/on_core.h"

namespace contrafact::analysis {
namespace {

using model::CpuGap;

const std::vector<CpuGap>& gaps_of(const model::Trace& trace, size_t thread) {
  static const std::vector<CpuGap> none;
  return thread < trace.cpu.size() ? trace.cpu[thread] : none;
}

}  // namespace

CpuTimes::CpuTimes(const model::Trace& trace)
    : trace_(trace), known_(model::has_switches(trace)), off_ns_(trace.cpu.size()) {
  for (size_t thread = 0; thread < trace.cpu.size(); ++thread) {
    int64_t sum_ns = 0;
    for (const CpuGap& gap : trace.cpu[thread]) {
      off_ns_[thread].push_back(sum_ns);
      sum_ns += gap.in_ns - gap.out_ns;
    }
  }
}

int64_t CpuTimes::off_before_ns(size_t thread, int64_t time_ns) const {
  const std::vector<CpuGap>& gaps = gaps_of(trace_, thread);
  const auto after = std::ranges::upper_bound(gaps, time_ns, {}, &CpuGap::out_ns);
  if (after == gaps.begin()) return 0;
  const size_t last = static_cast<size_t>(after - gaps.begin()) - 1;
  return off_ns_[thread][last] + std::min(time_ns, gaps[last].in_ns) - gaps[last].out_ns;
}

int64_t CpuTimes::cpu_ns(model::ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
  if (end_ns <= begin_ns) return 0;
  return end_ns - begin_ns - (off_before_ns(thread.index(), end_ns) - off_before_ns(thread.index(), begin_ns));
}

CpuUse CpuTimes::of_thread(model::ThreadId thread) const {
  CpuUse use;
  const model::EventRange range = trace_.thread_ranges[thread.index()];
  if (range.size() == 0) return use;
  const int64_t begin_ns = trace_.time_ns[range.begin], end_ns = trace_.time_ns[range.end - 1];
  for (const CpuGap& gap : gaps_of(trace_, thread.index())) {
    const int64_t part_ns = std::min(gap.in_ns, end_ns) - std::max(gap.out_ns, begin_ns);
    if (part_ns <= 0) continue;
    (gap.preempted ? use.preempted_ns : use.blocked_ns) += part_ns;
    ++(gap.preempted ? use.preemptions : use.blocks);
  }
  use.cpu_ns = cpu_ns(thread, begin_ns, end_ns);
  return use;
}

std::optional<double> foreign_share(const model::Facts& facts) {
  const model::Trace& trace = facts.trace();
  const uint32_t cores = model::recorded_cores(trace);
  const int64_t run_ns = trace.end_ns() - trace.begin_ns();
  if (cores == 0 || run_ns <= 0 || !model::has_switches(trace)) return std::nullopt;
  const auto foreign_ns = static_cast<double>(facts.foreign_cores().total_ns());
  return foreign_ns / (static_cast<double>(cores) * static_cast<double>(run_ns));
}

}  // namespace contrafact::analysis
