#include "cli/replay_conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "advise/section_advice.h"
#include "base/middle.h"
#include "graph/section_conflicts.h"
#include "replay/plan/plan.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using replay::ProcessRun;
using table::Type;
using table::Unit;

base::Result<std::unique_ptr<ScheduleFile>> planned(const whatif::Simulator& simulator,
                                                    const analysis::SectionFacts& facts,
                                                    const graph::SectionOrder& order, replay::TurnCounts& counts) {
  base::Result<replay::Schedule> schedule = replay::plan_schedule(simulator, {});
  if (!schedule) return schedule.error();
  const auto sites = static_cast<uint32_t>(facts.sites.sites().size());
  counts = replay::order_sections(*schedule, order, sites, facts.site_of);
  return ScheduleFile::create(*schedule);
}

std::vector<ConflictSite> count_pairs(const analysis::SectionFacts& facts) {
  std::vector<ConflictSite> sites(facts.sites.sites().size());
  for (size_t i = 0; i < sites.size(); ++i) sites[i].label = facts.sites.sites()[i].label;
  graph::SectionConflicts conflicts(facts.sets);
  for (const graph::SectionPair& pair : graph::adjacent_pairs(facts.recorded)) {
    ConflictSite& site = sites[facts.site_of[pair.second]];
    const auto& set_of = facts.sets.of_section;
    ++site.pairs;
    site.unnecessary += graph::is_unnecessary(conflicts.between(set_of[pair.first], set_of[pair.second]));
  }
  return sites;
}

int64_t middle_of(std::vector<int64_t> values) {
  return static_cast<int64_t>(base::median(std::span(values)));
}

// By run: what the site's sections waited.
std::vector<int64_t> waits_of(const std::vector<ProcessRun>& runs, size_t site) {
  std::vector<int64_t> wait_ns;
  for (const ProcessRun& run : runs) wait_ns.push_back(run.result.wait_ns_by_group[site]);
  return wait_ns;
}

struct SiteRow {
  const ConflictSite* site;
  int64_t recorded_ns, needed_ns;  // medians
  int64_t less_ns;                 // of a run and the next, which takes turns with it: the median
  int64_t spread_ns;               // of these, longest less shortest
};

SiteRow row_of(const ConflictSite& site, const std::vector<int64_t>& recorded, const std::vector<int64_t>& needed) {
  std::vector<int64_t> less;
  for (size_t i = 0; i < recorded.size(); ++i) less.push_back(recorded[i] - needed[i]);
  const auto [least, most] = std::ranges::minmax(less);
  return {&site, middle_of(recorded), middle_of(needed), middle_of(less), most - least};
}

}  // namespace

base::Result<ConflictReplays> plan_conflict_replays(const Recordings& recordings, const whatif::Simulator& simulator) {
  if (!recordings.has_sets()) return base::Error{advise::no_sets_reason(recordings.trace)};
  const model::Facts of_trace(recordings.trace);
  const analysis::SectionFacts facts = section_facts(recordings, of_trace);
  const graph::SectionOrder needed = graph::needed_order(*facts.trace, facts.sections, facts.sets, facts.recorded);
  ConflictReplays replays;
  auto before = planned(simulator, facts, facts.recorded, replays.recorded);
  if (!before) return before.error();
  auto after = planned(simulator, facts, needed, replays.needed);
  if (!after) return after.error();
  replays.plans = {std::move(*before), std::move(*after)};
  replays.sites = count_pairs(facts);
  for (size_t s = 0; s < facts.sections.size(); ++s) {
    const model::CriticalSection& section = facts.sections[s];
    const bool is_held = model::is_held(facts.trace->locks[section.lock.index()].kind);
    const bool is_one = is_held && section.outcome == model::Outcome::normal;
    replays.unknown += is_one && !facts.sets.is_complete(facts.sets.of_section[s]);
  }
  replays.retimed = {.method = "re-timed, without unnecessary order",
                     .origin = "re-timed",
                     .before_ns = {graph::propagate(facts.graph, facts.recorded)},
                     .after_ns = {graph::propagate(facts.graph, needed)}};
  return replays;
}

table::Table replay_sites_table(const ConflictReplays& replays, const std::vector<ProcessRun>& recorded,
                                const std::vector<ProcessRun>& needed) {
  std::vector<SiteRow> rows;
  const size_t runs = std::min(recorded.size(), needed.size());
  for (size_t site = 0; site < replays.sites.size() && runs > 0; ++site) {
    if (replays.sites[site].pairs == 0) continue;
    std::vector<int64_t> before_ns = waits_of(recorded, site), after_ns = waits_of(needed, site);
    before_ns.resize(runs);
    after_ns.resize(runs);
    rows.push_back(row_of(replays.sites[site], before_ns, after_ns));
  }
  std::ranges::stable_sort(rows, std::greater<>(), &SiteRow::less_ns);
  int64_t all_ns = 0;
  for (const SiteRow& row : rows) all_ns += std::max<int64_t>(row.less_ns, 0);
  table::Table table(kReplaySitesSchema);
  for (const SiteRow& row : rows) {
    const auto part = static_cast<double>(std::max<int64_t>(row.less_ns, 0));
    table.add_row({row.site->label, "replayed", static_cast<int64_t>(row.site->pairs),
                   static_cast<int64_t>(row.site->unnecessary), row.recorded_ns, row.needed_ns, row.less_ns,
                   row.spread_ns, all_ns > 0 ? table::Cell(part / static_cast<double>(all_ns)) : table::Cell()});
  }
  table.set_empty_reason("no lock was held by one thread after another");
  return table;
}

std::string conflicts_text(const ConflictReplays& replays) {
  const auto count = [](uint64_t n) { return table::count_text(static_cast<int64_t>(n)); };
  std::string text =
      fmt::format("without unnecessary order: {} follow {} others in the recorded order, {} as conflicts need",
                  table::counted_text(replays.recorded.sections, "critical section", "critical sections"),
                  count(replays.recorded.follows), count(replays.needed.follows));
  if (replays.unknown == 0) return text;
  return text + fmt::format("; what {} touched is not known, and {} recorded place",
                            table::counted_text(replays.unknown, "section", "sections"),
                            replays.unknown == 1 ? "it keeps its" : "they keep their");
}

const table::Schema kReplaySitesSchema{
    "replay_sites",
    "How long each place's critical sections waited when real threads ran them in the recorded order, and with the "
    "order "
    "that conflicts need.",
    {{"site", "waits", Type::places, Unit::none, "Where the sections were asked for."},
     {"origin", "origin", Type::word, Unit::none, "Replayed: by real threads.", 2},
     {"pairs", "pairs", Type::integer, Unit::none,
      "Sections of one lock that follow each other in different threads; the second one was asked for here.", 3},
     {"unnecessary", "unnecessary", Type::integer, Unit::none, "Of these, those that need no order."},
     {"recorded_wait_ns", "recorded order", Type::duration, Unit::ns, "Waited in the recorded order: the median."},
     {"conflicts_wait_ns", "by conflicts", Type::duration, Unit::ns,
      "Waited with the order that conflicts need: the median."},
     {"less_ns", "waited less", Type::duration, Unit::ns, "By how much that is less: the median of runs in turns."},
     {"spread_ns", "spread", Type::duration, Unit::ns, "Of that: most less least."},
     {"p", "P", Type::ratio, Unit::ratio,
      "The site's part of what all sites waited less: PerfPlay's equation 6, measured by both replays."}}};

}  // namespace contrafact::cli
