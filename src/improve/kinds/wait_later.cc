// wait-later: a function hands out all its tasks before it waits for the first. It did the two in turn: one task, or a few,
// then the wait for them, then the next. Whether one of them needs the result of an earlier one the recording does not say.

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "improve/kinds/kinds.h"
#include "improve/move_change.h"
#include "improve/spec_frames.h"
#include "model/task_walk.h"
#include "whatif/variant.h"

namespace contrafact::improve {
namespace {

using model::ContextId;
using model::EventKind;
using model::TaskId;
using model::Trace;

// Which function hands tasks out: stacks are alike but for the line in their innermost frame of the program, and what
// that frame called.
class Functions {
 public:
  explicit Functions(const Trace& trace) : trace_(trace), program_(trace), numbers_(trace.contexts.size(), kUnknown) {}

  static constexpr uint32_t kUnknown = UINT32_MAX, kNoFunction = UINT32_MAX - 1;

  uint32_t of(ContextId context) {
    if (!context.valid()) return kNoFunction;
    uint32_t& number = numbers_[context.index()];
    if (number != kUnknown) return number;
    const ContextId at = trace_.program_frame(context);
    const model::MethodId method = trace_.contexts[at.index()].method;
    if (!method.valid()) return number = kNoFunction;
    const ContextId caller = trace_.contexts[at.index()].parent;
    const std::string key = trace_.method_name(trace_.methods[method.index()], false) + "\n" +
                            frames_key(frames_json(trace_, caller), program_);
    return number = known_.try_emplace(key, static_cast<uint32_t>(known_.size())).first->second;
  }

 private:
  const Trace& trace_;
  const ProgramClasses program_;
  std::vector<uint32_t> numbers_;  // by context
  std::map<std::string, uint32_t> known_;
};

// A task that was handed out.
struct HandedOut {
  uint32_t body;  // that handed it out: a task, or the thread outside of tasks
  uint32_t function;
  uint32_t spawn;                 // event
  uint32_t awaited = UINT32_MAX;  // event, of the same body
  TaskId task;
};

class Finder {
 public:
  explicit Finder(const Trace& trace) : trace_(trace), functions_(trace), number_(trace.tasks.size(), kNone) {}

  // By function: the tasks of all batches in which one is waited for before the last is handed out.
  std::map<uint32_t, std::vector<TaskId>> run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk(model::ThreadId(i));
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void walk(model::ThreadId thread) {
    handed_.clear();
    for (model::TaskWalk walk(trace_, thread); walk.next();) {
      const uint32_t body = walk.task().valid() ? walk.task().value : kNone;
      if (walk.kind() == EventKind::task_spawn) {
        spawn(TaskId(walk.a()), walk.event(), body);
      } else if (walk.kind() == EventKind::wait_end) {
        const TaskId task = walk.a() != TaskId::kNone ? TaskId(walk.a())
                            : walk.has_closed()       ? walk.closed().task
                                                      : TaskId();
        wait(task, walk.event().value, body);
      }
    }
    for (const HandedOut& one : handed_) number_[one.task.index()] = kNone;
    std::ranges::sort(handed_, [](const HandedOut& x, const HandedOut& y) {
      return std::tie(x.body, x.function, x.spawn) < std::tie(y.body, y.function, y.spawn);
    });
    for (size_t begin = 0, end = 0; begin < handed_.size(); begin = end) {
      while (end < handed_.size() && handed_[end].body == handed_[begin].body &&
             handed_[end].function == handed_[begin].function)
        ++end;
      add_batches(std::span(handed_).subspan(begin, end - begin));
    }
  }

  static bool is_plain(const model::TaskRow& task) {
    return task.kind == model::TaskKind::pooled && task.start.valid() && !task.truncated && task.delay_us == 0;
  }

  void spawn(TaskId task, model::EventIndex event, uint32_t body) {
    const model::TaskRow& row = trace_.tasks[task.index()];
    if (row.spawn != event || !is_plain(row)) return;
    const uint32_t function = functions_.of(row.spawn_context);
    if (function == Functions::kNoFunction) return;
    number_[task.index()] = static_cast<uint32_t>(handed_.size());
    handed_.push_back({.body = body, .function = function, .spawn = event.value, .task = task});
  }

  void wait(TaskId task, uint32_t event, uint32_t body) {
    if (!task.valid() || number_[task.index()] == kNone) return;
    HandedOut& handed = handed_[number_[task.index()]];
    if (handed.body == body) handed.awaited = std::min(handed.awaited, event);
  }

  // Of one body and function; the batches are those of whatif/sim_moves.h.
  void add_batches(std::span<const HandedOut> handed) {
    std::set<uint32_t> all_places, places;
    for (const HandedOut& one : handed) all_places.insert(place_of(one));
    size_t begin = 0;
    for (size_t i = 0; i <= handed.size(); ++i) {
      const bool is_new = i < handed.size() && all_places.size() > 1 && places.contains(place_of(handed[i]));
      if (i == handed.size() || is_new) {
        add_batch(handed.subspan(begin, i - begin));
        begin = i;
        places.clear();
      }
      if (i < handed.size()) places.insert(place_of(handed[i]));
    }
  }

  uint32_t place_of(const HandedOut& one) const { return trace_.tasks[one.task.index()].spawn_context.value; }

  void add_batch(std::span<const HandedOut> batch) {
    if (batch.size() < 2) return;
    const bool is_in_turn =
        std::ranges::any_of(batch, [&](const HandedOut& one) { return one.awaited < batch.back().spawn; });
    if (!is_in_turn) return;
    for (const HandedOut& one : batch) found_[batch.front().function].push_back(one.task);
  }

  const Trace& trace_;
  Functions functions_;
  std::vector<HandedOut> handed_;  // by the thread that is walked
  std::vector<uint32_t> number_;   // by task: its position there
  std::map<uint32_t, std::vector<TaskId>> found_;
};

class WaitLater final : public MoveChange {
 public:
  constexpr WaitLater() : MoveChange("wait-later", Effort::one_function, 2) {}

  void find(const Trace& trace, std::vector<Candidate>& candidates) const override {
    const size_t first = candidates.size();
    for (auto& [function, tasks] : Finder(trace).run()) {
      std::ranges::sort(tasks);
      tasks.erase(std::ranges::unique(tasks).begin(), tasks.end());
      Candidate candidate;
      candidate.improvement = {.optimisation = this,
                               .spawn_context = first_place(trace, tasks),
                               .tasks = tasks,
                               .context_tasks = static_cast<uint32_t>(tasks.size())};
      const model::PoolId pool = trace.tasks[tasks.front().index()].pool;
      const auto in_it = [&](TaskId task) { return trace.tasks[task.index()].pool == pool; };
      if (std::ranges::all_of(tasks, in_it)) candidate.pool = pool;
      candidates.push_back(std::move(candidate));
    }
    std::stable_sort(
        candidates.begin() + static_cast<ptrdiff_t>(first), candidates.end(),
        [](const Candidate& x, const Candidate& y) { return x.improvement.tasks.size() > y.improvement.tasks.size(); });
  }

  void move(const Trace& trace, const whatif::Improvement& improvement, whatif::Variant& variant) const override {
    variant.waits_later.resize(trace.tasks.size());
    for (const TaskId task : improvement.tasks) variant.waits_later[task.index()] = true;
  }

  void write_place(const whatif::Improvement& improvement, const Trace& trace, Json& json) const override {
    json["spawn"] = {{"frames", frames_json(trace, improvement.spawn_context)}};
    json["tasks"] = {{"count", improvement.tasks.size()}};
  }
  // By any of the places at which the function hands tasks out.
  bool is_named(const Json& json, const whatif::Improvement& improvement, const Trace& trace) const override {
    const ProgramClasses program(trace);
    const std::string wanted = frames_key(json.value("spawn", Json::object()).value("frames", Json::array()), program);
    std::set<uint32_t> places;
    for (const TaskId task : improvement.tasks) places.insert(trace.tasks[task.index()].spawn_context.value);
    return std::ranges::any_of(
        places, [&](uint32_t place) { return frames_key(frames_json(trace, ContextId(place)), program) == wanted; });
  }

  void add_notes(const Trace&, const Candidate&, std::vector<std::string>& notes) const override {
    notes.emplace_back("hand out all these tasks, then wait for them: none may need the result of another one");
  }

 private:
  // The first one in the source.
  static ContextId first_place(const Trace& trace, const std::vector<TaskId>& tasks) {
    ContextId first;
    uint32_t first_line = UINT32_MAX;
    for (const TaskId task : tasks) {
      const ContextId context = trace.tasks[task.index()].spawn_context;
      const uint32_t line = trace.contexts[trace.program_frame(context).index()].line;
      if (line < first_line) first = context, first_line = line;
    }
    return first;
  }
};

constexpr WaitLater kWaitLater;

}  // namespace

const Kind* const kinds::wait_later = &kWaitLater;

}  // namespace contrafact::improve
