#include "cli/metric_tables.h"

#include "analysis/places.h"

#include <fmt/format.h>

#include "cli/callers.h"
#include "cli/source_files.h"
#include "table/render.h"

namespace contrafact::cli {
namespace {

using table::Cell;
using table::Type;
using table::Unit;

table::Location location(const model::Trace& trace, model::MethodId id, uint32_t line) {
  const format::MethodRow& method = trace.methods[id.index()];
  table::Location at{trace.method_name(method, false), std::string(trace.string(method.file)), line};
  if (id.index() < trace.source_paths.size())
    at.path = trace.string(trace.source_paths[id.index()]);
  else if (trace.fact("agent") != "native")
    at.path = source_file(trace.string(method.class_name), at.file);
  return at;
}

template <typename Value>
Cell optional_cell(const std::optional<Value>& value) {
  if (!value) return std::monostate{};
  if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<double>(*value);
  } else {
    return static_cast<int64_t>(*value);
  }
}

// A pool's workers say whose they are: the method is the same for all.
Cell body_of(const model::Trace& trace, const analysis::TaskClass& c, std::string_view pool) {
  Cell cell = location_of(trace, c.body);
  if (!c.workers || !c.pool.valid()) return cell;
  table::Location at = std::get<table::Location>(cell.value());
  at.apart = fmt::format("worker of {}", pool.substr(pool.find(' ') + 1));  // without the class
  return at;
}

}  // namespace

const table::Schema kMetricsSchema{
    "metrics",
    "Aggregate metrics of a run.",
    {{"metric", "metric", Type::text, Unit::none, "The name to use in --derive and in weights."},
     {"value", "value", Type::number, Unit::none, "The value, in the unit beside it."},
     {"unit", "unit", Type::text, Unit::none, "s, threads, tasks, copies, or nothing for a share."},
     {"description", "what it is", Type::text, Unit::none, "A sentence that defines the metric.", 1}}};

const table::Schema kHeadroomSchema{
    "headroom",
    "How many concurrent copies of this run each pool could carry.",
    {{"pool", "pool", Type::name, Unit::none, "Class and thread name prefix of the executor."},
     {"size", "size", Type::integer, Unit::threads, "Most workers that it may have; empty if unbounded or unknown."},
     {"workers_seen", "workers", Type::integer, Unit::threads, "Workers that the run shows.", 4},
     {"peak_occupied", "peak", Type::integer, Unit::threads, "Most workers occupied (active or waiting) at once."},
     {"mean_occupied", "mean", Type::number, Unit::threads, "Mean number of workers occupied."},
     {"utilisation", "used", Type::ratio, Unit::ratio, "Mean occupied workers as a share of the size.", 2},
     {"active_utilisation", "used active", Type::ratio, Unit::ratio, "Mean active workers as a share of the size.", 3},
     {"saturated_ns", "saturated", Type::duration, Unit::ns, "Time with every worker occupied."},
     {"queue_peak", "queue", Type::integer, Unit::tasks, "Most tasks waiting for a worker at once.", 1},
     {"copies_by_peak", "copies at peak", Type::integer, Unit::none,
      "Concurrent copies of this run that fit the pool if their peaks coincide."},
     {"copies_by_mean", "copies at mean", Type::number, Unit::none, "The same if their use averages out.", 5}}};

const table::Schema kTaskClassesSchema{
    "task-classes",
    "Tasks grouped by what they run and where they are spawned.",
    {{"body", "runs", Type::location, Unit::none, "The method that the tasks run."},
     {"spawn", "spawned at", Type::location, Unit::none, "The program's innermost frame at the spawn."},
     {"pool", "pool", Type::name, Unit::none, "The executor that they are given to.", 6},
     {"count", "tasks", Type::integer, Unit::tasks, "How many there are."},
     {"exceptions", "failed", Type::integer, Unit::tasks, "How many ended by an exception.", 8},
     {"total_ns", "total", Type::duration, Unit::ns, "Their durations (start to end) summed."},
     {"mean_ns", "mean", Type::duration, Unit::ns, "Mean duration."},
     {"p99_ns", "p99", Type::duration, Unit::ns, "Duration that 99 % of them do not exceed.", 4},
     {"wait_share", "waiting", Type::ratio, Unit::ratio, "Share of their own time asleep for other tasks' results."},
     {"block_share", "blocked", Type::ratio, Unit::ratio, "Share of their own time in locks, queues and sleeps.", 3},
     {"cpu_share", "on a core", Type::ratio, Unit::ratio,
      "Share of their own time on a core; empty if the kernel did not report it.", 7},
     {"queue_mean_ns", "queued", Type::duration, Unit::ns, "Mean time from spawn to start.", 2}}};

const table::Schema kUsageSeriesSchema{
    "thread-use",
    "How many threads are in each state over time; a row holds until the next row's time.",
    {{"time_ns", "time", Type::duration, Unit::ns, "Since the window's begin."},
     {"active", "active", Type::integer, Unit::threads, "Threads executing a task, those in `blocked` included."},
     {"blocked", "blocked", Type::integer, Unit::threads, "Of these, threads inside a lock, queue, sleep or input."},
     {"waiting", "waiting", Type::integer, Unit::threads, "Threads asleep for another task's result."},
     {"unoccupied", "unoccupied", Type::integer, Unit::threads, "Pool workers without a task."},
     {"occupied", "occupied", Type::integer, Unit::threads, "Active and waiting."}}};

table::Cell location_of(const model::Trace& trace, model::ContextId context) {
  const model::ContextId whole = context;
  context = trace.program_frame(context);
  if (!context.valid()) return std::monostate{};
  const format::ContextRow& row = trace.contexts[context.index()];
  if (!row.method.valid()) return std::monostate{};
  table::Location at = location(trace, row.method, row.line);
  at.via = trace.called_library(whole);
  at.owner = trace.owner_name(row.method);
  return at;
}

table::Cell location_of(const model::Trace& trace, model::MethodId method) {
  if (!method.valid()) return std::monostate{};
  return location(trace, method, trace.methods[method.index()].line);
}

table::Table metrics_table(const std::vector<analysis::Metric>& metrics) {
  table::Table table(kMetricsSchema);
  for (const analysis::Metric& metric : metrics) {
    table.add_row({std::string(metric.spec->name), metric.value, std::string(metric.spec->unit),
                   std::string(metric.spec->description)});
  }
  return table;
}

table::Table headroom_table(const model::Trace& trace, const std::vector<analysis::PoolHeadroom>& pools) {
  table::Table table(kHeadroomSchema);
  const std::vector<std::string> names = analysis::pool_names(trace);
  for (const analysis::PoolHeadroom& pool : pools) {
    bool bounded = pool.size != 0 && pool.size != UINT32_MAX;
    table.add_row({pool.pool.valid() ? names[pool.pool.index()] : "-", bounded ? Cell(int64_t{pool.size}) : Cell(),
                   int64_t{pool.workers_seen}, int64_t{pool.peak_occupied}, pool.mean_occupied,
                   bounded ? Cell(pool.utilisation) : Cell(), bounded ? Cell(pool.active_utilisation) : Cell(),
                   pool.saturated_ns, int64_t{pool.queue_peak}, optional_cell(pool.copies_by_peak),
                   optional_cell(pool.copies_by_mean)});
  }
  table.set_empty_reason("no task was given to a pool");
  return table;
}

table::Table task_classes_table(const model::Trace& trace, const std::vector<analysis::TaskClass>& classes) {
  const std::vector<std::string> pools = analysis::pool_names(trace);
  Rows rows;
  std::vector<model::ContextId> contexts;
  for (const analysis::TaskClass& c : classes) {
    const std::string pool = c.pool.valid() ? pools[c.pool.index()] : "-";
    rows.push_back({body_of(trace, c, pool), location_of(trace, c.context), pool, static_cast<int64_t>(c.count),
                    static_cast<int64_t>(c.exceptions), c.duration.total_ns, static_cast<int64_t>(c.duration.mean_ns()),
                    c.duration.p99_ns, c.wait_share, c.block_share, optional_cell(c.cpu_share),
                    static_cast<int64_t>(c.queueing.mean_ns())});
    contexts.push_back(c.context);
  }
  constexpr size_t kSpawnColumn = 1;
  name_callers(trace, contexts, kSpawnColumn, rows);
  table::Table table(kTaskClassesSchema);
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  return table;
}

void usage_series_csv(const analysis::ThreadUsage& usage, const base::TextSink& sink) {
  std::string text = table::csv_heading(kUsageSeriesSchema);
  const auto add = [&](int64_t time_ns, const analysis::UsageStep& step) {
    text += table::csv_line(kUsageSeriesSchema,
                            {time_ns, int64_t{step.active}, int64_t{step.blocked}, int64_t{step.waiting},
                             int64_t{step.unoccupied}, int64_t{step.occupied()}});
    base::hand_on(text, sink);
  };
  for (const analysis::UsageStep& step : usage.steps) add(step.time_ns - usage.window.begin_ns, step);
  // The last row says where the window ends.
  if (!usage.steps.empty()) add(usage.window.duration_ns(), {});
  sink(text);
}

}  // namespace contrafact::cli
