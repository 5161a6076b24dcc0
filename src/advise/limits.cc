#include "advise/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analysis/lock_profile.h"
#include "analysis/places.h"
#include "analysis/thread_usage.h"
#include "analysis/unseen_waits.h"
#include "base/saturating.h"
#include "model/facts.h"
#include "model/task_walk.h"
#include "model/text_names.h"
#include "model/thread_label.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

// More than this share of the time is most of it.
constexpr double kMostly = 0.5;
// A lock that threads waited for during a smaller share of the run limits the run little.
constexpr double kMuchContended = 0.2;
// If more than this share of all threads' time went into waits without an event, other limits explain less.
constexpr double kMuchUnseen = 0.25;

struct Shares {
  double alone = 0;  // exactly one thread is active and not blocked
  double idle = 0;   // none is, although some are active or wait
  double mean = 0;   // how many are, on average
};

int64_t end_of(const analysis::ThreadUsage& usage, size_t step) {
  return step + 1 < usage.steps.size() ? usage.steps[step + 1].time_ns : usage.window.end_ns;
}

Shares shares_of(const analysis::ThreadUsage& usage) {
  int64_t alone_ns = 0, idle_ns = 0;
  double working_ns = 0;
  for (size_t i = 0; i < usage.steps.size(); ++i) {
    const analysis::UsageStep& step = usage.steps[i];
    const int64_t step_ns = end_of(usage, i) - step.time_ns;
    const uint32_t working = step.active - step.blocked;
    if (working == 1) alone_ns += step_ns;
    if (working == 0 && step.occupied() > 0) idle_ns += step_ns;
    working_ns += static_cast<double>(working) * static_cast<double>(step_ns);
  }
  const auto window_ns = static_cast<double>(usage.window.duration_ns());
  return {static_cast<double>(alone_ns) / window_ns, static_cast<double>(idle_ns) / window_ns, working_ns / window_ns};
}

// The name of what ends such a block from outside of the program; empty where the program ends it.
std::string_view outside_name(format::BlockReason reason) {
  switch (reason) {
    case format::BlockReason::io:
    case format::BlockReason::poll:
      return "input and output";
    case format::BlockReason::sleep:
      return "sleeps";
    case format::BlockReason::process:
      return "other processes";
    case format::BlockReason::signal:
      return "signals";
    default:
      return "";
  }
}

// ", longest for input and output at shop.Order.read (Order.java:21)": the longest of the recorded waits for something
// outside of the program; empty where there is none.
std::string longest_outside(const model::Facts& facts, const analysis::UsageWindow& window) {
  const model::Trace& trace = facts.trace();
  std::map<std::string_view, std::map<uint32_t, int64_t>> waited_ns;  // by name, then by context
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    if (facts.uses()[i].role == model::ThreadRole::bystander) continue;
    for (model::TaskWalk walk(trace, model::ThreadId(i)); walk.next();) {
      if (walk.kind() != model::EventKind::block_end || !walk.has_closed()) continue;
      const uint32_t begin = walk.closed().begin.value;
      const std::string_view name = outside_name(static_cast<format::BlockReason>(trace.a[begin]));
      const int64_t ns = std::min(walk.time_ns(), window.end_ns) - std::max(trace.time_ns[begin], window.begin_ns);
      if (name.empty() || ns <= 0) continue;
      int64_t& sum_ns = waited_ns[name][trace.b[begin]];
      sum_ns = base::add_saturated(sum_ns, ns);
    }
  }
  std::string_view longest;
  int64_t longest_ns = 0;
  uint32_t where = 0;
  for (const auto& [name, by_place] : waited_ns) {
    int64_t sum_ns = 0;
    for (const auto& [place, ns] : by_place) sum_ns = base::add_saturated(sum_ns, ns);
    if (sum_ns <= longest_ns) continue;
    longest = name;
    longest_ns = sum_ns;
    where = std::ranges::max_element(by_place, {}, [](const auto& one) { return one.second; })->first;
  }
  if (longest.empty()) return "";
  const model::ContextId place(where);
  const std::string label = place.valid() ? trace.context_label(place) : "";
  return fmt::format(", longest for {}{}", longest, label.empty() ? "" : " at " + label);
}

// The thread that works for most of the time in which one works alone: ", mostly main".
std::string mostly_alone(const model::Facts& facts, const analysis::ThreadUsage& usage) {
  const model::Trace& trace = facts.trace();
  int64_t longest_ns = 0;
  uint32_t longest = 0;
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    size_t step = 0;
    int64_t alone_ns = 0;
    model::for_each_state(
        trace, model::ThreadId(i), facts.uses()[i], [&](int64_t begin_ns, int64_t end_ns, model::ThreadState state) {
          if (state != model::ThreadState::active) return;
          while (step < usage.steps.size() && end_of(usage, step) <= begin_ns) ++step;
          for (size_t at = step; at < usage.steps.size() && usage.steps[at].time_ns < end_ns; ++at) {
            const analysis::UsageStep& one = usage.steps[at];
            if (one.active - one.blocked != 1) continue;
            alone_ns += std::max<int64_t>(0, std::min(end_ns, end_of(usage, at)) - std::max(begin_ns, one.time_ns));
          }
        });
    if (alone_ns > longest_ns) {
      longest_ns = alone_ns;
      longest = i;
    }
  }
  if (longest_ns == 0) return "";
  return fmt::format(", most of it {}", model::thread_label(trace, model::ThreadId(static_cast<uint32_t>(longest))));
}

// Says that mostly one thread works, or none; empty if neither.
std::string limit_of_threads(const model::Facts& facts, const analysis::ThreadUsage& usage, const Shares& shares) {
  if (shares.idle > kMostly) {
    return fmt::format("for {} of the time all threads wait for something outside the program, or sleep{}",
                       table::percent_text(shares.idle), longest_outside(facts, usage.window));
  }
  if (shares.alone > kMostly) {
    return fmt::format("one thread at a time works for {} of the time{}", table::percent_text(shares.alone),
                       mostly_alone(facts, usage));
  }
  return "";
}

std::string limit_of_lock(const Pricer& pricer) {
  const model::Trace& trace = pricer.trace();
  const analysis::ContendedPlace& place = *pricer.contended();
  const std::string lock = place.lock.valid()
                               ? fmt::format("the {} {}", model::kLockKindNames[trace.locks[place.lock.index()].kind],
                                             analysis::lock_name(trace, place.lock))
                               : "a lock";
  const std::string holder =
      place.holder_at.valid() ? fmt::format(", and it was seen held at {}", trace.context_label(place.holder_at)) : "";
  const std::string_view next =
      model::has_lock_events(trace) ? "" : " (contrafact record --classes-from THIS --sets --twice shows which ones)";
  return fmt::format(
      "threads waited for {} at {} during {} of the run{}: only changes of what is done under it, or of the lock, "
      "shorten that{}",
      lock, trace.context_label(place.context), table::percent_text(place.share), holder, next);
}

}  // namespace

std::string limit_of(const Pricer& pricer, const analysis::ThreadUsage& usage, const Shortage& shortage,
                     std::span<const model::PoolId> useless) {
  std::vector<std::string> reasons;
  bool explained = false;
  const double contended = pricer.contended() ? pricer.contended()->share : 0;
  if (contended > kMostly) reasons.push_back(limit_of_lock(pricer));
  for (const Shortage::Limit& limit : shortage.limits) {
    const bool gains_nothing = limit.pool.valid() && std::ranges::find(useless, limit.pool) != useless.end();
    reasons.push_back(limit.reason + (gains_nothing ? ", but more of them gain nothing" : ""));
    explained |= !gains_nothing;
  }
  if (contended > kMuchContended && contended <= kMostly) reasons.push_back(limit_of_lock(pricer));
  explained |= contended > kMuchContended;
  const Shares shares = usage.window.duration_ns() > 0 ? shares_of(usage) : Shares();
  if (!explained) {
    std::string of_threads = limit_of_threads(pricer.facts(), usage, shares);
    if (!of_threads.empty()) reasons.push_back(std::move(of_threads));
  }
  std::string unseen = analysis::unseen_waits_text(pricer.trace());
  if (!unseen.empty()) {
    const bool first = analysis::unseen_waits(pricer.trace())->share() > kMuchUnseen;
    reasons.insert(first ? reasons.begin() : reasons.end(), std::move(unseen));
  }
  if (reasons.empty() && pricer.trace().event_count() > 0) {
    return fmt::format(
        "what its threads compute, {} of them at a time; no pool was saturated, the cores sufficed, and "
        "no lock was waited for",
        table::number_text(shares.mean));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace contrafact::advise
