#include "cli/grain_curve_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/places.h"
#include "cli/metric_tables.h"
#include "improve/kinds/kinds.h"

namespace contrafact::cli {

using advise::GrainAxis;
using advise::GrainCurve;
using advise::GrainPoint;
using table::Cell;

const table::Schema kGrainCurvesSchema{
    "granularity_curves",
    "What the run would take with fewer and larger tasks, or with more and smaller ones. Simulated.",
    {
        {"body", "tasks run", table::Type::location, table::Unit::none, "What the tasks of the class run."},
        {"setting", "setting", table::Type::integer, table::Unit::none,
         "How many tasks of the class there are; of a recursion, the deepest level that is handed out (the first is "
         "0)."},
        {"change", "change", table::Type::word, table::Unit::none,
         "What is made of the tasks: neighbours become one (merge-tasks), each becomes several (split-tasks), or a "
         "recursion runs in place below a level (cut-off); nothing for the recorded setting."},
        {"duration_ns", "run takes", table::Type::duration, table::Unit::ns, "The simulated duration of the run."},
        {"gain", "gain", table::Type::ratio, table::Unit::ratio, "The share of the run that the change gains."},
        {"gain_interval", "gain, 90 %", table::Type::interval, table::Unit::ratio,
         "Nominally nine of ten real gains lie between."},
        {"remark", "", table::Type::word, table::Unit::none,
         "best: the setting to choose; as good: about as good as the best one; recorded: as the program was."},
        {"place", "handed out at", table::Type::location, table::Unit::none,
         "The line of the program that hands them out; of a recursion, that of the first task."},
    }};

namespace {

std::string remark_of(const GrainCurve& curve, size_t at) {
  if (curve.points[at].effect.stuck) return "hangs";
  if (at == curve.best) return curve.gains() ? "best" : "recorded, best";
  if (curve.points[at].improvement.optimisation == nullptr) return "recorded";
  return curve.flat_first <= at && at <= curve.flat_last ? "as good" : "";
}

std::string change_of(const GrainPoint& point) {
  const whatif::Improvement& made = point.improvement;
  if (made.optimisation == improve::kinds::merge_tasks) return fmt::format("{} into one", made.size_after);
  if (made.optimisation == improve::kinds::split_tasks) return fmt::format("each into {}", made.size_after);
  if (made.optimisation == improve::kinds::cut_off) return fmt::format("down to level {}", made.size_after);
  return "";
}

model::ContextId grain_place(const model::Trace& trace, const GrainCurve& curve) {
  return analysis::place_of(trace, curve.grain.place, curve.grain.tasks);
}

}  // namespace

table::Table grain_curves_table(const model::Trace& trace, const std::vector<GrainCurve>& curves, bool all) {
  table::Table result(kGrainCurvesSchema);
  for (const GrainCurve& curve : curves) {
    for (size_t i = 0; i < curve.points.size(); ++i) {
      const GrainPoint& point = curve.points[i];
      const bool is_recorded = point.improvement.optimisation == nullptr;
      const bool is_shown = is_recorded || i == curve.best || i == curve.flat_first || i == curve.flat_last;
      if (!all && !is_shown) continue;
      const bool ends = !point.effect.stuck;
      result.add_row({location_of(trace, curve.grain.body), static_cast<int64_t>(point.setting), change_of(point),
                      ends ? Cell(point.effect.duration_ns) : Cell(), ends ? Cell(point.gain.share) : Cell(),
                      ends && !is_recorded ? Cell(table::Interval{point.gain.low, point.gain.high}) : Cell(),
                      remark_of(curve, i), location_of(trace, grain_place(trace, curve))});
    }
  }
  return result;
}

table::Json grain_curves_json(const model::Trace& trace, const std::vector<GrainCurve>& curves) {
  table::Json list = table::Json::array();
  for (const GrainCurve& curve : curves) {
    table::Json one;
    one["axis"] = curve.axis == GrainAxis::level ? "level" : curve.axis == GrainAxis::threads ? "threads" : "tasks";
    one["body"] = trace.method_label(curve.grain.body);
    const model::ContextId place = grain_place(trace, curve);
    one["place"] = place.valid() ? table::Json(trace.context_label(place)) : table::Json();
    one["before"] = curve.before;
    int64_t recorded_ns = 0;
    for (const GrainPoint& point : curve.points) {
      if (point.improvement.optimisation == nullptr) recorded_ns = point.effect.duration_ns;
    }
    table::Json points = table::Json::array();
    for (const GrainPoint& point : curve.points) {
      const bool is_recorded = point.improvement.optimisation == nullptr;
      table::Json entry;
      entry["kind"] = is_recorded ? table::Json() : table::Json(name_of(point.improvement.optimisation));
      entry["setting"] = point.setting;
      entry["factor"] = is_recorded ? 1u : point.improvement.size_after;
      for (const char* name : {"duration_ns", "low_ns", "high_ns", "speedup", "gain", "gain_low", "gain_high"})
        entry[name] = nullptr;
      if (!point.effect.stuck) {
        const auto base_ns = static_cast<double>(recorded_ns);
        entry["duration_ns"] = point.effect.duration_ns;
        entry["low_ns"] = std::llround(base_ns * (1 - point.gain.high));
        entry["high_ns"] = std::llround(base_ns * (1 - point.gain.low));
        if (point.effect.duration_ns > 0) entry["speedup"] = base_ns / static_cast<double>(point.effect.duration_ns);
        entry["gain"] = point.gain.share;
        entry["gain_low"] = point.gain.low;
        entry["gain_high"] = point.gain.high;
      }
      points.push_back(std::move(entry));
    }
    one["points"] = std::move(points);
    one["best"] = curve.points[curve.best].setting;
    one["flat_from"] = curve.points[curve.flat_first].setting;
    one["flat_to"] = curve.points[curve.flat_last].setting;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace contrafact::cli
