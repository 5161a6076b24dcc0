#include "analysis/granularity.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>

#include "analysis/cpu_use.h"
#include "analysis/spawn_places.h"
#include "model/library_calls.h"

namespace contrafact::analysis {
namespace {

using model::ContextId;
using model::EventKind;
using model::TaskId;
using model::TaskRow;
using model::Trace;

// As in model/hand_over_costs.h: a longer time from one task to the next is something else.
constexpr int64_t kTakeMaxNs = 100'000;

// Groups the counted tasks, and those that would have counted.
class Grouping {
 public:
  Grouping(const Trace& trace, ClassKey key, Granularity& out) : trace_(trace), key_(key), places_(trace), out_(out) {}

  void run() {
    out_.of_task.assign(trace_.tasks.size(), kNoClass);
    for (uint32_t i = 0; i < trace_.tasks.size(); ++i) add(i);
    for (uint32_t i = 0; i < trace_.tasks.size(); ++i) count_part(i);
  }

 private:
  void add(uint32_t i) {
    const TaskRow& task = trace_.tasks[i];
    const ExecutionState state = out_.executions.state[i];
    if (state == ExecutionState::aggregated || (state == ExecutionState::never && !task.spawn.valid())) return;
    if (model::is_worker_run(trace_, task)) {
      ++out_.worker_runs;
      return;
    }
    const ContextId place = one_of(places_.of(task));
    const model::MethodId body = one_of(task.body);
    const uint64_t body_key = key_ == ClassKey::context ? 0 : body.value;
    const uint64_t place_key = key_ == ClassKey::body ? 0 : place.value;
    const auto [entry, is_new] =
        numbers_.try_emplace(body_key << 32 | place_key, static_cast<uint32_t>(out_.classes.size()));
    if (is_new) {
      ClassGranularity& fresh = out_.classes.emplace_back();
      fresh.body = body;
      fresh.context = place;
      fresh.pool = task.pool;
      fresh.kind = task.kind;
      fresh.contexts.create = task.create_context;
      fresh.contexts.spawn = task.spawn_context;
    }
    ClassGranularity& known = out_.classes[entry->second];
    if (known.body != body) known.body = {};
    if (known.context != place) known.context = {};
    if (known.pool != task.pool) known.pool = {};
    if (state != ExecutionState::counted) {
      ++known.never;
      return;
    }
    out_.of_task[i] = entry->second;
    note_counted(i, task, known);
  }

  void note_counted(uint32_t i, const TaskRow& task, ClassGranularity& known) {
    ++known.count;
    known.exceptions +=
        trace_.b[task.end.index()] == static_cast<uint32_t>(model::Outcome::exception) ||
        (task.complete.valid() && trace_.b[task.complete.index()] == static_cast<uint32_t>(model::Outcome::exception));
    known.handed_out += task.spawn.valid();
    const TaskId outer = out_.executions.outer[i];
    known.nested += outer.valid() && trace_.tasks[outer.index()].kind != model::TaskKind::thread;
    ClassContexts& contexts = known.contexts;
    contexts.create_known &= task.create.valid();
    contexts.one_create &= task.create_context == contexts.create;
    contexts.one_spawn &= task.spawn_context == contexts.spawn;
    contexts.made_where_spawned &= method_at(task.create_context) == method_at(task.spawn_context);
  }

  // The first method of the same name and lines: in native programs, each address is one of its own.
  model::MethodId one_of(model::MethodId method) {
    if (!method.valid()) return method;
    if (one_method_.empty()) one_method_.resize(trace_.methods.size());
    model::MethodId& known = one_method_[method.index()];
    if (known.valid()) return known;
    const format::MethodRow& row = trace_.methods[method.index()];
    const auto text = [&](format::StringId id) { return std::string(trace_.string(id)) + '\n'; };
    const std::string name = text(row.class_name) + text(row.name) + text(row.file) + std::to_string(row.line);
    known = row.name.valid() ? methods_by_name_.try_emplace(name, method).first->second : method;
    return known;
  }

  // The first context of the same line: the way there does not matter, nor what is called there (a vector that grows).
  ContextId one_of(ContextId context) {
    if (!context.valid()) return context;
    if (one_context_.empty()) one_context_.resize(trace_.contexts.size());
    ContextId& known = one_context_[context.index()];
    if (known.valid()) return known;
    const ContextId frame = trace_.program_frame(context);
    const format::ContextRow& row = trace_.contexts[frame.valid() ? frame.index() : context.index()];
    const uint64_t line = uint64_t{one_of(row.method).value} << 32 | row.line;
    known = row.method.valid() ? lines_.try_emplace(line, context).first->second : context;
    return known;
  }

  // The program's method that a context ends in.
  model::MethodId method_at(ContextId context) {
    if (!context.valid()) return {};
    if (methods_.empty()) methods_.resize(trace_.contexts.size());
    model::MethodId& known = methods_[context.index()];
    if (!known.valid()) {
      const ContextId frame = trace_.program_frame(context);
      if (frame.valid()) known = one_of(trace_.contexts[frame.index()].method);
    }
    return known;
  }

  // What the task is to the class of the one around it.
  void count_part(uint32_t i) {
    const bool is_part = out_.executions.state[i] == ExecutionState::aggregated;
    const TaskId other = is_part ? out_.executions.owner[i] : out_.executions.outer[i];
    if (!other.valid() || out_.of_task[other.index()] == kNoClass) return;
    ClassGranularity& c = out_.classes[out_.of_task[other.index()]];
    if (is_part) {
      ++c.aggregated;
    } else if (trace_.tasks[other.index()].kind == model::TaskKind::thread) {
      c.inner_core_ns += out_.executions.core_ns[i];
    }
  }

  const Trace& trace_;
  const ClassKey key_;
  SpawnPlaces places_;
  Granularity& out_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::unordered_map<std::string, model::MethodId> methods_by_name_;
  std::unordered_map<uint64_t, ContextId> lines_;
  std::vector<model::MethodId> one_method_;  // by method
  std::vector<ContextId> one_context_;       // by context
  std::vector<model::MethodId> methods_;     // by context
};

// Sums up the classes, each with all its tasks at a time.
class Summing {
 public:
  Summing(const model::Facts& facts, Granularity& out, size_t outliers_max)
      : trace_(facts.trace()), costs_(facts.hand_over_costs()), cpu_(trace_), out_(out), outliers_max_(outliers_max) {}

  void run() {
    const std::vector<uint32_t>& of_task = out_.of_task;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < of_task.size(); ++i) {
      if (of_task[i] != kNoClass) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](uint32_t task) { return of_task[task]; });
    for (size_t i = 0; i < order.size();) {
      const uint32_t of_class = of_task[order[i]];
      size_t end = i;
      while (end < order.size() && of_task[order[end]] == of_class) ++end;
      sum(of_class, std::span(order).subspan(i, end - i));
      i = end;
    }
    cut_outliers();
  }

 private:
  void sum(uint32_t of_class, std::span<const uint32_t> tasks) {
    ClassGranularity& c = out_.classes[of_class];
    core_.clear();
    queueing_.clear();
    for (const uint32_t task : tasks) {
      core_.push_back(out_.executions.core_ns[task]);
      add_costs(task, c);
    }
    c.core = summarise(core_);
    c.queueing = summarise(queueing_);
    if (c.core.p50_ns > 0) note_outliers(of_class, tasks);
  }

  void add_costs(uint32_t i, ClassGranularity& c) {
    const TaskRow& task = trace_.tasks[i];
    const int64_t start_ns = trace_.time_ns[task.start.index()];
    if (task.spawn.valid()) {
      const int64_t spawned_ns = trace_.time_ns[task.spawn.index()];
      const int64_t due_ns = spawned_ns + int64_t{task.delay_us} * 1000;
      queueing_.push_back(std::max<int64_t>(0, start_ns - due_ns));
      const int64_t spawn_ns = costs_.spawn_ns[i];
      // Thread.start returns when the system has started the thread: its cost stands where a pool's worker's does.
      (task.kind == model::TaskKind::thread ? c.cost.start_ns : c.cost.spawn_ns) +=
          on_core_ns(task.spawn, spawned_ns, spawn_ns);
      c.cost.start_ns += on_core_ns(task.spawn, spawned_ns + spawn_ns, costs_.start_ns[i]);
      c.cost.take_ns += take_ns(task);
    }
    // It ends with the task.
    if (const int64_t answer_ns = costs_.answer_ns[i]; answer_ns > 0)
      c.cost.answer_ns += on_core_ns(task.end, trace_.time_ns[task.end.index()] - answer_ns, answer_ns);
  }

  // Of `duration_ns` from then on, what the event's thread was on a core.
  int64_t on_core_ns(model::EventIndex event, int64_t from_ns, int64_t duration_ns) const {
    if (!cpu_.known() || duration_ns <= 0) return duration_ns;
    return std::max<int64_t>(0, cpu_.cpu_ns(trace_.thread_of(event), from_ns, from_ns + duration_ns));
  }

  // What the worker does between its previous task, or its wake-up, and this one.
  int64_t take_ns(const TaskRow& task) const {
    const model::ThreadId thread = trace_.thread_of(task.start);
    const uint32_t start = task.start.value;
    if (start == trace_.thread_events(thread).begin) return 0;
    const EventKind before = trace_.kind[start - 1];
    if (before != EventKind::task_end && before != EventKind::worker_busy) return 0;
    const int64_t from_ns = trace_.time_ns[start - 1], to_ns = trace_.time_ns[start];
    if (to_ns - from_ns > kTakeMaxNs) return 0;
    return on_core_ns(task.start, from_ns, to_ns - from_ns);
  }

  void note_outliers(uint32_t of_class, std::span<const uint32_t> tasks) {
    ClassGranularity& c = out_.classes[of_class];
    if (c.core.max_ns / kOutlierTimes < c.core.p50_ns) return;
    for (const uint32_t task : tasks) {
      const int64_t core_ns = out_.executions.core_ns[task];
      if (core_ns / kOutlierTimes < c.core.p50_ns) continue;
      ++c.outliers;
      ++out_.outliers_all;
      out_.outliers.push_back(
          {TaskId(task), of_class, core_ns, static_cast<double>(core_ns) / static_cast<double>(c.core.p50_ns)});
    }
    if (out_.outliers.size() > 2 * outliers_max_ + 1000) cut_outliers();
  }

  void cut_outliers() {
    std::ranges::stable_sort(out_.outliers, std::greater<>(), &Outlier::core_ns);
    if (out_.outliers.size() > outliers_max_) out_.outliers.resize(outliers_max_);
  }

  const Trace& trace_;
  const model::HandOverCosts& costs_;
  CpuTimes cpu_;
  Granularity& out_;
  const size_t outliers_max_;
  std::vector<int64_t> core_, queueing_;  // serve class after class
};

// The longest total first; tasks and outliers follow.
void order_classes(Granularity& out) {
  std::vector<uint32_t> order(out.classes.size()), place(out.classes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater<>(), [&](uint32_t i) { return out.classes[i].core.total_ns; });
  std::vector<ClassGranularity> classes;
  classes.reserve(order.size());
  for (const uint32_t i : order) {
    if (out.classes[i].count == 0) continue;
    place[i] = static_cast<uint32_t>(classes.size());
    classes.push_back(out.classes[i]);
  }
  out.classes = std::move(classes);
  for (uint32_t& of_class : out.of_task) {
    if (of_class != kNoClass) of_class = place[of_class];
  }
  for (Outlier& outlier : out.outliers) outlier.of_class = place[outlier.of_class];
}

void add_activity(const Trace& trace, const GranularityOptions& options, Granularity& out) {
  std::vector<int64_t> typical_ns;
  for (const ClassGranularity& c : out.classes) typical_ns.push_back(c.core.p50_ns);
  std::vector<uint32_t> drawn(std::min(options.drawn, out.classes.size()));
  std::iota(drawn.begin(), drawn.end(), 0u);
  Activity activity = class_activity(trace, {.executions = out.executions,
                                             .of_task = out.of_task,
                                             .typical_ns = typical_ns,
                                             .cores = out.cores,
                                             .bins = options.bins,
                                             .drawn_classes = drawn});
  out.run = activity.run;
  out.bins = std::move(activity.bins);
  out.active_shares = std::move(activity.drawn);
  for (size_t i = 0; i < out.classes.size(); ++i) out.classes[i].activity = activity.classes[i];
}

}  // namespace

Granularity granularity(const model::Facts& facts, const GranularityOptions& options) {
  const Trace& trace = facts.trace();
  Granularity out;
  out.executions = task_executions(trace, options.aggregate);
  out.cores = model::recorded_cores(trace);
  Grouping(trace, options.key, out).run();
  Summing(facts, out, options.outliers_max).run();
  order_classes(out);
  if (out.cores > 0) add_activity(trace, options, out);
  for (ClassGranularity& c : out.classes) c.judgement = judge(c, out.run, out.cores, options.tellable_share);
  return out;
}

std::vector<int64_t> core_distribution(const Granularity& granularity, uint32_t of_class, size_t points) {
  std::vector<int64_t> core_ns, result;
  for (size_t i = 0; i < granularity.of_task.size(); ++i) {
    if (granularity.of_task[i] == of_class) core_ns.push_back(granularity.executions.core_ns[i]);
  }
  if (core_ns.empty() || points == 0) return result;
  std::ranges::sort(core_ns);
  for (size_t i = 0; i <= points; ++i) result.push_back(core_ns[(core_ns.size() - 1) * i / points]);
  return result;
}

}  // namespace contrafact::analysis
