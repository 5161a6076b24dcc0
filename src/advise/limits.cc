#include "advise/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/thread_usage.h"
#include "analysis/unseen_waits.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

// More than this share of the time is most of it.
constexpr double kMostly = 0.5;

struct Shares {
  double alone = 0;  // exactly one thread is active and not blocked
  double idle = 0;   // none is, although some are active or wait
};

Shares shares_of(const analysis::ThreadUsage& usage) {
  int64_t alone_ns = 0, idle_ns = 0;
  for (size_t i = 0; i < usage.steps.size(); ++i) {
    const analysis::UsageStep& step = usage.steps[i];
    const int64_t end_ns = i + 1 < usage.steps.size() ? usage.steps[i + 1].time_ns : usage.window.end_ns;
    const uint32_t working = step.active - step.blocked;
    if (working == 1) alone_ns += end_ns - step.time_ns;
    if (working == 0 && step.occupied() > 0) idle_ns += end_ns - step.time_ns;
  }
  const auto window_ns = static_cast<double>(usage.window.duration_ns());
  return {static_cast<double>(alone_ns) / window_ns, static_cast<double>(idle_ns) / window_ns};
}

// Mostly one thread, or none, works; empty if neither.
std::string limit_of_threads(const model::Trace& trace) {
  const analysis::ThreadUsage usage = analysis::thread_usage(trace, {analysis::ThreadUsageOptions::Window::tasks});
  if (usage.window.duration_ns() <= 0) return "";
  const Shares shares = shares_of(usage);
  if (shares.idle > kMostly) {
    return fmt::format("for {} of the time all threads wait for something outside the program, or sleep",
                       table::percent_text(shares.idle));
  }
  if (shares.alone > kMostly) {
    return fmt::format("one thread at a time works for {} of the time", table::percent_text(shares.alone));
  }
  return "";
}

}  // namespace

std::string limit_of(const Pricer& pricer, const Shortage& shortage) {
  std::vector<std::string> reasons = shortage.reasons;
  if (reasons.empty()) {
    std::string of_threads = limit_of_threads(pricer.trace());
    if (!of_threads.empty()) reasons.push_back(std::move(of_threads));
  }
  std::string unseen = analysis::unseen_waits_text(pricer.trace());
  if (!unseen.empty()) reasons.push_back(std::move(unseen));
  if (reasons.empty() && pricer.trace().event_count() > 0)
    return "no pool was saturated, the cores sufficed, and no lock was waited for";
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace contrafact::advise
