#include "whatif/task_parts.h"

#include <algorithm>
#include <utility>

#include "model/finish.h"
#include "model/task_walk.h"
#include "whatif/added_events.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskId;
using model::TaskRow;
using model::Trace;

// What a task does within this time before its end belongs to its end.
constexpr int64_t kEndNs = 100'000;

// A stretch between two events in which the task may be cut: the event before which the cut goes, and the time.
struct Stretch {
  uint32_t before;
  int64_t begin_ns, end_ns;
};

struct Cut {
  uint32_t before;  // this recorded event
  int64_t time_ns;
};

// How long a thread had a core, summed from a time on.
class CoreTimes {
 public:
  CoreTimes(const Trace& trace, uint32_t thread, int64_t begin_ns, int64_t end_ns)
      : begin_ns_(begin_ns), end_ns_(end_ns) {
    if (thread >= trace.cpu.size()) return;
    const auto& gaps = trace.cpu[thread];
    auto gap = std::ranges::lower_bound(gaps, begin_ns, {}, &model::CpuGap::in_ns);
    for (; gap != gaps.end() && gap->out_ns < end_ns; ++gap)
      gaps_.push_back({std::max(gap->out_ns, begin_ns), std::min(gap->in_ns, end_ns)});
  }

  int64_t total_ns() const {
    int64_t total_ns = end_ns_ - begin_ns_;
    for (const auto& [out_ns, in_ns] : gaps_) total_ns -= in_ns - out_ns;
    return total_ns;
  }
  // When the thread had had a core for so long.
  int64_t time_at(int64_t core_ns) const {
    int64_t at_ns = begin_ns_;
    for (const auto& [out_ns, in_ns] : gaps_) {
      if (out_ns - at_ns >= core_ns) break;
      core_ns -= out_ns - at_ns;
      at_ns = in_ns;
    }
    return std::min(end_ns_, at_ns + core_ns);
  }

 private:
  int64_t begin_ns_, end_ns_;
  std::vector<std::pair<int64_t, int64_t>> gaps_;
};

class PartMaker {
 public:
  PartMaker(const Trace& trace, std::span<const TaskSplit> splits) : trace_(trace), parts_(trace.tasks.size(), 1) {
    for (const TaskSplit& split : splits) {
      for (const TaskId task : split.tasks) {
        if (task.index() < parts_.size() && can_split(task)) parts_[task.index()] = split.parts;
      }
    }
  }

  std::optional<RunWithParts> run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(i);
    if (part_of_.empty()) return std::nullopt;
    base::Result<Trace> made = rebuilt();
    if (!made) return std::nullopt;
    return RunWithParts{*std::move(made), std::move(part_of_)};
  }

 private:
  // A task that is being cut, and where that may happen.
  struct Open {
    uint32_t task;
    uint32_t start;
    std::vector<Stretch> stretches;
    int locks = 0, methods = 0;
  };

  bool can_split(TaskId task) const {
    const TaskRow& row = trace_.tasks[task.index()];
    const bool is_handed_out = row.kind == model::TaskKind::pooled || row.kind == model::TaskKind::thread;
    return is_handed_out && row.spawn.valid() && row.start.valid() && row.end.valid() && row.delay_us == 0;
  }

  void walk_thread(uint32_t thread) {
    std::vector<Open> open;
    for (model::TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
      const uint32_t event = walk.event().value;
      if (walk.kind() == EventKind::task_end && !open.empty() && open.back().task == walk.a()) {
        cut(open.back(), thread, event);
        open.pop_back();
      }
      if (walk.kind() == EventKind::task_start && parts_[walk.a()] > 1 && trace_.tasks[walk.a()].start == walk.event())
        open.push_back({walk.a(), event, {}});
      if (!open.empty()) note(open.back(), walk);
    }
  }

  void note(Open& open, const model::TaskWalk& walk) const {
    switch (walk.kind()) {
      case EventKind::lock_acquire:
      case EventKind::lock_acquire_shared:
        ++open.locks;
        break;
      case EventKind::lock_acquired:
      case EventKind::lock_acquired_shared:
        open.locks += static_cast<format::Outcome>(walk.b()) == format::Outcome::normal;
        break;
      case EventKind::lock_release:
        --open.locks;
        break;
      case EventKind::method_enter:
        ++open.methods;
        break;
      case EventKind::method_exit:
        --open.methods;
        break;
      default:
        break;
    }
    const uint32_t next = walk.event().value + 1;
    const bool is_free =
        walk.task() == TaskId(open.task) && walk.in(FrameKind::task) && open.locks <= 0 && open.methods <= 0;
    if (is_free && next < trace_.event_count()) open.stretches.push_back({next, walk.time_ns(), trace_.time_ns[next]});
  }

  // The first of the events with which the task ends.
  uint32_t end_begins(const Open& open, uint32_t end) const {
    const int64_t end_ns = trace_.time_ns[end];
    const int64_t since_ns = std::max(end_ns - kEndNs, (trace_.time_ns[open.start] + end_ns) / 2);
    uint32_t first = end;
    for (auto at = open.stretches.rbegin(); at != open.stretches.rend() && at->end_ns > since_ns; ++at)
      first = std::min(first, at->before);
    return first;
  }

  void cut(const Open& open, uint32_t thread, uint32_t end) {
    const uint32_t first_of_end = end_begins(open, end);
    const int64_t begin_ns = trace_.time_ns[open.start], end_ns = trace_.time_ns[first_of_end];
    const CoreTimes core(trace_, thread, begin_ns, end_ns);
    std::vector<Cut> cuts;
    size_t next = 0;
    for (uint32_t part = 1; part < parts_[open.task]; ++part) {
      const int64_t wanted_ns = core.time_at(core.total_ns() / parts_[open.task] * part);
      while (next < open.stretches.size() && open.stretches[next].end_ns <= wanted_ns) ++next;
      if (next == open.stretches.size() || open.stretches[next].before > first_of_end) break;
      const int64_t time_ns = std::max(wanted_ns, open.stretches[next].begin_ns);
      if (time_ns <= (cuts.empty() ? begin_ns : cuts.back().time_ns) || time_ns >= end_ns) continue;
      cuts.push_back({open.stretches[next].before, time_ns});
    }
    if (cuts.empty()) return;
    add_parts(open, thread, cuts, first_of_end, end_ns);
  }

  void add_parts(const Open& open, uint32_t thread, const std::vector<Cut>& cuts, uint32_t first_of_end,
                 int64_t end_ns) {
    const TaskRow& row = trace_.tasks[open.task];
    const auto first = static_cast<uint32_t>(trace_.tasks.size() + part_of_.size());
    const auto count = static_cast<uint32_t>(cuts.size() + 1);
    part_of_.insert(part_of_.end(), count, TaskId(open.task));
    // The spawner: the task is only announced.
    const uint32_t spawn = row.spawn.value;
    const int64_t spawn_ns = trace_.time_ns[spawn];
    added_.add({spawn, EventKind::task_create, spawn_ns, open.task, row.spawn_context.value});
    for (uint32_t i = 0; i < count; ++i) {
      added_.add({spawn, EventKind::task_depends, spawn_ns, open.task, first + i});
      dependencies_.push_back({TaskId(open.task), TaskId(first + i), format::DependsMode::all});
    }
    for (uint32_t i = 0; i + 1 < count; ++i)
      added_.add({spawn, EventKind::task_spawn, spawn_ns, first + i, row.spawn_context.value});
    added_.rename(spawn, first + count - 1);
    // The worker.
    added_.rename(open.start, first);
    for (uint32_t i = 0; i < cuts.size(); ++i) {
      added_.add({cuts[i].before, EventKind::task_end, cuts[i].time_ns, first + i, 0});
      if (row.kind == model::TaskKind::thread) {
        added_.add({cuts[i].before, EventKind::thread_end, cuts[i].time_ns, UINT32_MAX, UINT32_MAX});
        added_.add({cuts[i].before, EventKind::thread_begin, cuts[i].time_ns, UINT32_MAX, UINT32_MAX});
        more_threads_.push_back(thread);
      }
      added_.add({cuts[i].before, EventKind::task_start, cuts[i].time_ns, first + i + 1, UINT32_MAX});
    }
    added_.add({first_of_end, EventKind::task_end, end_ns, first + count - 1, 0});
    added_.add({first_of_end, EventKind::task_start, end_ns, open.task, UINT32_MAX});
  }

  base::Result<Trace> rebuilt() {
    Trace made = trace_;
    std::vector<AddedEvent> of_more_threads;  // from an added thread_begin on, events belong to a thread of their own
    std::vector<size_t> begins;               // in it, of each such thread
    added_.put_into(made, trace_, [&] {
      return [&, is_of_more = false](const AddedEvent& event, bool is_added) mutable {
        if (is_added && event.kind == EventKind::thread_begin) {
          begins.push_back(of_more_threads.size());
          is_of_more = true;
        }
        if (is_of_more) {
          of_more_threads.push_back(event);
        } else {
          append(made, event);
        }
      };
    });
    begins.push_back(of_more_threads.size());
    for (size_t i = 0; i < more_threads_.size(); ++i) {
      const auto begin = static_cast<uint32_t>(made.kind.size());
      for (size_t at = begins[i]; at < begins[i + 1]; ++at) append(made, of_more_threads[at]);
      made.thread_ranges.push_back({begin, static_cast<uint32_t>(made.kind.size())});
      made.threads.push_back(trace_.threads[more_threads_[i]]);
      if (more_threads_[i] < trace_.cpu.size()) {
        made.cpu.resize(made.threads.size());
        made.cpu.back() = trace_.cpu[more_threads_[i]];
      }
    }
    for (TaskRow& row : made.tasks) row = model::bare_row(row);
    for (const TaskId task : part_of_) made.tasks.push_back(model::bare_row(trace_.tasks[task.index()]));
    made.dependencies.insert(made.dependencies.end(), dependencies_.begin(), dependencies_.end());
    return model::finish(std::move(made));
  }

  const Trace& trace_;
  std::vector<uint32_t> parts_;  // by task: how many it becomes
  std::vector<TaskId> part_of_;
  AddedEvents added_;
  std::vector<model::Dependency> dependencies_;
  std::vector<uint32_t> more_threads_;  // the recorded thread of each that is added, as their events come
};

}  // namespace

std::optional<RunWithParts> with_task_parts(const Trace& trace, std::span<const TaskSplit> splits) {
  return splits.empty() ? std::nullopt : PartMaker(trace, splits).run();
}

}  // namespace contrafact::whatif
