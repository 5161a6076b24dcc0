#include "analysis/queue_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/library_calls.h"
#include "model/task_walk.h"
#include "model/thread_label.h"

namespace contrafact::analysis {
namespace {

using format::BlockReason;
using model::ContextId;
using model::ThreadId;
using model::Trace;

// A thread that waits at a line less often than this does not get its work there.
constexpr uint64_t kWaitsMin = 16;
// Less of the work is not worth a sentence.
constexpr double kShareMin = 0.1;

using Line = std::pair<uint32_t, uint32_t>;  // method, line

// The program's own, of what waits at `context`.
Line line_of(const Trace& trace, ContextId context) {
  const format::ContextRow& row = trace.contexts[trace.program_frame(context).index()];
  return {row.method.value, row.line};
}

bool takes_from_queue(const Trace& trace, BlockReason reason, ContextId context) {
  if (!context.valid()) return false;
  return reason == BlockReason::object_wait || reason == BlockReason::poll ||
         (reason == BlockReason::park && model::is_queue_call(trace, context));
}

struct Waits {
  uint64_t count = 0;
  int64_t first_ns = 0;
  ContextId context;
};

// Of one thread.
struct Life {
  std::map<Line, Waits> waits;
  int64_t worked_ns = 0;  // in tasks or outside, but not blocked, waiting or idle
};

bool works(const model::TaskWalk& walk) {
  return !walk.in(model::FrameKind::block) && !walk.in(model::FrameKind::wait) && !walk.in(model::FrameKind::idle);
}

bool in_own_run(const Trace& trace, const model::TaskWalk& walk) {
  return !walk.task().valid() || trace.tasks[walk.task().index()].kind == model::TaskKind::thread;
}

Life life_by_events(const Trace& trace, ThreadId thread) {
  Life life;
  std::optional<int64_t> since_ns;
  for (model::TaskWalk walk(trace, thread); walk.next();) {
    if (since_ns) life.worked_ns += walk.time_ns() - *since_ns;
    since_ns = works(walk) ? std::optional(walk.time_ns()) : std::nullopt;
    if (walk.kind() != model::EventKind::block_begin || !in_own_run(trace, walk)) continue;
    const ContextId context(walk.b());
    if (!takes_from_queue(trace, static_cast<BlockReason>(walk.a()), context)) continue;
    Waits& waits = life.waits[line_of(trace, context)];
    if (waits.count++ == 0) waits = {1, walk.time_ns(), context};
  }
  return life;
}

int64_t own_work_from(const Trace& trace, ThreadId thread, int64_t begin_ns) {
  int64_t sum_ns = 0;
  std::optional<int64_t> since_ns;
  for (model::TaskWalk walk(trace, thread); walk.next();) {
    if (since_ns) sum_ns += std::max<int64_t>(0, walk.time_ns() - std::max(*since_ns, begin_ns));
    since_ns = works(walk) && in_own_run(trace, walk) ? std::optional(walk.time_ns()) : std::nullopt;
  }
  return sum_ns;
}

struct Found {
  QueueWorkers workers;
  int64_t worked_ns = 0;
};

}  // namespace

std::vector<QueueWorkers> queue_workers(const model::Facts& facts) {
  const Trace& trace = facts.trace();
  if (model::is_native(trace)) return {};
  std::map<Line, Found> found;
  int64_t all_ns = 0;
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    const Life life = life_by_events(trace, ThreadId(i));
    all_ns += life.worked_ns;
    if (facts.uses()[i].role == model::ThreadRole::worker) continue;
    const auto most = std::ranges::max_element(life.waits, {}, [](const auto& one) { return one.second.count; });
    if (most == life.waits.end() || most->second.count < kWaitsMin) continue;
    Found& of_line = found[most->first];
    of_line.workers.wait = most->second.context;
    of_line.workers.threads.push_back(ThreadId(i));
    of_line.workers.waits += most->second.count;
    of_line.worked_ns += own_work_from(trace, ThreadId(i), most->second.first_ns);
  }
  std::vector<QueueWorkers> workers;
  for (auto& [line, one] : found) {
    one.workers.share = static_cast<double>(one.worked_ns) / static_cast<double>(std::max<int64_t>(all_ns, 1));
    if (one.workers.share >= kShareMin) workers.push_back(std::move(one.workers));
  }
  std::ranges::stable_sort(workers, std::greater(), &QueueWorkers::share);
  return workers;
}

std::string queue_workers_text(const model::Facts& facts) {
  const std::vector<QueueWorkers> all = queue_workers(facts);
  if (all.empty()) return "";
  const QueueWorkers& most = all.front();
  const Trace& trace = facts.trace();
  const std::string name = model::thread_label(trace, most.threads.front());
  const std::string who = most.threads.size() == 1
                              ? fmt::format("thread {} waits", name)
                              : fmt::format("{} threads, {} among them, wait", most.threads.size(), name);
  return fmt::format(
      "{} for a next piece of work at {} again and again, and did {:.0f} % of what all threads did outside of tasks: "
      "what a program takes from a queue of its own is no task here",
      who, trace.context_label(most.wait), 100 * most.share);
}

}  // namespace contrafact::analysis
