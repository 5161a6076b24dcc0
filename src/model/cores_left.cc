#include "model/cores_left.h"

#include <algorithm>
#include <charconv>

#include "model/facts.h"
#include "model/on_core.h"

namespace contrafact::model {
namespace {

constexpr int64_t kQuotaPeriodNs = 100'000'000;  // the kernel's default, cpu.cfs_period_us
constexpr int64_t kTurnNs = 8'000'000;  // some turns of the scheduler, of 3 to 4 ms each with one other program
constexpr double kNothing = 0.05;       // of the cores: the system's own work is about as much
constexpr double kLeastLeft = 0.5;      // two programs that compute all the time share evenly

int64_t own_ns(const Trace& trace, int64_t begin_ns, int64_t end_ns) {
  int64_t sum_ns = 0;
  for (const std::vector<CpuGap>& gaps : trace.cpu) {
    each_time_on_core(gaps,
                      [&](int64_t on_ns, int64_t off_ns) { sum_ns += overlap_ns(on_ns, off_ns, begin_ns, end_ns); });
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
  const bool is_known =
      !trace.idle_times.empty() && trace.cpu.size() >= trace.threads.size() && trace.fact("cpu.switches.lost").empty();
  if (!is_known) return {};
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
