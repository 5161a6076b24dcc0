#include "analysis/model_violations.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturating.h"
#include "model/blocked_on.h"
#include "model/critical_sections.h"
#include "model/library_calls.h"
#include "model/task_walk.h"
#include "model/thread_state.h"

namespace contrafact::analysis {
namespace {

using model::BlockReason;
using model::ContextId;
using model::EventIndex;
using model::EventKind;
using model::FrameKind;
using model::TaskId;
using model::TaskKind;
using model::TaskWalk;
using model::ThreadId;
using model::Trace;

struct Wake {
  uint32_t target;  // thread
  int64_t time_ns;
  TaskId task;
  ThreadId thread;
};

// The innermost task that is one for the model: the run of a pool's worker is none.
TaskId model_task(const Trace& trace, const TaskWalk& walk, const model::ThreadUse& use) {
  const TaskId task = walk.task();
  if (!task.valid()) return task;
  const bool worker_run = trace.tasks[task.index()].kind == TaskKind::thread && use.role != model::ThreadRole::joined;
  return worker_run ? TaskId::none() : task;
}

// All wakes, by target thread, then time.
std::vector<Wake> wakes_of(const Trace& trace, const std::vector<model::ThreadUse>& uses) {
  std::vector<Wake> wakes;
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    for (TaskWalk walk(trace, ThreadId(i)); walk.next();) {
      if (walk.kind() != EventKind::wake || walk.a() == ThreadId::kNone) continue;
      wakes.push_back({walk.a(), walk.time_ns(), model_task(trace, walk, uses[i]), ThreadId(i)});
    }
  }
  std::stable_sort(wakes.begin(), wakes.end(), [](const Wake& x, const Wake& y) {
    return x.target != y.target ? x.target < y.target : x.time_ns < y.time_ns;
  });
  return wakes;
}

BlockReason reason_of(const Trace& trace, EventIndex begin) {
  return static_cast<BlockReason>(trace.a[begin.index()]);
}
ContextId context_of(const Trace& trace, EventIndex begin) {
  return ContextId(trace.b[begin.index()]);
}

// The lock that such a block is for; none: another object, or not known.
model::LockId lock_of(const Trace& trace, EventIndex begin) {
  const model::BlockedOn* row = model::blocked_on_at(trace, begin);
  const bool is_lock = row != nullptr && model::is_held(trace.locks[row->lock.index()].kind);
  return is_lock ? row->lock : model::LockId::none();
}

ViolationKind kind_of(const Trace& trace, const BlockIndex::Block& block) {
  switch (reason_of(trace, block.begin)) {
    case BlockReason::sleep:
      return ViolationKind::sleeps;
    case BlockReason::io:
      return ViolationKind::io;
    case BlockReason::monitor:
      return ViolationKind::lock_contended;
    default:
      break;
  }
  if (model::is_lock_call(trace, context_of(trace, block.begin))) return ViolationKind::lock_contended;
  if (block.waker.valid() && block.waker != block.task) return ViolationKind::fed_by_task;
  return block.waker_thread.valid() && !block.waker.valid() ? ViolationKind::fed_by_thread : ViolationKind::parked;
}

std::string spawn_label(const Trace& trace, const Violation& v) {
  std::string text = "a task that runs " + trace.method_label(v.waker_body);
  if (v.waker_spawn.valid()) text += ", spawned at " + trace.context_label(v.waker_spawn);
  return text;
}

std::string message_of(const Trace& trace, const Violation& v) {
  const std::string where = trace.context_label(v.context);
  switch (v.kind) {
    case ViolationKind::fed_by_task:
      return "blocks at " + where + " until it is woken by " + spawn_label(trace, v) +
             (v.waker_in_set ? " (one of the same set): inlined, one would wait for the other for ever" : "");
    case ViolationKind::fed_by_thread:
      return "blocks at " + where +
             " until a thread outside any task wakes it; inlined into that thread it would wait for ever";
    case ViolationKind::lock_contended:
      return "contends for a lock at " + where + ": held longer or shorter when inlined";
    case ViolationKind::parked:
      return "blocks at " + where + " and the trace does not say who wakes it";
    case ViolationKind::sleeps:
      return "sleeps at " + where + ": inlined, its caller sleeps";
    case ViolationKind::io:
      return "waits for input or output at " + where + ": inlined, its caller waits";
    case ViolationKind::timed_get:
      return "waited for at " + where + " with a time-out, which nothing keeps once it is called in place";
    case ViolationKind::time_limit:
      return "under the time limit set at " + where + ", which nothing keeps once it is called in place";
    case ViolationKind::failure:
      return "failed, and was waited for at " + where +
             ": its exception comes there as the cause of an ExecutionException or CompletionException; called in "
             "place, it comes as it is";
    case ViolationKind::cancelled:
      return "some that are spawned at " + where +
             " were cancelled while they ran; called in place, nobody can cancel them";
    case ViolationKind::in_map_update:
      return "handed out at " + where +
             " by what a ConcurrentHashMap calls while it locks a part of itself: called in place, whoever asks for "
             "that part waits, and it must not change the map";
  }
  return where;
}

bool is_serious(ViolationKind kind) {
  return kind != ViolationKind::lock_contended && kind != ViolationKind::sleeps && kind != ViolationKind::io;
}

using GroupKey =
    std::tuple<ViolationKind, uint32_t, uint32_t, uint32_t, bool>;  // kind, context, waker's place and body, in set

struct Group {
  Violation violation;
  TaskId last_task;
  int64_t longest_ns = -1;
};

// What the program asks of the results besides them.
void add_contracts(const BlockIndex& index, TaskId task, std::map<GroupKey, Group>& groups) {
  if (index.contracts().empty()) return;
  const ResultContract& contract = index.contracts()[task.index()];
  const auto add = [&](ViolationKind kind, ContextId context) {
    if (!context.valid()) return;
    const auto [entry, is_new] =
        groups.try_emplace(GroupKey{kind, context.value, ContextId().value, model::MethodId().value, false});
    Violation& v = entry->second.violation;
    if (is_new) {
      v.kind = kind;
      v.context = context;
      v.serious = true;
      v.example = task;
      v.message = message_of(index.trace(), v);
    }
    ++v.count;
    ++v.tasks;
  };
  add(ViolationKind::timed_get, contract.timed_get);
  add(ViolationKind::time_limit, contract.time_limit);
  add(ViolationKind::failure, contract.failure);
  add(ViolationKind::cancelled, contract.cancelled);
}

// A task that is called in the midst of a map update makes the update keep the map's lock for as long as the task
// takes. The map's own lines differ from call to call, the program's line does not.
void add_map_update(const Trace& trace, TaskId task, std::map<GroupKey, Group>& groups) {
  const ContextId spawn = trace.tasks[task.index()].spawn_context;
  if (!is_in_map_update(trace, spawn)) return;
  Violation v{.kind = ViolationKind::in_map_update, .context = trace.program_frame(spawn), .serious = true};
  v.message = message_of(trace, v);
  v.example = task;
  const auto same =
      std::ranges::find(groups, v.message, [](const auto& group) { return group.second.violation.message; });
  const GroupKey key{v.kind, v.context.value, ContextId().value, model::MethodId().value, false};
  Violation& known = same != groups.end() ? same->second.violation : (groups[key].violation = v);
  ++known.count;
  ++known.tasks;
}

void add_block(const BlockIndex::Block& block, Group& group) {
  Violation& v = group.violation;
  ++v.count;
  v.blocked_ns += block.duration_ns;
  if (group.last_task != block.task) ++v.tasks;
  group.last_task = block.task;
  if (block.duration_ns > group.longest_ns) {
    group.longest_ns = block.duration_ns;
    v.example = block.task;
  }
}

}  // namespace

BlockIndex::BlockIndex(const model::Facts& facts) : trace_(facts.trace()), contracts_(result_contracts(facts.trace())) {
  const Trace& trace = trace_;
  const std::vector<model::ThreadUse>& uses = facts.uses();
  const std::vector<Wake> wakes = wakes_of(trace, uses);
  size_t wake = 0;
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    while (wake < wakes.size() && wakes[wake].target < i) ++wake;
    for (TaskWalk walk(trace, ThreadId(i)); walk.next();) {
      if (walk.kind() != EventKind::block_end || !walk.has_closed()) continue;
      // The cause is the latest wake since the block before this one ended.
      const Wake* cause = nullptr;
      for (; wake < wakes.size() && wakes[wake].target == i && wakes[wake].time_ns <= walk.time_ns(); ++wake)
        cause = &wakes[wake];
      const TaskId task = model_task(trace, walk, uses[i]);
      if (!task.valid()) continue;
      const EventIndex begin = walk.closed().begin;
      Block block{task,
                  begin,
                  walk.time_ns() - trace.time_ns[begin.index()],
                  TaskId::none(),
                  ThreadId::none(),
                  lock_of(trace, begin)};
      if (cause != nullptr) {
        block.waker = cause->task;
        block.waker_thread = cause->thread;
      }
      blocks_.push_back(block);
    }
  }
  std::stable_sort(blocks_.begin(), blocks_.end(), [](const Block& x, const Block& y) { return x.task < y.task; });
}

std::span<const BlockIndex::Block> BlockIndex::blocks_of(TaskId task) const {
  const auto low =
      std::lower_bound(blocks_.begin(), blocks_.end(), task, [](const Block& b, TaskId t) { return b.task < t; });
  auto high = low;
  while (high != blocks_.end() && high->task == task) ++high;
  return {low, high};
}

int64_t named_lock_waits_ns(const BlockIndex& index, std::span<const TaskId> tasks) {
  int64_t sum_ns = 0;
  for (const TaskId task : tasks) {
    for (const BlockIndex::Block& block : index.blocks_of(task)) {
      if (block.lock.valid()) sum_ns = base::add_saturated(sum_ns, block.duration_ns);
    }
  }
  return sum_ns;
}

std::vector<Violation> model_violations(const BlockIndex& index, std::span<const TaskId> tasks) {
  const Trace& trace = index.trace();
  std::map<GroupKey, Group> groups;
  for (const TaskId task : tasks) {
    add_contracts(index, task, groups);
    add_map_update(trace, task, groups);
    for (const BlockIndex::Block& block : index.blocks_of(task)) {
      if (block.lock.valid()) continue;
      const ViolationKind kind = kind_of(trace, block);
      const bool other = kind == ViolationKind::fed_by_task;
      const ContextId context = context_of(trace, block.begin);
      const ContextId spawn = other ? trace.tasks[block.waker.index()].spawn_context : ContextId();
      const model::MethodId body = other ? trace.tasks[block.waker.index()].body : model::MethodId();
      const bool in_set = other && std::binary_search(tasks.begin(), tasks.end(), block.waker);
      const auto [entry, is_new] = groups.try_emplace(GroupKey{kind, context.value, spawn.value, body.value, in_set});
      Violation& v = entry->second.violation;
      if (is_new) {
        v.kind = kind;
        v.context = context;
        v.waker_spawn = spawn;
        v.waker_body = body;
        v.waker_in_set = in_set;
        v.serious = is_serious(kind);
        v.message = message_of(trace, v);
      }
      add_block(block, entry->second);
    }
  }
  std::vector<Violation> violations;
  for (auto& [key, group] : groups) violations.push_back(std::move(group.violation));
  std::stable_sort(violations.begin(), violations.end(), [](const Violation& x, const Violation& y) {
    return x.serious != y.serious ? x.serious : x.blocked_ns > y.blocked_ns;
  });
  return violations;
}

}  // namespace contrafact::analysis
