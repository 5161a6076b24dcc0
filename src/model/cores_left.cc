#include "model/cores_left.h"

#include <algorithm>
#include <charconv>

#include "model/facts.h"

namespace contrafact::model {
namespace {

constexpr int64_t kQuotaPeriodNs = 100'000'000, kTurnNs = 8'000'000;
constexpr double kNothing = 0.05, kLeastLeft = 0.5;

int64_t overlap_ns(int64_t begin_ns, int64_t end_ns, int64_t from_ns, int64_t to_ns) {
  return std::max<int64_t>(0, std::min(end_ns, to_ns) - std::max(begin_ns, from_ns));
}

int64_t own_ns(const Trace& trace, int64_t begin_ns, int64_t end_ns) {
  int64_t sum_ns = 0;
  for (const std::vector<CpuGap>& gaps : trace.cpu) {
    for (size_t i = 0; i + 1 < gaps.size(); ++i)
      sum_ns += overlap_ns(gaps[i].in_ns, gaps[i + 1].out_ns, begin_ns, end_ns);
  }
  for (const VmStint& stint : trace.vm_stints) sum_ns += overlap_ns(stint.begin_ns, stint.end_ns, begin_ns, end_ns);
  return sum_ns;
}

}  // namespace

CoresLeft cores_left(const Trace& trace, int64_t begin_ns, int64_t end_ns) {
  const auto cores = static_cast<double>(recorded_cores(trace));
  if (cores <= 0) return {};
  if (const std::string_view text = trace.fact("cpu.quota"); !text.empty()) {
    double quota = 0;
    std::from_chars(text.data(), text.data() + text.size(), quota);
    if (quota <= 0 || quota >= cores) return {};
    return {quota / cores, kQuotaPeriodNs, CoresLeft::Reason::limit};
  }
  const bool is_told =
      !trace.idle_times.empty() && trace.cpu.size() >= trace.threads.size() && trace.fact("cpu.switches.lost").empty();
  if (!is_told) return {};
  // Of whole rows: each says how long cores were idle since the one before.
  const auto first = std::ranges::lower_bound(trace.idle_times, begin_ns, {}, &IdleTime::until_ns);
  const auto last = std::ranges::upper_bound(trace.idle_times, end_ns, {}, &IdleTime::until_ns);
  if (first == trace.idle_times.end() || last - first < 2) return {};
  int64_t idle_ns = 0;
  for (auto row = first + 1; row != last; ++row) idle_ns += row->idle_ns;
  const int64_t from_ns = first->until_ns, to_ns = (last - 1)->until_ns;
  const double all_ns = cores * static_cast<double>(to_ns - from_ns);
  if (all_ns <= 0) return {};
  const double others = 1 - static_cast<double>(idle_ns + own_ns(trace, from_ns, to_ns)) / all_ns;
  if (others < kNothing) return {};
  return {std::max(kLeastLeft, 1 - others), kTurnNs, CoresLeft::Reason::other_programs};
}

}  // namespace contrafact::model
