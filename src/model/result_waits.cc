#include "model/result_waits.h"

#include <unordered_map>
#include <utility>

#include "model/library_calls.h"
#include "model/task_walk.h"

namespace contrafact::model {
namespace {

class Collector {
 public:
  explicit Collector(const Trace& trace)
      : trace_(trace),
        waits_(trace.tasks.size()),
        spawners_(trace.tasks.size(), kNone),
        next_(trace.tasks.size()),
        last_(trace.tasks.size() + trace.threads.size()),
        batch_of_(trace.tasks.size(), kNone),
        first_batch_(last_.size(), kNone) {}

  std::vector<ResultWait> run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk(ThreadId(i));
    for (const Dependency& dependency : trace_.dependencies) {
      note(dependency.source, Asker::stage);
      note(dependency.task, Asker::stage);
    }
    return std::move(waits_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void note(TaskId task, Asker asker) {
    ResultWait& wait = waits_[task.index()];
    if (asker > wait.asker) wait.asker = asker;
  }

  // A body is what one task does itself, or one thread outside its tasks: it runs on one thread.
  void walk(ThreadId thread) {
    const uint32_t outside = static_cast<uint32_t>(trace_.tasks.size()) + thread.value;
    for (TaskWalk walk(trace_, thread); walk.next();) {
      const uint32_t body = walk.task().valid() ? walk.task().value : outside;
      switch (walk.kind()) {
        case EventKind::task_spawn:
          if (trace_.tasks[walk.a()].spawn == walk.event()) spawn(TaskId(walk.a()), body);
          break;
        case EventKind::task_complete:
          if (static_cast<Outcome>(walk.b()) == Outcome::cancelled) note(TaskId(walk.a()), Asker::no_result);
          break;
        case EventKind::wait_end:
          wait(walk, body);
          break;
        default:
          break;
      }
    }
  }

  void spawn(TaskId task, uint32_t body) {
    spawners_[task.index()] = body;
    if (is_worker_run(trace_, trace_.tasks[task.index()])) return;  // a pool starts its workers by the way
    const TaskId last = std::exchange(last_[body], task);
    if (last.valid()) next_[last.index()] = task;
    const uint32_t number = batch_at(trace_.tasks[task.index()].spawn_context.value, body);
    batch_of_[task.index()] = number;
    Batch& batch = batches_[number];
    if (batch.open++ == 0) batch.asked = false;
  }

  // A body seldom hands out at more than a few places: these are in a list, all others in a map.
  uint32_t batch_at(uint32_t place, uint32_t body) {
    constexpr int kListed = 8;
    int listed = 0;
    for (uint32_t i = first_batch_[body]; i != kNone; i = batches_[i].next, ++listed) {
      if (batches_[i].place == place) return i;
    }
    const auto added = static_cast<uint32_t>(batches_.size());
    if (listed < kListed) {
      batches_.push_back({.place = place, .next = first_batch_[body]});
      return first_batch_[body] = added;
    }
    const auto [known, is_new] = further_.try_emplace(uint64_t{place} << 32 | body, added);
    if (is_new) batches_.push_back({.place = place});
    return known->second;
  }

  void wait(const TaskWalk& walk, uint32_t body) {
    const TaskId task = walk.a() != TaskId::kNone ? TaskId(walk.a())
                        : walk.has_closed()       ? walk.closed().task
                                                  : TaskId();
    if (!task.valid()) return;
    const auto outcome = static_cast<Outcome>(walk.b());
    if (outcome != Outcome::normal && outcome != Outcome::exception) return note(task, Asker::no_result);
    if (spawners_[task.index()] != body) return note(task, Asker::others);
    ResultWait& of_task = waits_[task.index()];
    note(task, Asker::spawner);
    if (of_task.place.valid()) return;
    if (walk.has_closed()) of_task.place = ContextId(trace_.b[walk.closed().begin.index()]);
    of_task.next = next_[task.index()];
    if (of_task.next.valid()) of_task.last = last_[body];
    if (batch_of_[task.index()] == kNone) return;
    Batch& batch = batches_[batch_of_[task.index()]];
    if (!std::exchange(batch.asked, true)) of_task.batch = batch.open;
    --batch.open;
  }

  // What one body has handed out at one place and not asked for.
  struct Batch {
    uint32_t place = 0;
    uint32_t next = kNone;  // of the same body
    uint32_t open = 0;
    bool asked = false;  // for one of them already
  };

  const Trace& trace_;
  std::vector<ResultWait> waits_;
  std::vector<uint32_t> spawners_;  // by task: the body
  std::vector<TaskId> next_;        // by task: what the same body handed out next
  std::vector<TaskId> last_;        // by body: what it handed out last
  std::vector<uint32_t> batch_of_;  // by task; kNone: not handed out
  std::vector<Batch> batches_;
  std::vector<uint32_t> first_batch_;               // by body
  std::unordered_map<uint64_t, uint32_t> further_;  // by place and body
};

}  // namespace

std::vector<ResultWait> result_waits(const Trace& trace) {
  return Collector(trace).run();
}

}  // namespace contrafact::model
