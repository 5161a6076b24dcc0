#include "cli/ulc_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/lock_profile.h"
#include "cli/advice_tables.h"
#include "improve/lock_notes.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using advise::Advice;
using analysis::PairCounts;
using graph::PairKind;
using improve::Candidate;
using table::Cell;
using table::Interval;
using table::Type;
using table::Unit;

constexpr std::string_view kPairKindWords[graph::kPairKinds] = {"null",   "read-read", "disjoint",
                                                                "benign", "conflict",  "unknown"};

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 2;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() <= kNamed ? text : fmt::format("{}, and {} more", text, names.size() - kNamed);
}

std::string sites_text(const analysis::SectionFacts& facts, const std::vector<uint32_t>& sites) {
  std::vector<std::string> names;
  for (const uint32_t site : sites) names.push_back(facts.sites.sites()[site].label);
  return listed(names);
}

void add_counts(std::vector<Cell>& row, const PairCounts& pairs) {
  row.emplace_back(static_cast<int64_t>(pairs.all()));
  row.emplace_back(static_cast<int64_t>(pairs.unnecessary()));
  std::vector<std::string> kinds;
  for (size_t kind = 0; kind < graph::kPairKinds; ++kind) {
    if (pairs.of[kind] == 0 || !graph::is_unnecessary(static_cast<PairKind>(kind))) continue;
    kinds.push_back(fmt::format("{} {}", pairs.of[kind], kPairKindWords[kind]));
  }
  row.push_back(kinds.empty() ? Cell() : Cell(fmt::format("{}", fmt::join(kinds, ", "))));
  for (size_t kind = 0; kind < graph::kPairKinds; ++kind) row.emplace_back(static_cast<int64_t>(pairs.of[kind]));
}

Cell free_order(const Advice& advice) {
  return ends_simulated(advice.effect) ? Cell(advice.effect.simulated->gain) : Cell();
}
// The same as that of `advise`.
Cell interval(const SectionsPriced& priced, const Advice& advice) {
  if (!ends_simulated(advice.effect) || !priced.baseline) return {};
  const advise::Gain gain = advise::gain_of(*priced.baseline, *advice.effect.simulated);
  return Interval{gain.low, gain.high};
}

}  // namespace

std::string locks_text(const model::Trace& trace, const std::vector<model::LockId>& locks) {
  std::vector<std::string> names;
  for (const model::LockId lock : locks) names.push_back(analysis::lock_name(trace, lock));
  return listed(names);
}

table::Table ulc_sites_table(const analysis::SectionFacts& facts, const analysis::UlcProfile& profile,
                             const SectionsPriced& priced) {
  table::Table table(kUlcSitesSchema);
  for (const analysis::UlcSite& site : profile.sites) {
    std::vector<Cell> row{facts.sites.sites()[site.site].label};
    add_counts(row, site.pairs);
    row.emplace_back(site.wait_ns);
    row.emplace_back(site.cost_ns);
    row.emplace_back(site.p);
    const auto best = std::ranges::find_if(priced.advices.ranked, [&](const Advice& advice) {
      const std::vector<uint32_t>& sites = advice.candidate.sites;
      return gains(advice) && std::ranges::find(sites, site.site) != sites.end();
    });
    const bool found = best != priced.advices.ranked.end();
    row.push_back(found ? Cell(what_of(*best)) : Cell());
    row.push_back(found ? Cell(advise::section_gain(best->effect).share) : Cell());
    row.push_back(found ? interval(priced, *best) : Cell());
    row.push_back(found ? Cell(std::string(name_of(best->verdict))) : Cell());
    table.add_row(std::move(row));
  }
  return table;
}

table::Table ulc_pairs_table(const analysis::SectionFacts& facts, const analysis::UlcProfile& profile) {
  table::Table table(kUlcPairsSchema);
  for (const analysis::UlcSitePair& pair : profile.by_code) {
    std::vector<Cell> row{facts.sites.sites()[pair.first_site].label, facts.sites.sites()[pair.second_site].label};
    add_counts(row, pair.pairs);
    row.emplace_back(pair.wait_ns);
    row.emplace_back(pair.cost_ns);
    row.emplace_back(pair.p);
    table.add_row(std::move(row));
  }
  return table;
}

table::Table ulc_conflicts_table(const analysis::SectionFacts& facts,
                                 const std::vector<analysis::ConflictPlace>& places) {
  table::Table table(kUlcConflictsSchema);
  for (const analysis::ConflictPlace& place : places) {
    table.add_row({facts.sites.sites()[place.site].label, place.memory, static_cast<int64_t>(place.pairs)});
  }
  return table;
}

// The part of the gain beyond the gain by conflicts, which leaves locks in the recorded order.
std::string gain_beyond_conflicts(const Advice& advice) {
  const std::optional<double>& by_conflicts = advice.effect.sections->floor;
  if (!by_conflicts || !ends_simulated(advice.effect)) return "";
  const double more = advice.effect.simulated->gain - *by_conflicts;
  if (more <= advise::kGainTie) return "";
  return fmt::format("{:.1f} points more than conflicts in their recorded order allow", 100 * more);
}

table::Table lock_remedies_table(const analysis::SectionFacts& facts, const SectionsPriced& priced, bool all) {
  table::Table table(kLockRemediesSchema);
  int64_t rank = 0;
  for (const Advice& advice : priced.advices.ranked) {
    ++rank;
    if (!all && !gains(advice)) continue;
    const Candidate& candidate = advice.candidate;
    const whatif::SectionGains& bounds = *advice.effect.sections;
    std::vector<std::string> notes = improve::lock_notes(*facts.trace, advice.candidate);
    if (std::string more = gain_beyond_conflicts(advice); !more.empty()) notes.push_back(std::move(more));
    const std::string note = fmt::format("{}", fmt::join(notes, "; "));
    table.add_row({rank, what_of(advice), sites_text(facts, candidate.sites), locks_text(*facts.trace, candidate.locks),
                   fmt::format("{} of {}", candidate.improvement.sections.size(), candidate.of_sections),
                   free_order(advice), interval(priced, advice), std::string(name_of(advice.verdict)),
                   bounds.recorded_order, bounds.floor ? Cell(*bounds.floor) : Cell(),
                   note.empty() ? Cell() : Cell(note)});
  }
  table.set_empty_reason(priced.advices.ranked.empty()
                             ? "no remedy: what the sections touch needs the locks as they are, or is not known"
                             : "no remedy gains anything; --all shows what was considered");
  return table;
}

#define CONTRAFACT_PAIR_COLUMNS                                                                                        \
  {"pairs", "pairs", Type::integer, Unit::none,                                                                        \
   "Sections of one lock that follow each other in different threads; the second one was asked for here."},            \
      {"unnecessary", "unnecessary", Type::integer, Unit::none,                                                        \
       "Of these, null, read-read, disjoint and benign ones."},                                                        \
      {"kinds", "kinds", Type::word, Unit::none, "The unnecessary ones by kind, where there are any.", 2},             \
      {"null_lock", "null", Type::integer, Unit::none, "Unnecessary: one of the two touches no memory.", 7},           \
      {"read_read", "read-read", Type::integer, Unit::none, "Unnecessary: both only read.", 7},                        \
      {"disjoint_write",                                                                                               \
       "disjoint",                                                                                                     \
       Type::integer,                                                                                                  \
       Unit::none,                                                                                                     \
       "Unnecessary: what the one writes the other does not touch.",                                                   \
       7},                                                                                                             \
      {"benign",                                                                                                       \
       "benign",                                                                                                       \
       Type::integer,                                                                                                  \
       Unit::none,                                                                                                     \
       "Unnecessary: where they meet, writes change nothing (silent), or commute.",                                    \
       7},                                                                                                             \
      {"conflict", "conflict", Type::integer, Unit::none, "Necessary: one writes what the other reads or writes.", 3}, \
      {"unknown", "unknown", Type::integer, Unit::none, "What the two touched is not known completely.", 3},           \
      {"wait_ns", "wait", Type::duration, Unit::ns, "Waited by the second sections for the first ones, of any kind.",  \
       6},                                                                                                             \
      {"cost_ns", "cost", Type::duration, Unit::ns,                                                                    \
       "Of the unnecessary pairs: how much earlier the later of the two threads would have finished what follows."},   \
      {"p", "P", Type::ratio, Unit::ratio, "Of the cost of all unnecessary pairs: PerfPlay's equation 6.", 1}

#define CONTRAFACT_VERDICT                                                                                           \
  "What to think of the gain: within its error is one no greater than the simulation's error on the unchanged run, " \
  "or than the spread of its own runs; "                                                                             \
  "baseline off: the gain is not greater than that error."

const table::Schema kUlcSitesSchema{
    "ulc_sites",
    "Code that waits for locks, the dearest unnecessary contention first; costs are measured, gains estimated or "
    "simulated.",
    {{"site", "site", Type::places, Unit::none, "Function, file and line of the call, or symbol and offset."},
     CONTRAFACT_PAIR_COLUMNS,
     {"remedy", "best remedy", Type::text, Unit::none, "The one that gains most at this site."},
     {"gain", "gain", Type::ratio, Unit::ratio,
      "Of the run's duration, by that: simulated, or of the recorded order where it could not be simulated."},
     {"gain_interval", "interval", Type::interval, Unit::ratio,
      "The gain's range, over simulations with drawn hand-overs; widened by the error of the simulation of the "
      "unchanged run.",
      2},
     {"verdict", "verdict", Type::word, Unit::none, CONTRAFACT_VERDICT}}};

const table::Schema kUlcPairsSchema{
    "ulc_pairs",
    "Pairs of places whose sections followed each other, the dearest unnecessary contention first.",
    {{"first", "holds", Type::places, Unit::none, "Where the first section was asked for."},
     {"second", "waits", Type::places, Unit::none, "Where the second one was."},
     CONTRAFACT_PAIR_COLUMNS}};
#undef CONTRAFACT_PAIR_COLUMNS

const table::Schema kUlcConflictsSchema{
    "ulc_conflicts",
    "What the sections that need their order conflict on, most pairs first. Of a JVM.",
    {{"site", "site", Type::places, Unit::none, "Where the second section of the pairs was asked for."},
     {"memory", "conflicts on", Type::text, Unit::none,
      "A field, by the class that declares it; or elements of an array."},
     {"pairs", "pairs", Type::integer, Unit::none,
      "Pairs that follow each other and conflict there; a pair may conflict at several places."}}};

static const std::string& section_kinds_legend() {
  static const std::string text = kinds_text(whatif::Target::sections, true) + ".";
  return text;
}

const table::Schema kLockRemediesSchema{
    "lock_remedies",
    "What to change about locks and what that would gain, the best first.",
    {{"rank", "#", Type::integer, Unit::none, "Position in the ranking; the file name of its spec begins with it."},
     {"what", "what", Type::text, Unit::none, section_kinds_legend()},
     {"where", "where", Type::places, Unit::none, "The code that changes, the most used first."},
     {"locks", "locks", Type::text, Unit::none, "The locks concerned.", 3},
     {"sections", "sections", Type::word, Unit::none, "How many critical sections of how many there would change.", 5},
     {"free_order", "gain", Type::ratio, Unit::ratio,
      "Simulated: whoever comes first gets the lock, on the recorded cores."},
     {"free_order_interval", "interval", Type::interval, Unit::ratio,
      "That gain's range, over simulations with drawn hand-overs; widened by the error of the simulation of the "
      "unchanged run.",
      1},
     {"verdict", "verdict", Type::word, Unit::none, CONTRAFACT_VERDICT},
     {"recorded_order", "recorded order", Type::ratio, Unit::ratio,
      "Estimated: locks are acquired in the recorded order, cores are no limit.", 3},
     {"floor", "by conflicts", Type::ratio, Unit::ratio,
      "Estimated: these locks order only what conflicts, cores are no limit. Not an upper bound: other orders of "
      "locks may gain more.",
      4},
     {"note", "note", Type::text, Unit::none, "What to know before believing it.", 0, true}}};

}  // namespace contrafact::cli
