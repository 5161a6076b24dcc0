#include "graph/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "model/blocked_on.h"
#include "model/finish.h"

namespace contrafact::graph {
namespace {

using model::EventKind;
using model::TaskRow;
using model::Trace;

// Where a body's events are to be taken from next, and how its old times map to new ones.
struct Cursor {
  uint32_t next = 0;        // event
  int64_t last_old_ns = 0;  // of the last vertex, or of what it called
  int64_t last_new_ns = 0;
  uint32_t alias = UINT32_MAX;  // the task that stands for it: itself, or the stage of a continuation
  bool asked = false;           // the delay before the next vertex, a wait, is over
};

// One thread's row of steps, and the thread that gets its events.
struct Row {
  size_t steps;
  uint32_t thread;
};

class Restorer {
 public:
  Restorer(const TraceDag& dag, std::span<const Placement> placements, const Propagated& propagated,
           int64_t epilogue_ns)
      : dag_(dag), old_(*dag.trace), placements_(placements), propagated_(propagated) {
    new_end_ns_ = propagated.end_ns + epilogue_ns;
    old_end_ns_ = old_.end_ns();
    old_begin_ns_ = old_.begin_ns();
    cursors_.resize(dag.bodies.size());
  }

  base::Result<Trace> run() {
    copy_tables();
    // Parts without a thread of the recording may be hosted before or after the part that they continue: cursors of
    // continuations do not depend on the order, since each part's first event is known from its first vertex.
    for (const Row& row : rows()) {
      const auto begin = static_cast<uint32_t>(new_.kind.size());
      if (!new_.thread_ranges.empty() && row.thread < new_.thread_ranges.size()) {
        restore_row(row);
        new_.thread_ranges[row.thread].end = static_cast<uint32_t>(new_.kind.size());
        continue;
      }
      new_.thread_ranges.push_back({begin, begin});
      restore_row(row);
      new_.thread_ranges.back().end = static_cast<uint32_t>(new_.kind.size());
    }
    for (size_t i = 0; i < new_.thread_ranges.size(); ++i) clamp_to_end(new_.thread_ranges[i]);
    return model::finish(std::move(new_));
  }

 private:
  void copy_tables() {
    new_.origin = model::Origin::estimated;
    new_.facts = old_.facts;
    new_.loss = old_.loss;
    new_.threads = old_.threads;
    new_.methods = old_.methods;
    new_.owners = old_.owners;
    new_.contexts = old_.contexts;
    new_.pools = old_.pools;
    new_.locks = old_.locks;
    new_.connections = old_.connections;
    new_.endpoints = old_.endpoints;
    new_.method_addresses = old_.method_addresses;
    new_.access_sets = old_.access_sets;
    new_.access_ranges = old_.access_ranges;
    new_.source_paths = old_.source_paths;
    new_.strings = old_.strings;
    new_.dependencies = old_.dependencies;
    const size_t events = old_.event_count();
    new_.kind.reserve(events);
    new_.time_ns.reserve(events);
    new_.a.reserve(events);
    new_.b.reserve(events);
    new_.tasks.reserve(old_.tasks.size());
    for (size_t i = 0; i < old_.tasks.size(); ++i) {
      TaskRow row;
      row.pool = old_.tasks[i].pool;
      row.body = old_.tasks[i].body;
      row.delay_us = old_.tasks[i].delay_us;
      row.create_context = old_.tasks[i].create_context;
      row.spawn_context = old_.tasks[i].spawn_context;
      row.truncated = old_.tasks[i].truncated;
      if (moved(static_cast<uint32_t>(i))) row.pool = {};
      new_.tasks.push_back(row);
    }
  }

  bool moved(uint32_t task) const { return task < placements_.size() && placements_[task] != Placement::own_thread; }
  bool continued(uint32_t body) const {
    return body < placements_.size() && placements_[body] == Placement::continuation;
  }

  // The recorded threads in order, then as few further ones as the detached parts need.
  std::vector<Row> rows() {
    std::vector<Row> rows;
    const size_t recorded = dag_.roots.size();
    for (size_t i = 0; i < recorded; ++i) rows.push_back({i, static_cast<uint32_t>(i)});
    struct Part {
      int64_t begin_ns, end_ns;
      size_t steps;
    };
    std::vector<Part> parts;
    for (size_t i = recorded; i < propagated_.steps.size(); ++i) {
      const std::vector<Step>& steps = propagated_.steps[i];
      if (!steps.empty()) parts.push_back({steps.front().time_ns, steps.back().time_ns, i});
    }
    std::sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) {
      return x.begin_ns != y.begin_ns ? x.begin_ns < y.begin_ns : x.steps < y.steps;
    });
    using Free = std::pair<int64_t, uint32_t>;  // from when on, thread
    std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
    for (const Part& part : parts) {
      uint32_t thread;
      if (!free.empty() && free.top().first <= part.begin_ns) {
        thread = free.top().second;
        free.pop();
      } else {
        thread = static_cast<uint32_t>(new_.threads.size());
        format::ThreadRow row;
        new_.strings.push_back(fmt::format("stage-{}", thread - recorded + 1));
        row.name = format::StringId(static_cast<uint32_t>(new_.strings.size() - 1));
        new_.threads.push_back(row);
      }
      free.emplace(part.end_ns, thread);
      rows.push_back({part.steps, thread});
    }
    std::stable_sort(rows.begin() + static_cast<ptrdiff_t>(recorded), rows.end(),
                     [](const Row& x, const Row& y) { return x.thread < y.thread; });
    return rows;
  }

  void restore_row(const Row& row) {
    stack_.clear();
    held_.clear();
    last_emitted_ns_ = INT64_MIN;
    last_kind_ = EventKind::thread_begin;
    asleep_ = false;
    thread_ = row.thread;
    if (new_.thread_ranges.back().size() == 0 && new_.kind.size() > new_.thread_ranges.back().begin) {
      last_emitted_ns_ = new_.time_ns.back();
    }
    const std::vector<Step>& steps = propagated_.steps[row.steps];
    unborn_ = row.steps < dag_.roots.size() && dag_.roots[row.steps].begin_ns == kUnborn;
    // A worker whose tasks all run elsewhere is never made.
    if (unborn_ && std::none_of(steps.begin(), steps.end(), [](const Step& s) { return s.kind == Step::Kind::vertex; }))
      return;
    const bool detached = row.steps >= dag_.roots.size();
    if (detached) emit(EventKind::worker_busy, steps.front().time_ns, pool_of(steps).value, 0);
    for (const Step& step : steps) restore_step(step);
    if (detached) emit(EventKind::worker_idle, steps.back().time_ns, pool_of(steps).value, 0);
  }

  // Detached parts run on workers of their task's pool.
  model::PoolId pool_of(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      uint32_t body = UINT32_MAX;
      if (step.kind == Step::Kind::segment_begin)
        body = body_of_vertex(step.index);
      else if (step.kind == Step::Kind::body_begin)
        body = step.index;
      if (body < old_.tasks.size() && old_.tasks[body].pool.valid()) return old_.tasks[body].pool;
    }
    return old_.pools.empty() ? model::PoolId() : model::PoolId(0);
  }

  void restore_step(const Step& step) {
    switch (step.kind) {
      case Step::Kind::body_begin:
        body_begin(step);
        break;
      case Step::Kind::body_end:
        body_end(step);
        break;
      case Step::Kind::vertex:
        vertex(step);
        break;
      case Step::Kind::skipped_call:
        skipped_call(step);
        break;
      case Step::Kind::asked:
        asked(step);
        break;
      case Step::Kind::segment_end:
        segment_end(step);
        break;
      case Step::Kind::segment_begin:
        segment_begin(step);
        break;
    }
  }

  Cursor& top() { return cursors_[stack_.back()]; }

  void emit(EventKind kind, int64_t time_ns, uint32_t a, uint32_t b) {
    time_ns = std::max(time_ns, last_emitted_ns_);
    last_emitted_ns_ = time_ns;
    last_kind_ = kind;
    new_.kind.push_back(kind);
    new_.time_ns.push_back(time_ns);
    new_.a.push_back(a);
    new_.b.push_back(b);
  }

  void emit_old(uint32_t event, int64_t time_ns) {
    const EventKind kind = old_.kind[event];
    if (!stack_.empty()) {
      if (kind == EventKind::method_enter) open_methods_[stack_.back()].push_back(old_.a[event]);
      if (kind == EventKind::method_exit) leave_method(stack_.back());
    }
    emit(kind, time_ns, old_.a[event], old_.b[event]);
    if (kind == EventKind::block_begin) copy_blocked_on(event);
  }

  void copy_blocked_on(uint32_t event) {
    const model::BlockedOn* row = model::blocked_on_at(old_, model::EventIndex(event));
    if (row == nullptr) return;
    model::BlockedOn copy = *row;
    copy.thread = model::ThreadId(thread_);
    copy.time_ns = new_.time_ns.back();
    new_.blocked_on.push_back(copy);
  }

  void leave_method(uint32_t body) {
    const auto open = open_methods_.find(body);
    if (open == open_methods_.end()) return;
    open->second.pop_back();
    if (open->second.empty()) open_methods_.erase(open);
  }

  // The events of the body on top from its cursor up to, not including, `event`. Those before the thread asked keep
  // their distance to the vertex before; the others theirs to `event`, which is at `time_ns` now.
  void gap(uint32_t event, int64_t delay_ns, int64_t ready_ns, int64_t time_ns, bool drop_idle) {
    Cursor& cursor = top();
    const int64_t old_ready_ns = cursor.last_old_ns + delay_ns;
    const int64_t old_time_ns = old_.time_ns[event];
    const bool unborn = cursor.last_new_ns < kUnborn / 2;
    for (uint32_t held : held_) emit_old(held, std::max(old_begin_ns_, std::min(old_.time_ns[held], time_ns)));
    held_.clear();
    for (; cursor.next < event; ++cursor.next) {
      const EventKind kind = old_.kind[cursor.next];
      if (drop_idle && (kind == EventKind::worker_idle || kind == EventKind::worker_busy)) continue;
      if (kind == EventKind::wait_begin && continued(stack_.back())) continue;
      const int64_t old_ns = old_.time_ns[cursor.next];
      int64_t new_ns;
      if (!unborn && old_ns <= old_ready_ns)
        new_ns = std::min(cursor.last_new_ns + (old_ns - cursor.last_old_ns), ready_ns);
      else
        new_ns = std::max(time_ns - (old_time_ns - old_ns), unborn ? old_begin_ns_ : ready_ns);
      // A thread that was there before its first task was spawned is still there then.
      if (unborn && old_.kind[event] == EventKind::task_start) {
        const model::EventIndex spawn = old_.tasks[old_.a[event]].spawn;
        if (spawn.valid() && old_ns < old_.time_ns[spawn.index()]) new_ns = std::min(new_ns, old_ns);
      }
      emit_old(cursor.next, std::min(new_ns, time_ns));
    }
  }

  void body_begin(const Step& step) {
    const uint32_t body = step.index;
    stack_.push_back(body);
    Cursor& cursor = cursors_[body];
    cursor.last_new_ns = step.time_ns;
    if (body < old_.tasks.size()) {
      const uint32_t start = old_.tasks[body].start.value;
      emit(EventKind::task_start, step.time_ns, body, old_.b[start]);
      cursor.next = start + 1;
      cursor.last_old_ns = old_.time_ns[start];
      cursor.alias = body;
    } else {
      const model::EventRange range = old_.thread_ranges[body - old_.tasks.size()];
      cursor.next = range.begin;
      cursor.last_old_ns = old_.time_ns[range.begin];
    }
  }

  // The called body's events are taken care of elsewhere, or by the steps that follow.
  void step_over_call(uint32_t task) {
    Cursor& cursor = top();
    cursor.next = old_.tasks[task].end.value + 1;
    cursor.last_old_ns = old_.time_ns[old_.tasks[task].end.index()];
  }

  void vertex(const Step& step) {
    const Vertex& vertex = dag_.vertices[step.index];
    const uint32_t event = dag_.vertex_event[step.index];
    const VertexKind kind = vertex.vertex_kind();
    if (stack_.empty()) {  // a detached call or completion
      if (kind == VertexKind::complete) emit_old(event, step.time_ns);
      return;
    }
    Cursor& cursor = top();
    if (event < cursor.next) return;  // a task that a worker took early: its call was logged at its place already
    if (is_early(step)) return;
    gap(event, std::exchange(cursor.asked, false) ? 0 : vertex.delay_ns, step.ready_ns, step.time_ns, false);
    if (kind == VertexKind::call) {
      step_over_call(vertex.id);
    } else {
      const bool gone =
          (kind == VertexKind::spawn && moved(vertex.id)) || (kind == VertexKind::wait && continued(stack_.back()));
      if (!gone) emit_old(event, step.time_ns);
      cursor.next = event + 1;
      cursor.last_old_ns = old_.time_ns[event];
    }
    cursor.last_new_ns = step.time_ns;
  }

  // The events up to the wait's begin: what is waited for runs before that.
  void asked(const Step& step) {
    Cursor& cursor = top();
    uint32_t begin = UINT32_MAX;
    for (uint32_t i = cursor.next; i < dag_.vertex_event[step.index]; ++i) {
      if (old_.kind[i] == EventKind::wait_begin) begin = i;
    }
    if (begin != UINT32_MAX) {
      gap(begin, dag_.vertices[step.index].delay_ns, step.ready_ns, step.time_ns, false);
      cursor.last_old_ns = old_.time_ns[begin];
    }
    cursor.asked = true;
  }

  // A worker took this task before others that stand in front of it: the body's own cursor stays where it is.
  bool is_early(const Step& step) const {
    const Cursor& cursor = cursors_[stack_.back()];
    const Body& body = dag_.bodies[stack_.back()];
    if (dag_.vertices[step.index].vertex_kind() != VertexKind::call) return false;
    if (step.index == body.begin) return false;
    return dag_.vertex_event[step.index - 1] >= cursor.next;
  }

  void skipped_call(const Step& step) {
    const uint32_t task = dag_.vertices[step.index].id;
    const uint32_t event = dag_.vertex_event[step.index];
    if (event >= top().next) {
      if (step.time_ns < kUnborn / 2)
        hold(event);
      else
        gap(event, dag_.vertices[step.index].delay_ns, step.time_ns, step.time_ns, true);
    }
    step_over_call(task);
    top().last_new_ns = step.time_ns;
  }

  // A worker whose first tasks run elsewhere comes to life with a later one: its first events wait for that.
  void hold(uint32_t event) {
    for (uint32_t i = top().next; i < event; ++i) {
      if (old_.kind[i] != EventKind::worker_idle && old_.kind[i] != EventKind::worker_busy) held_.push_back(i);
    }
  }

  void body_end(const Step& step) {
    const uint32_t body = stack_.back();
    Cursor& cursor = top();
    if (body < old_.tasks.size()) {
      const uint32_t end = old_.tasks[body].end.value;
      if (dag_.bodies[body].state == BodyState::unoccupied) {
        tail(end);
        emit(EventKind::task_end, tail_time(end), cursor.alias, old_.b[end]);
        cursor.last_old_ns = old_.time_ns[end];
      } else {
        gap(end, step.time_ns, step.time_ns, step.time_ns, false);
        if (cursor.alias != body && !old_.tasks[body].complete.valid())
          emit(EventKind::task_complete, step.time_ns, body, 0);
        emit(EventKind::task_end, step.time_ns, cursor.alias, old_.b[end]);
      }
    } else {
      const uint32_t end = old_.thread_ranges[body - old_.tasks.size()].end;
      if (dag_.bodies[body].state == BodyState::unoccupied)
        tail(end);
      else
        head(end);
    }
    stack_.pop_back();
    if (!stack_.empty()) top().last_new_ns = std::max(step.time_ns, last_emitted_ns_);
  }

  // A worker's events after its last sleep began are as far from the run's end as they were.
  int64_t tail_time(uint32_t event) {
    const Cursor& cursor = top();
    const int64_t old_ns = old_.time_ns[event];
    if (last_kind_ == EventKind::worker_idle) asleep_ = true;
    return asleep_ ? new_end_ns_ - (old_end_ns_ - old_ns) : cursor.last_new_ns + (old_ns - cursor.last_old_ns);
  }
  void tail(uint32_t end) {
    Cursor& cursor = top();
    for (; cursor.next < end; ++cursor.next) emit_old(cursor.next, tail_time(cursor.next));
  }

  // A thread's last events are as far from its last vertex as they were.
  void head(uint32_t end) {
    Cursor& cursor = top();
    for (; cursor.next < end; ++cursor.next) {
      emit_old(cursor.next, cursor.last_new_ns + (old_.time_ns[cursor.next] - cursor.last_old_ns));
    }
  }

  void segment_end(const Step& step) {
    const uint32_t body = stack_.back();
    const uint32_t event = dag_.vertex_event[step.index];
    gap(event, dag_.vertices[step.index].delay_ns, step.time_ns, step.time_ns, false);
    if (const auto open = open_methods_.find(body); open != open_methods_.end()) {
      for (const uint32_t method : std::views::reverse(open->second))
        emit(EventKind::method_exit, step.time_ns, method, 0);
    }
    emit(EventKind::task_end, step.time_ns, cursors_[body].alias, 0);
    stack_.pop_back();
    if (!stack_.empty()) top().last_new_ns = step.time_ns;
  }

  void segment_begin(const Step& step) {
    const Vertex& wait = dag_.vertices[step.index];
    const uint32_t event = dag_.vertex_event[step.index];
    const uint32_t body = body_of_vertex(step.index);
    const auto stage = static_cast<uint32_t>(new_.tasks.size());
    TaskRow row;
    row.body = old_.tasks[body].body;
    row.create_context = row.spawn_context = old_.tasks[body].create_context;
    new_.tasks.push_back(row);
    new_.dependencies.push_back({TaskId(stage), TaskId(wait.id), format::DependsMode::all});
    emit(EventKind::task_start, step.time_ns, stage, 0);
    Cursor& cursor = cursors_[body];
    cursor.next = event + 1;
    cursor.last_old_ns = old_.time_ns[event];
    cursor.last_new_ns = step.time_ns;
    cursor.alias = stage;
    std::vector<uint32_t> open = methods_open_at(body, event);
    for (const uint32_t method : open) emit(EventKind::method_enter, step.time_ns, method, 0);
    open_methods_.erase(body);
    if (!open.empty()) open_methods_.emplace(body, std::move(open));
    stack_.push_back(body);
  }

  // Segments of one body may be restored in any order, so this is found from the recording.
  std::vector<uint32_t> methods_open_at(uint32_t body, uint32_t event) const {
    std::vector<uint32_t> open;
    for (uint32_t i = old_.tasks[body].start.value; i < event; ++i) {
      if (old_.kind[i] == EventKind::method_enter) open.push_back(old_.a[i]);
      if (old_.kind[i] == EventKind::method_exit && !open.empty()) open.pop_back();
    }
    return open;
  }

  uint32_t body_of_vertex(uint32_t vertex) {
    if (body_of_vertex_.empty()) {
      body_of_vertex_.resize(dag_.vertices.size());
      for (uint32_t i = 0; i < dag_.bodies.size(); ++i) {
        std::fill(body_of_vertex_.begin() + dag_.bodies[i].begin, body_of_vertex_.begin() + dag_.bodies[i].end, i);
      }
    }
    return body_of_vertex_[vertex];
  }

  // Threads that nothing in the DAG stops end with the run.
  void clamp_to_end(const model::EventRange& range) {
    for (uint32_t i = range.end; i > range.begin && new_.time_ns[i - 1] > new_end_ns_; --i)
      new_.time_ns[i - 1] = new_end_ns_;
  }

  const TraceDag& dag_;
  const Trace& old_;
  std::span<const Placement> placements_;
  const Propagated& propagated_;
  Trace new_;
  std::vector<Cursor> cursors_;                                       // by body
  std::unordered_map<uint32_t, std::vector<uint32_t>> open_methods_;  // by body, if it has any
  std::vector<uint32_t> stack_;                                       // bodies open on this thread
  std::vector<uint32_t> held_;                                        // events of a worker that is not there yet
  std::vector<uint32_t> body_of_vertex_;
  int64_t last_emitted_ns_ = INT64_MIN;
  int64_t new_end_ns_ = 0, old_end_ns_ = 0, old_begin_ns_ = 0;
  uint32_t thread_ = 0;  // that the steps are restored of
  bool unborn_ = false;
  EventKind last_kind_ = EventKind::thread_begin;  // emitted on this thread
  bool asleep_ = false;                            // this thread's last sleep has begun
};

}  // namespace

base::Result<model::Trace> restore(const TraceDag& dag, std::span<const Placement> placements,
                                   const Propagated& propagated, int64_t epilogue_ns) {
  return Restorer(dag, placements, propagated, epilogue_ns).run();
}

}  // namespace contrafact::graph
