#include "cli/flow_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/lock_profile.h"

namespace contrafact::cli {
namespace {

using analysis::Relation;
using table::Cell;
using table::Interval;
using table::Type;
using table::Unit;

Cell counted(uint64_t count) {
  return static_cast<int64_t>(count);
}

// Of the wait with all locks.
Cell wait_left(int64_t left_ns, int64_t all_ns) {
  if (all_ns <= 0) return {};
  return static_cast<double>(left_ns) / static_cast<double>(all_ns);
}

Cell share_of(const std::optional<advise::Gain>& gain) {
  return gain ? Cell(gain->share) : Cell();
}
Cell interval_of(const std::optional<advise::Gain>& gain) {
  return gain ? Cell(Interval{gain->low, gain->high}) : Cell();
}

}  // namespace

table::Table flow_orders_table(const advise::FlowAdvice& advice) {
  table::Table table(kFlowOrdersSchema);
  const int64_t all_ns = analysis::times_of(advice.impact.all, Relation::locks).wait_ns;
  const auto add = [&](std::string_view order, Relation relation, const std::optional<advise::Gain>& gain) {
    const analysis::RelationTimes& times = analysis::times_of(advice.impact.all, relation);
    table.add_row({std::string(order), times.wait_ns, wait_left(times.wait_ns, all_ns), times.run_ns, share_of(gain),
                   interval_of(gain)});
  };
  add("locks", Relation::locks, std::nullopt);
  add("conflicts", Relation::conflicts, advice.all.conflicts);
  add("flows", Relation::flows, advice.all.flows);
  return table;
}

table::Table flow_locks_table(const analysis::SectionFacts& facts, const advise::FlowAdvice& advice) {
  table::Table table(kFlowLocksSchema);
  int64_t rank = 0;
  for (const advise::LockFlowAdvice& lock : advice.locks) {
    const auto wait_ns = [&](Relation relation) { return analysis::times_of(lock.impact.times, relation).wait_ns; };
    const int64_t all_ns = wait_ns(Relation::locks);
    table.add_row({++rank, analysis::lock_name(*facts.trace, lock.impact.lock), counted(lock.impact.sections),
                   counted(lock.impact.overlapping), all_ns, wait_left(wait_ns(Relation::conflicts), all_ns),
                   wait_left(wait_ns(Relation::flows), all_ns), share_of(lock.gains.conflicts),
                   interval_of(lock.gains.conflicts), share_of(lock.gains.flows), interval_of(lock.gains.flows),
                   std::string(name_of(lock.pattern)), advise::why_text(lock), advise::advice_text(lock)});
  }
  table.set_empty_reason("no thread waited for a lock");
  return table;
}

table::Table flow_sites_table(const analysis::SectionFacts& facts, const analysis::FlowGraph& graph,
                              const analysis::ScheduleImpact& impact) {
  table::Table table(kFlowSitesSchema);
  for (const analysis::FlowSite& site : graph.sites) {
    const auto waited = std::ranges::find(impact.sites, site.site, &analysis::SiteImpact::site);
    const analysis::SiteImpact none;
    const auto& wait_ns = waited == impact.sites.end() ? none.wait_ns : waited->wait_ns;
    const std::string more = site.locks > 1 ? fmt::format(" and {} more", site.locks - 1) : "";
    table.add_row({facts.sites.sites()[site.site].label, analysis::lock_name(*facts.trace, site.lock) + more,
                   counted(site.sections), counted(site.overlapping), wait_ns[0], wait_left(wait_ns[1], wait_ns[0]),
                   wait_left(wait_ns[2], wait_ns[0]), counted(site.control_only), counted(site.tracked)});
  }
  table.set_empty_reason("no section was held");
  return table;
}

table::Table flow_edges_table(const analysis::SectionFacts& facts, const analysis::FlowGraph& graph) {
  table::Table table(kFlowEdgesSchema);
  for (const analysis::FlowEdge& edge : graph.edges) {
    table.add_row({facts.sites.sites()[edge.from].label, facts.sites.sites()[edge.to].label,
                   counted(edge.lock_conflicts), counted(edge.memory_conflicts), counted(edge.unknown),
                   counted(edge.direct), counted(edge.indirect), counted(edge.control), edge.wait_ns});
  }
  table.set_empty_reason("no sections overlapped, and none handed another one anything");
  return table;
}

const table::Schema kFlowOrdersSchema{
    "flow_orders",
    "How long threads wait for locks, and the run takes, if the sections of all locks keep only a part of their order.",
    {{"order", "order of", Type::word, Unit::none,
      "What keeps its order: all sections of a lock, only those that conflict, or only those that hand information "
      "on."},
     {"wait_ns", "wait", Type::duration, Unit::ns, "Of all threads, for locks (estimated, cores are no limit)."},
     {"wait_left", "left", Type::ratio, Unit::ratio, "What that is of the wait with the order of locks."},
     {"duration_ns", "run", Type::duration, Unit::ns, "Duration of the run (estimated, likewise)."},
     {"gain", "gain", Type::ratio, Unit::ratio,
      "Of the run (simulated, on the machine's cores). At most that: a change has costs of its own."},
     {"gain_interval", "interval", Type::interval, Unit::ratio,
      "That gain's range, over simulations with drawn hand-overs; widened by the error of the simulation of the "
      "unchanged run."}}};

const table::Schema kFlowLocksSchema{
    "flow_locks",
    "Locks that threads waited for, and what is left of the wait if sections keep only a part of their order; the "
    "longest wait first.",
    {{"rank", "#", Type::integer, Unit::none, "Position in the table."},
     {"lock", "lock", Type::text, Unit::none, "Its name, or its kind and number in the trace."},
     {"sections", "sections", Type::integer, Unit::none, "Critical sections that held it.", 6},
     {"overlapping", "overlap", Type::integer, Unit::none,
      "Of these, those that overlap one of another thread, from request to release.", 5},
     {"wait_ns", "wait", Type::duration, Unit::ns, "Waited for it with the recorded order (estimated)."},
     {"conflicts_wait", "by conflicts", Type::ratio, Unit::ratio,
      "What is left of the wait if only sections of this lock that conflict keep their order (estimated, cores are no "
      "limit)."},
     {"flows_wait", "by flows", Type::ratio, Unit::ratio,
      "What is left if only sections that hand information on keep it (estimated, likewise)."},
     {"conflicts_gain", "gain 1", Type::ratio, Unit::ratio,
      "Of the run, with the order of conflicts alone, as with a change by pattern 1 (simulated, on the machine's "
      "cores). "
      "At most that: a change has costs of its own.",
      2},
     {"conflicts_gain_interval", "interval", Type::interval, Unit::ratio,
      "That gain's range, over simulations with drawn hand-overs; widened by the error of the simulation of the "
      "unchanged run.",
      4},
     {"flows_gain", "gain 2", Type::ratio, Unit::ratio,
      "The same with the order of flows alone, as with a change by pattern 2.", 1},
     {"flows_gain_interval", "interval", Type::interval, Unit::ratio, "That gain's range.", 3},
     {"pattern", "pattern", Type::word, Unit::none,
      "1: over-synchronised; 2: conflicts not needed; 1 and 2; 1 or 2; neither; not known (docs/flow.md)."},
     {"why", "why", Type::text, Unit::none, "The share that decided the pattern.", 0, true},
     {"advice", "advice", Type::text, Unit::none, "What to change, or to stop looking here.", 0, true}}};

const table::Schema kFlowSitesSchema{
    "flow_sites",
    "Code that asks for locks, the longest wait first.",
    {{"site", "site", Type::places, Unit::none, "Function, file and line of the call, or symbol and offset."},
     {"lock", "lock", Type::text, Unit::none, "The lock that most of its sections are of.", 4},
     {"sections", "sections", Type::integer, Unit::none, "Critical sections that began here.", 3},
     {"overlapping", "overlap", Type::integer, Unit::none,
      "Of these, those that overlap one of another thread, from request to release.", 2},
     {"wait_ns", "wait", Type::duration, Unit::ns, "Waited here with the recorded order (estimated)."},
     {"conflicts_wait", "by conflicts", Type::ratio, Unit::ratio,
      "What is left of the wait if all locks keep only the order of conflicts (estimated)."},
     {"flows_wait", "by flows", Type::ratio, Unit::ratio, "What is left if they keep only that of flows (estimated)."},
     {"control_only", "branches", Type::integer, Unit::none,
      "How often a branch or an index depended on what another section had, and no value carried it: where this is "
      "often, flows say too little."},
     {"tracked", "tracked", Type::integer, Unit::none, "Of the sections, those whose flows are known.", 5}}};

const table::Schema kFlowEdgesSchema{
    "flow_edges",
    "Which sections come in the way of which others: for the lock, for memory, or for what they are handed.",
    {{"from", "first", Type::places, Unit::none, "Where the sections that came first were asked for."},
     {"to", "then", Type::places, Unit::none, "Where those behind them were."},
     {"lock_conflicts", "overlap", Type::integer, Unit::none,
      "Pairs of one lock and two threads that overlap, from request to release."},
     {"memory_conflicts", "conflict", Type::integer, Unit::none,
      "Of these, pairs of which one writes what the other reads or writes."},
     {"unknown", "unknown", Type::integer, Unit::none, "Of these, pairs of which that is not known.", 3},
     {"direct", "direct", Type::integer, Unit::none,
      "Flows by a variable that was live at the end of the section that came first, whether the two overlapped or "
      "not."},
     {"indirect", "indirect", Type::integer, Unit::none,
      "Flows by a field or an element that was read outside of sections."},
     {"control", "control", Type::integer, Unit::none, "Flows by a branch or an index alone; only with --implicit.", 2},
     {"wait_ns", "wait", Type::duration, Unit::ns, "Waited by the ones behind while the first ones held the lock.",
      1}}};

}  // namespace contrafact::cli
