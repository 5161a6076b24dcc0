#include "analysis/result_contracts.h"

#include <charconv>
#include <string_view>

#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::ContextId;
using model::EventKind;
using model::TaskId;
using model::Trace;

constexpr std::string_view kConcurrent = "java.util.concurrent.";

// Whether one of the innermost frames is this method of java.util.concurrent.
bool has_frame(const Trace& trace, ContextId context, std::string_view type, std::string_view name) {
  constexpr size_t kFramesMax = 12;  // the library's own frames are few, and the innermost
  for (size_t i = 0; i < kFramesMax && context.valid(); ++i) {
    const format::ContextRow& row = trace.contexts[context.index()];
    context = row.parent;
    if (!row.method.valid()) continue;
    const format::MethodRow& method = trace.methods[row.method.index()];
    std::string_view class_name = trace.string(method.class_name);
    if (!class_name.starts_with(kConcurrent)) continue;
    class_name.remove_prefix(kConcurrent.size());
    if (class_name == type && trace.string(method.name) == name) return true;
  }
  return false;
}

// Waits with a time limit: between the program's line and the wait is a method that takes a time limit. Rows of methods
// contain no parameters; facts `method.timed.N` name the methods that take one.
class TimedWaits {
 public:
  explicit TimedWaits(const Trace& trace) : trace_(trace), takes_limit_(trace.methods.size()) {
    constexpr std::string_view kKey = "method.timed.";
    for (const model::Fact& fact : trace.facts) {
      if (!fact.key.starts_with(kKey)) continue;
      const std::string_view digits = std::string_view(fact.key).substr(kKey.size());
      size_t method = takes_limit_.size();
      std::from_chars(digits.data(), digits.data() + digits.size(), method);
      if (method < takes_limit_.size()) takes_limit_[method] = any_ = true;
    }
  }

  bool operator()(ContextId context) const {
    if (!any_) return false;
    constexpr size_t kFramesMax = 12;  // as above
    const ContextId program = trace_.program_frame(context);
    for (size_t i = 0; i < kFramesMax && context.valid() && context != program; ++i) {
      const format::ContextRow& row = trace_.contexts[context.index()];
      if (row.method.valid() && takes_limit_[row.method.index()]) return true;
      context = row.parent;
    }
    return false;
  }

 private:
  const Trace& trace_;
  std::vector<bool> takes_limit_;  // by method
  bool any_ = false;
};

}  // namespace

std::vector<ResultContract> result_contracts(const Trace& trace) {
  std::vector<ResultContract> contracts;
  const auto of = [&](TaskId task) -> ResultContract& {
    if (contracts.empty()) contracts.resize(trace.tasks.size());
    return contracts[task.index()];
  };
  const TimedWaits is_timed(trace);
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    for (model::TaskWalk walk(trace, model::ThreadId(thread)); walk.next();) {
      if (walk.kind() == EventKind::task_complete && static_cast<model::Outcome>(walk.b()) == model::Outcome::cancelled)
        of(TaskId(walk.a())).cancelled = trace.tasks[walk.a()].spawn_context;
      if (walk.kind() != EventKind::wait_end || !walk.has_closed() || !walk.closed().task.valid()) continue;
      const ContextId context(trace.b[walk.closed().begin.index()]);
      if (is_timed(context)) of(walk.closed().task).timed_get = context;
      if (static_cast<model::Outcome>(walk.b()) == model::Outcome::exception) of(walk.closed().task).failure = context;
    }
  }
  // A time limit is given to a future as a stage that cancels the limit's timer when the future is complete.
  for (const model::Dependency& dependency : trace.dependencies) {
    const ContextId context = trace.tasks[dependency.task.index()].create_context;
    if (has_frame(trace, context, "CompletableFuture", "orTimeout") ||
        has_frame(trace, context, "CompletableFuture", "completeOnTimeout"))
      of(dependency.source).time_limit = context;
  }
  return contracts;
}

bool is_any_of_several(const Trace& trace, ContextId spawn_context) {
  for (std::string_view name : {"invokeAny", "doInvokeAny"}) {
    for (std::string_view type : {"AbstractExecutorService", "ForkJoinPool", "ThreadPerTaskExecutor"}) {
      if (has_frame(trace, spawn_context, type, name)) return true;
    }
  }
  return false;
}

bool is_all_at_once(const Trace& trace, ContextId spawn_context) {
  for (std::string_view type : {"AbstractExecutorService", "ForkJoinPool", "ForkJoinTask", "ThreadPerTaskExecutor"}) {
    if (has_frame(trace, spawn_context, type, "invokeAll")) return true;
  }
  return false;
}

bool is_taken_as_it_comes(const Trace& trace, ContextId spawn_context) {
  return has_frame(trace, spawn_context, "ExecutorCompletionService", "submit");
}

bool is_in_map_update(const Trace& trace, ContextId spawn_context) {
  for (std::string_view name : {"computeIfAbsent", "computeIfPresent", "compute", "merge"}) {
    if (has_frame(trace, spawn_context, "ConcurrentHashMap", name)) return true;
  }
  return false;
}

}  // namespace contrafact::analysis
