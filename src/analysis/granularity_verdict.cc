#include "analysis/granularity_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "analysis/granularity.h"
#include "table/value_text.h"

namespace contrafact::analysis {
namespace {

using Reason = GranularityReason;
using Verdict = GranularityVerdict;

double each_ns(double sum_ns, uint64_t count) {
  return count == 0 ? 0 : sum_ns / static_cast<double>(count);
}

double work_each_ns(const ClassGranularity& c) {
  return each_ns(static_cast<double>(c.core.total_ns), c.count);
}
double cost_each_ns(const ClassGranularity& c) {
  return each_ns(static_cast<double>(c.cost.all_ns()), c.count);
}

// The cores' time while the class is active.
double capacity_ns(const ClassGranularity& c, uint32_t cores) {
  return static_cast<double>(cores) * static_cast<double>(c.activity.active_ns);
}

// A task in as many parts as there are cores: whether that gains more than handing out the parts costs.
bool worth_splitting(const ClassGranularity& c, uint32_t cores) {
  const double parts = cores;
  return work_each_ns(c) * (1 - 1 / parts) > parts * cost_each_ns(c);
}

// Why a class is right: what the cores' time goes into.
std::pair<Reason, double> reason_of_right(const ClassGranularity& c, double available, double limit) {
  const IdleCores& idle = c.activity.idle;
  if (idle.all() < limit * available) return {Reason::busy, c.activity.used_ns / available};
  const std::array<std::pair<Reason, double>, 5> parts{
      {{Reason::blocked, idle.blocked},
       {Reason::waits, idle.waits},
       {Reason::queued, idle.queued},
       {Reason::handed_out, idle.handed_out},
       {Reason::short_tasks, idle.few + idle.ragged + idle.straggler}}};
  const auto [reason, ns] = *std::ranges::max_element(parts, {}, &std::pair<Reason, double>::second);
  if (ns < limit * available) return {Reason::busy, c.activity.used_ns / available};
  return {reason, ns / available};
}

std::string share_text(double share) {
  return table::percent_text(std::clamp(share, 0.0, 1.0));
}
std::string ns_text(double ns) {
  return table::duration_text(ns);
}

std::string idle_text(double share) {
  return fmt::format("{} of the cores' time is idle while its tasks are active", share_text(share));
}

// "1.2": how many threads work in its tasks on average.
std::string at_once_text(const ClassGranularity& c) {
  const double active_ns = static_cast<double>(std::max<int64_t>(1, c.activity.active_ns));
  return table::number_text(c.activity.working_ns / active_ns);
}

std::string blocked_text(const ClassGranularity& c) {
  const ClassActivity& a = c.activity;
  const double all_ns = a.working_ns + a.blocked_ns;
  return share_text(all_ns > 0 ? a.blocked_ns / all_ns : 0);
}

std::string tasks_each_wave(const ClassGranularity& c) {
  return table::number_text(each_ns(static_cast<double>(c.count), c.activity.waves));
}

std::string cost_text(const ClassGranularity& c) {
  std::string text = fmt::format(
      "handing out and starting its tasks takes {} of the cores' time while they are active: {} for each, beside {} of "
      "work",
      share_text(c.judgement.share), ns_text(cost_each_ns(c)), ns_text(work_each_ns(c)));
  if (c.activity.waves > 0 && c.count < 2 * c.activity.waves)
    text += "; each is over before the next one is handed out, so call it in place";
  return text;
}

std::string few_text(const ClassGranularity& c, uint32_t cores) {
  return fmt::format("{}: {} in a wave, for {}; {} at work on average, blocked {} of their time",
                     idle_text(c.judgement.share),
                     c.count == c.activity.waves ? "one task" : tasks_each_wave(c) + " tasks",
                     table::counted_text(cores, "core", "cores"), at_once_text(c), blocked_text(c));
}

std::string ragged_text(const ClassGranularity& c, uint32_t cores) {
  return fmt::format(
      "{}, because the last tasks of a wave do not end together: {} tasks in a wave, for {}, and the last ones run for "
      "up to {}",
      idle_text(c.judgement.share), tasks_each_wave(c), table::counted_text(cores, "core", "cores"),
      ns_text(static_cast<double>(c.activity.tail_longest_ns)));
}

std::string straggler_text(const ClassGranularity& c) {
  return fmt::format(
      "{}, because a wave's last tasks run on: for up to {} with fewer tasks than cores, where the median task takes "
      "{}; the "
      "longest takes {}",
      idle_text(c.judgement.share), ns_text(static_cast<double>(c.activity.tail_longest_ns)),
      ns_text(static_cast<double>(c.core.p50_ns)), ns_text(static_cast<double>(c.core.max_ns)));
}

std::string busy_text(const ClassGranularity& c, uint32_t cores) {
  const double capacity = capacity_ns(c, cores), used = c.activity.used_ns / capacity;
  const double others = 1 - used - c.activity.idle.all() / capacity;
  return fmt::format(
      "the cores are in use, {} of their time{}, and handing the tasks out takes {} of it: neither fewer nor "
      "more tasks would change that",
      share_text(used),
      others >= c.judgement.limit
          ? fmt::format(" by the program, and {} by others while it was ready", share_text(others))
          : "",
      share_text(c.judgement.cost_share));
}

}  // namespace

Judgement judge(const ClassGranularity& c, const RunActivity& run, uint32_t cores, double tellable_share) {
  Judgement result;
  result.limit = tellable_share;
  if (cores == 0) return result;
  if (c.kind == model::TaskKind::thread && c.inner_core_ns > c.core.total_ns) {
    result.reason = Reason::runs_others;
    return result;
  }
  const double available = c.activity.available_ns();
  result.verdict = Verdict::right;
  if (run.run_ns > 0) result.share = static_cast<double>(c.activity.active_ns) / static_cast<double>(run.run_ns);
  if (available <= 0 || result.share < tellable_share) {
    result.reason = Reason::seldom;
    return result;
  }
  const IdleCores& idle = c.activity.idle;
  result.cost_share = static_cast<double>(c.cost.all_ns()) / available;
  const double for_want_of_tasks = idle.few + idle.ragged + idle.straggler;
  const bool is_main_reason = for_want_of_tasks >= std::max({idle.blocked, idle.waits, idle.queued, idle.handed_out});
  if (is_main_reason && worth_splitting(c, cores)) {
    result.coarse_share = (idle.few + idle.ragged) / available;
    result.unbalanced_share = idle.straggler / available;
  }
  const double most = std::max({result.cost_share, result.coarse_share, result.unbalanced_share});
  if (most < tellable_share) {
    std::tie(result.reason, result.share) = reason_of_right(c, available, tellable_share);
    return result;
  }
  result.share = most;
  if (most == result.cost_share) {
    result.verdict = Verdict::fine;
    result.reason = Reason::costs;
  } else if (most == result.unbalanced_share) {
    result.verdict = Verdict::unbalanced;
    result.reason = Reason::straggler;
  } else {
    result.verdict = Verdict::coarse;
    result.reason = idle.few >= idle.ragged ? Reason::few : Reason::ragged;
  }
  return result;
}

std::string_view name_of(GranularityVerdict verdict) {
  switch (verdict) {
    case Verdict::unknown:
      return "not known";
    case Verdict::right:
      return "right";
    case Verdict::fine:
      return "fine";
    case Verdict::coarse:
      return "coarse";
    case Verdict::unbalanced:
      return "unbalanced";
  }
  return "?";
}

std::string_view name_of(GranularityReason reason) {
  constexpr std::array<std::string_view, 13> kNames{"no-cores",  "runs-others", "costs",      "few",     "ragged",
                                                    "straggler", "seldom",      "busy",       "blocked", "waits",
                                                    "queued",    "handed-out",  "short-tasks"};
  return kNames[static_cast<size_t>(reason)];
}

std::string rule_text(const ClassGranularity& c, const RunActivity& run, uint32_t cores) {
  const std::string share = share_text(c.judgement.share), limit = share_text(c.judgement.limit);
  const auto limited = [&](std::string_view text) {
    return fmt::format("{} ({} is what repeated runs differ by)", text, limit);
  };
  switch (c.judgement.reason) {
    case Reason::no_cores:
      return "the trace does not say how many cores the program had";
    case Reason::runs_others:
      return "its threads' work is other tasks, which have rows of their own";
    case Reason::costs:
      return limited(cost_text(c));
    case Reason::few:
      return limited(few_text(c, cores));
    case Reason::ragged:
      return limited(ragged_text(c, cores));
    case Reason::straggler:
      return limited(straggler_text(c));
    case Reason::seldom:
      return fmt::format(
          "its tasks are active for {} of {}: no change of them could be told from what repeated runs differ by, {}",
          share, ns_text(static_cast<double>(run.run_ns)), limit);
    case Reason::busy:
      return busy_text(c, cores);
    case Reason::blocked:
      return fmt::format("{} because its threads are blocked, not for want of tasks", idle_text(c.judgement.share));
    case Reason::waits:
      return fmt::format("{} because its tasks wait for other tasks, not for cores", idle_text(c.judgement.share));
    case Reason::queued:
      return fmt::format(
          "{} although its tasks are handed out and wait to be started: the size of their pool decides, or how fast "
          "its workers wake",
          idle_text(c.judgement.share));
    case Reason::handed_out:
      return fmt::format(
          "{} because its tasks come one after another, each too late for the cores: who hands them out decides, not "
          "their size",
          idle_text(c.judgement.share));
    case Reason::short_tasks:
      return fmt::format("{}, but its tasks take {} each, and parts of them would cost {} each to hand out",
                         idle_text(c.judgement.share), ns_text(work_each_ns(c)), ns_text(cost_each_ns(c)));
  }
  return "";
}

}  // namespace contrafact::analysis
