#include "analysis/result_contracts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::ContextId;
using model::EventKind;
using model::MethodId;
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

// The `get` with a time-out of a future's class. Rows do not hold parameters, but where the method begins: its source
// has the one without a time-out first. Where only one of them was called, what the JDK's source says.
class TimedGets {
 public:
  explicit TimedGets(const Trace& trace) : timed_(trace.methods.size()) {
    std::map<std::string_view, std::vector<MethodId>> by_class;
    for (uint32_t i = 0; i < trace.methods.size(); ++i) {
      const format::MethodRow& row = trace.methods[i];
      const std::string_view type = trace.string(row.class_name);
      if (trace.string(row.name) == "get" && type.starts_with(kConcurrent) && row.line > 0)
        by_class[type].push_back(MethodId(i));
    }
    for (auto& [type, methods] : by_class) {
      std::ranges::sort(methods, {}, [&](MethodId id) { return trace.methods[id.index()].line; });
      const uint32_t last_line = trace.methods[methods.back().index()].line;
      const bool both = trace.methods[methods.front().index()].line < last_line;
      timed_[methods.back().index()] = both || is_known(trace, type, last_line);
    }
  }

  bool operator()(const Trace& trace, ContextId context) const {
    if (!context.valid()) return false;
    const MethodId method = trace.contexts[context.index()].method;
    return method.valid() && timed_[method.index()];
  }

 private:
  static bool is_known(const Trace& trace, std::string_view type, uint32_t line) {
    struct Known {
      uint32_t jdk;
      std::string_view type;
      uint32_t line;
    };
    static constexpr Known kKnown[] = {{17, "FutureTask", 199},         {17, "CompletableFuture", 2092},
                                       {17, "ForkJoinTask", 1001},      {25, "FutureTask", 201},
                                       {25, "CompletableFuture", 2113}, {25, "ForkJoinTask", 1042}};
    const std::string_view version = trace.fact("jvm.version");
    uint32_t jdk = 0;
    std::from_chars(version.data(), version.data() + version.size(), jdk);
    type.remove_prefix(kConcurrent.size());
    return std::ranges::any_of(
        kKnown, [&](const Known& known) { return known.jdk == jdk && known.type == type && known.line == line; });
  }

  std::vector<bool> timed_;
};

}  // namespace

std::vector<ResultContract> result_contracts(const Trace& trace) {
  std::vector<ResultContract> contracts;
  const auto of = [&](TaskId task) -> ResultContract& {
    if (contracts.empty()) contracts.resize(trace.tasks.size());
    return contracts[task.index()];
  };
  const TimedGets is_timed(trace);
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    for (model::TaskWalk walk(trace, model::ThreadId(thread)); walk.next();) {
      if (walk.kind() == EventKind::task_complete && static_cast<model::Outcome>(walk.b()) == model::Outcome::cancelled)
        of(TaskId(walk.a())).cancelled = trace.tasks[walk.a()].spawn_context;
      if (walk.kind() != EventKind::wait_end || !walk.has_closed() || !walk.closed().task.valid()) continue;
      const ContextId context(trace.b[walk.closed().begin.index()]);
      if (is_timed(trace, context)) of(walk.closed().task).timed_get = context;
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
