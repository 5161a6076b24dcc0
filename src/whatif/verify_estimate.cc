#include <fmt/format.h>

#include "model/task_walk.h"
#include "whatif/estimate.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskId;
using model::ThreadId;
using model::Trace;

// The time that each task ran itself, without its waits and without the tasks that ran inside it. `limit` distinguishes
// the stages that an edit made of a task's parts: their ids are beyond the recorded ones.
std::vector<int64_t> own_times(const Trace& trace, size_t limit) {
  std::vector<int64_t> own_ns(trace.tasks.size());
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    model::TaskWalk walk(trace, ThreadId(thread));
    TaskId task;
    bool runs = false;
    int64_t since_ns = 0;
    while (walk.next()) {
      if (task.valid() && runs && task.index() < limit) own_ns[task.index()] += walk.time_ns() - since_ns;
      since_ns = walk.time_ns();
      task = walk.task();
      runs = walk.in(FrameKind::task);
    }
  }
  return own_ns;
}

}  // namespace

base::Status verify_estimate(const Trace& recorded, const Trace& estimated) {
  if (estimated.tasks.size() < recorded.tasks.size()) return base::Error{"the estimate lost tasks"};
  for (size_t i = 0; i < recorded.tasks.size(); ++i) {
    const model::TaskRow& old_row = recorded.tasks[i];
    const model::TaskRow& new_row = estimated.tasks[i];
    if (old_row.start.valid() != new_row.start.valid()) return base::Error{fmt::format("the estimate lost task {}", i)};
    if (old_row.complete.valid() && !new_row.complete.valid()) {
      return base::Error{fmt::format("task {} never completes in the estimate", i)};
    }
  }
  const size_t limit = recorded.tasks.size();
  const std::vector<int64_t> old_ns = own_times(recorded, limit);
  const std::vector<int64_t> new_ns = own_times(estimated, limit);
  for (size_t i = 0; i < limit; ++i) {
    if (recorded.tasks[i].kind == model::TaskKind::thread) continue;  // holds its workers' comings and goings
    if (new_ns[i] > old_ns[i]) {
      return base::Error{
          fmt::format("task {} runs for {} ns in the estimate, {} ns in the recording", i, new_ns[i], old_ns[i])};
    }
  }
  return {};
}

}  // namespace contrafact::whatif
