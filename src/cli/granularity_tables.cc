#include "cli/granularity_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/places.h"
#include "cli/callers.h"
#include "cli/metric_tables.h"
#include "model/thread_label.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using analysis::ClassActivity;
using analysis::ClassGranularity;
using analysis::Granularity;
using table::Cell;
using table::Type;
using table::Unit;

Cell count_cell(uint64_t count) {
  return static_cast<int64_t>(count);
}

double part_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string place_text(const model::Trace& trace, model::ContextId context) {
  return context.valid() ? trace.context_label(context) : "a place that was not recorded";
}

std::string why_no_activity(const Granularity& granularity) {
  return granularity.classes.empty() ? "no task was executed" : "the trace does not say how many cores the program had";
}

// `at`: of the first task; `one`: of all.
std::string one_sided_text(const model::Trace& trace, const ClassGranularity& c, std::string_view what,
                           model::ContextId at, bool one) {
  if (c.count == 1) return fmt::format("{} in {}", what, place_text(trace, at));
  if (one) return fmt::format("all {} in one loop: {}", what, place_text(trace, at));
  if (c.context.valid())
    return fmt::format("all {} at one line, which several calls lead to: {}", what, place_text(trace, c.context));
  return fmt::format("{} at several lines; the first is {}", what, place_text(trace, at));
}

}  // namespace

double in_100_ms(uint64_t count, int64_t time_ns) {
  constexpr double kSpanNs = 100'000'000;
  return time_ns > 0 ? static_cast<double>(count) * kSpanNs / static_cast<double>(time_ns) : 0;
}

std::string class_label(const model::Trace& trace, const ClassGranularity& c) {
  const std::string body = c.body.valid() ? trace.method_label(c.body) : "";
  if (!c.context.valid()) return body.empty() ? "-" : body;
  const std::string place = trace.context_label(c.context);
  return body.empty() ? "handed out at " + place : fmt::format("{}, handed out at {}", body, place);
}

std::string contexts_text(const model::Trace& trace, const ClassGranularity& c) {
  const analysis::ClassContexts& at = c.contexts;
  const bool is_thread = c.kind == model::TaskKind::thread;
  const std::string_view handed = is_thread ? "started" : "handed out";
  if (c.handed_out == 0) return one_sided_text(trace, c, "made", at.create, at.one_create);
  if (!at.create_known) return one_sided_text(trace, c, handed, at.spawn, at.one_spawn);
  const std::string create = place_text(trace, at.create), spawn = place_text(trace, at.spawn);
  if (c.count == 1) {
    return at.made_where_spawned ? fmt::format("made and {} in {}", handed, spawn)
                                 : fmt::format("made in {}, {} in {}", create, handed, spawn);
  }
  if (at.one_create && at.one_spawn) {
    return at.made_where_spawned
               ? fmt::format("all made in one loop, and {} where made: {}", handed, spawn)
               : fmt::format("all made in one loop of {}, and {} in one of {}", create, handed, spawn);
  }
  if (at.one_create) return fmt::format("all made in one loop of {}, and {} by several calls", create, handed);
  if (at.made_where_spawned && c.context.valid())
    return fmt::format("all made and {} at one line, which several calls lead to: {}", handed,
                       place_text(trace, c.context));
  if (at.made_where_spawned) return fmt::format("{} where made, at several lines; the first is {}", handed, spawn);
  return fmt::format("made in several places, and {} in others; the first: made in {}, {} in {}", handed, create,
                     handed, spawn);
}

table::Table granularity_table(const model::Trace& trace, const Granularity& granularity) {
  const std::vector<std::string> pools = analysis::pool_names(trace);
  Rows rows;
  std::vector<model::ContextId> contexts;
  int64_t rank = 0;
  for (const ClassGranularity& c : granularity.classes) {
    const double count = static_cast<double>(c.count);
    const double active_s = static_cast<double>(c.activity.active_ns) / 1e9;
    const double cost_ns = static_cast<double>(c.cost.all_ns());
    rows.push_back({++rank,
                    location_of(trace, c.body),
                    location_of(trace, c.context),
                    c.pool.valid() ? Cell(pools[c.pool.index()]) : Cell(),
                    count_cell(c.count),
                    count_cell(c.exceptions),
                    count_cell(c.never),
                    count_cell(c.aggregated),
                    c.core.p50_ns,
                    c.core.p90_ns,
                    c.core.p99_ns,
                    c.core.max_ns,
                    c.core.total_ns,
                    active_s > 0 ? Cell(static_cast<double>(c.handed_out) / active_s) : Cell(),
                    static_cast<int64_t>(c.queueing.mean_ns()),
                    static_cast<int64_t>(cost_ns / count),
                    c.core.total_ns > 0 ? Cell(cost_ns / static_cast<double>(c.core.total_ns)) : Cell(),
                    std::string(name_of(c.judgement.verdict)),
                    rule_text(c, granularity.run, granularity.cores),
                    contexts_text(trace, c)});
    contexts.push_back(c.context);
  }
  constexpr size_t kSpawnColumn = 2;
  name_callers(trace, contexts, kSpawnColumn, rows);
  table::Table table(kGranularitySchema);
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  return table;
}

table::Table granularity_activity_table(const model::Trace& trace, const Granularity& granularity) {
  table::Table table(kGranularityActivitySchema);
  table.set_empty_reason(why_no_activity(granularity));
  if (granularity.cores == 0) return table;
  const auto cores = static_cast<double>(granularity.cores);
  const bool by_kernel = granularity.executions.core_known;
  int64_t rank = 0;
  for (const ClassGranularity& c : granularity.classes) {
    const ClassActivity& a = c.activity;
    const auto active_ns = static_cast<double>(a.active_ns);
    const int64_t otherwise_ns = granularity.run.run_ns - a.active_ns;
    const auto switches = [&](uint64_t count, int64_t time_ns) {
      return by_kernel && time_ns > 0 ? Cell(in_100_ms(count, time_ns)) : Cell();
    };
    table.add_row({++rank, location_of(trace, c.body), part_of(active_ns, static_cast<double>(granularity.run.run_ns)),
                   count_cell(a.waves), part_of(a.working_ns, active_ns),
                   part_of(a.blocked_ns, a.working_ns + a.blocked_ns + a.waiting_ns),
                   part_of(a.waiting_ns, a.working_ns + a.blocked_ns + a.waiting_ns),
                   part_of(a.used_ns, cores * active_ns), switches(a.preemptions, a.active_ns),
                   switches(a.blocks, a.active_ns), switches(granularity.run.preemptions - a.preemptions, otherwise_ns),
                   switches(granularity.run.blocks - a.blocks, otherwise_ns), count_cell(a.pauses), a.paused_ns});
  }
  return table;
}

table::Table granularity_idle_table(const model::Trace& trace, const Granularity& granularity) {
  table::Table table(kGranularityIdleSchema);
  table.set_empty_reason(why_no_activity(granularity));
  if (granularity.cores == 0) return table;
  int64_t rank = 0;
  for (const ClassGranularity& c : granularity.classes) {
    const auto share = [&](double ns) { return Cell(part_of(ns, c.activity.available_ns())); };
    const analysis::IdleCores& idle = c.activity.idle;
    table.add_row({++rank, location_of(trace, c.body), share(idle.all()), share(idle.few), share(idle.ragged),
                   share(idle.straggler), share(idle.queued), share(idle.blocked), share(idle.waits),
                   share(idle.handed_out)});
  }
  return table;
}

table::Table granularity_outliers_table(const model::Trace& trace, const Granularity& granularity) {
  table::Table table(kGranularityOutliersSchema);
  for (const analysis::Outlier& outlier : granularity.outliers) {
    const model::TaskRow& task = trace.tasks[outlier.task.index()];
    const model::TaskId outer = granularity.executions.outer[outlier.task.index()];
    const bool in_task = outer.valid() && trace.tasks[outer.index()].kind != model::TaskKind::thread;
    table.add_row({int64_t{outlier.of_class} + 1, location_of(trace, task.body), outlier.core_ns, outlier.times_median,
                   trace.time_ns[task.start.index()] - trace.begin_ns(),
                   model::thread_label(trace, trace.thread_of(task.start)), location_of(trace, task.create_context),
                   location_of(trace, task.spawn_context),
                   in_task ? location_of(trace, trace.tasks[outer.index()].body) : Cell()});
  }
  table.set_empty_reason("no task took a hundred times the median of its class");
  return table;
}

const table::Schema kGranularitySchema{
    "granularity",
    "How much work the tasks of each class are, what handing them out costs beside it, and whether they are too small "
    "or too large.",
    {{"rank", "#", Type::integer, Unit::none, "Position in the table: the longest total first."},
     {"body", "runs", Type::location, Unit::none, "The method that the tasks run."},
     {"spawn", "handed out at", Type::location, Unit::none, "The program's innermost frame where they are handed out."},
     {"pool", "pool", Type::name, Unit::none,
      "The executor that they are handed to; empty for threads, and where it is not one.", 9},
     {"count", "tasks", Type::integer, Unit::tasks, "How many were executed to their end."},
     {"exceptions", "failed", Type::integer, Unit::tasks, "Of these, ended by an exception.", 14},
     {"never", "never", Type::integer, Unit::tasks, "Handed out besides, and not executed to their end.", 13},
     {"aggregated", "parts", Type::integer, Unit::tasks,
      "Nested tasks that are parts of these: they could not have run beside them. --no-aggregation counts them as "
      "tasks.",
      12},
     {"p50_ns", "median", Type::duration, Unit::ns,
      "Time on a core that half of the tasks do not exceed; without nested tasks that count themselves."},
     {"p90_ns", "p90", Type::duration, Unit::ns, "The same for 90 % of them.", 8},
     {"p99_ns", "p99", Type::duration, Unit::ns, "The same for 99 %.", 4},
     {"max_ns", "max", Type::duration, Unit::ns, "The longest one's time on a core.", 2},
     {"total_ns", "total", Type::duration, Unit::ns, "Their times on a core, summed."},
     {"rate", "per second", Type::number, Unit::none, "How many are handed out in a second while the class is active.",
      11},
     {"queue_mean_ns", "queued", Type::duration, Unit::ns, "Mean time from the spawn to the start.", 7},
     {"cost_mean_ns", "cost", Type::duration, Unit::ns,
      "Mean time on cores that handing out, starting and answering for one takes, beside its work."},
     {"cost_ratio", "cost/work", Type::ratio, Unit::ratio, "The same of all, as a share of their work.", 1},
     {"verdict", "verdict", Type::word, Unit::none, "fine, coarse, unbalanced, right, or not known."},
     {"why", "why", Type::text, Unit::none, "The rule that decided the verdict.", 0, true},
     {"contexts", "where", Type::text, Unit::none,
      "Where the tasks are made, as far as the recording says it, and handed out.", 0, true}}};

const table::Schema kGranularityActivitySchema{
    "granularity-activity",
    "What the machine does while each class is active: from the moment when one of its tasks is handed out until none "
    "is pending.",
    {{"rank", "#", Type::integer, Unit::none, "The class's position in the table of granularity."},
     {"body", "runs", Type::location, Unit::none, "The method that its tasks run."},
     {"active", "active", Type::ratio, Unit::ratio,
      "Share of the run in which the class is active; pauses are left out."},
     {"waves", "waves", Type::integer, Unit::none, "How often it was active.", 5},
     {"at_work", "at work", Type::number, Unit::threads, "Threads at work in its tasks then, on average."},
     {"blocked", "in blocks", Type::ratio, Unit::ratio, "Share of its tasks' time in which their threads are blocked.",
      4},
     {"waiting", "in waits", Type::ratio, Unit::ratio,
      "Share of its tasks' time in which they wait for other tasks' results.", 4},
     {"utilisation", "cores used", Type::ratio, Unit::ratio,
      "Share of the cores' time that the program and its virtual machine use then."},
     {"preempted", "preempted", Type::number, Unit::none,
      "Switches in 100 ms while it is active in which a thread lost its core."},
     {"blocks", "blocks", Type::number, Unit::none, "Switches in 100 ms while it is active in which a thread blocked."},
     {"preempted_otherwise", "preempted else", Type::number, Unit::none,
      "Switches in 100 ms of the rest of the run: core lost.", 2},
     {"blocks_otherwise", "blocks else", Type::number, Unit::none,
      "Switches in 100 ms of the rest of the run: blocked.", 2},
     {"pauses", "pauses", Type::integer, Unit::none, "Stops of all threads by the virtual machine while it is active.",
      6},
     {"paused_ns", "paused", Type::duration, Unit::ns, "How long these were.", 6}}};

const table::Schema kGranularityIdleSchema{
    "granularity-idle",
    "Why cores are idle while each class is active; shares of the cores' time then, without what other programs took "
    "while a "
    "thread was ready.",
    {{"rank", "#", Type::integer, Unit::none, "The class's position in the table of granularity."},
     {"body", "runs", Type::location, Unit::none, "The method that its tasks run."},
     {"all", "cores idle", Type::ratio, Unit::ratio,
      "Share of the cores' time for which the program has no thread that is on a core or ready for one; the sum of the "
      "others."},
     {"few", "few", Type::ratio, Unit::ratio,
      "Share of the cores' time that is idle because waves have fewer tasks than cores."},
     {"ragged", "ragged", Type::ratio, Unit::ratio, "The same because the last tasks of waves do not end together."},
     {"straggler", "straggler", Type::ratio, Unit::ratio,
      "The same because some run on for more than twice the median."},
     {"queued", "queued", Type::ratio, Unit::ratio,
      "The same although tasks were handed out: no worker was free, or it was waking up."},
     {"blocked", "blocked", Type::ratio, Unit::ratio, "The same because its threads were blocked."},
     {"waits", "waits", Type::ratio, Unit::ratio, "The same because all its tasks waited for others."},
     {"handed_out", "late", Type::ratio, Unit::ratio, "The same because its tasks came one after another."}}};

const table::Schema kGranularityOutliersSchema{
    "granularity-outliers",
    "Tasks that took a hundred times the median of their class, or more; the longest first.",
    {{"class", "#", Type::integer, Unit::none, "The class's position in the table of granularity."},
     {"body", "runs", Type::location, Unit::none, "The method that it runs."},
     {"core_ns", "on a core", Type::duration, Unit::ns, "Its time on a core."},
     {"times_median", "x median", Type::number, Unit::none, "How many times the class's median that is."},
     {"start_ns", "started", Type::duration, Unit::ns, "When it started, from the beginning of the run."},
     {"thread", "thread", Type::text, Unit::none, "The thread that executed it.", 2},
     {"create", "made at", Type::location, Unit::none, "Where it was made.", 3},
     {"spawn", "handed out at", Type::location, Unit::none, "Where it was handed out."},
     {"outer", "within", Type::location, Unit::none, "The task within which it was executed, by a worker that waited.",
      1}}};

}  // namespace contrafact::cli
