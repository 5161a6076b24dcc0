#include "analysis/execution_path.h"

#include <algorithm>

#include "base/check.h"
#include "model/library_calls.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskId;

// Whether a thread blocks in a lock, at a latch or at a queue is luck: it does not where it comes late.
bool is_asked_for(model::BlockReason reason) {
  return reason == model::BlockReason::sleep || reason == model::BlockReason::io;
}

PathToken token_of(EventKind kind, uint32_t extra, uint32_t named) {
  // 0 is "no step": kinds are shifted by one.
  return (static_cast<uint64_t>(kind) + 1) << 40 | static_cast<uint64_t>(extra) << 32 | named;
}

uint64_t mixed(uint64_t hash, uint64_t value) {
  // The finaliser of splitmix64 over a running sum; any well-mixing function would do.
  uint64_t x = hash * 0x9e3779b97f4a7c15u + value + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

void PathBuilder::add(PathToken token) {
  tokens_.push_back(token);
  const size_t size = tokens_.size();
  for (size_t period = 1; period <= kLoopMax && 2 * period <= size; ++period) {
    if (tokens_[size - 1 - period] != token) continue;
    if (std::equal(tokens_.end() - static_cast<int64_t>(period), tokens_.end(),
                   tokens_.end() - static_cast<int64_t>(2 * period))) {
      tokens_.resize(size - period);
      return;
    }
  }
  if (size < kTokensMax) return;
  for (size_t i = 0; i < size / 2; ++i) folded_ = mixed(folded_, tokens_[i]);
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<int64_t>(size / 2));
}

uint64_t PathBuilder::hash() const {
  uint64_t hash = folded_;
  for (const PathToken token : tokens_) hash = mixed(hash, token);
  return hash;
}

PathToken path_token(const model::Trace& trace, const model::TaskWalk& walk) {
  switch (walk.kind()) {
    case EventKind::method_enter:
      // Which task is a thread's first is luck.
      if (model::makes_thread_local(trace, model::MethodId(walk.a()))) return 0;
      return token_of(walk.kind(), 0, walk.a());
    case EventKind::task_create:
    case EventKind::task_spawn: {
      const model::TaskRow& task = trace.tasks[walk.a()];
      // A creation that is followed by its spawn is one step, and so is a stage without a body of its own.
      if (walk.kind() == EventKind::task_create && task.spawn.valid()) return 0;
      if (model::is_worker_run(trace, task)) return 0;
      return token_of(EventKind::task_spawn, 0, walk.b());
    }
    case EventKind::wait_begin:
      return token_of(walk.kind(), 0, walk.b());
    case EventKind::block_begin:
      if (!is_asked_for(static_cast<model::BlockReason>(walk.a()))) return 0;
      return token_of(walk.kind(), walk.a(), walk.b());
    case EventKind::task_start: {
      const auto& stack = walk.stack();
      const bool helping = stack.size() >= 2 && stack[stack.size() - 2].kind == FrameKind::wait;
      return helping ? 0 : token_of(walk.kind(), 0, trace.tasks[walk.a()].body.value);
    }
    default:
      return 0;
  }
}

bool names_context(PathToken token) {
  const auto kind = static_cast<EventKind>((token >> 40) - 1);
  return kind == EventKind::task_spawn || kind == EventKind::wait_begin || kind == EventKind::block_begin;
}

std::vector<PathToken> path_of(const model::Trace& trace, TaskId task) {
  const model::TaskRow& row = trace.tasks[task.index()];
  CHECK(row.start.valid() && row.end.valid());
  PathBuilder path;
  model::TaskWalk walk(trace, model::EventRange{row.start.value, row.end.value});
  walk.next();
  while (walk.next()) {
    const size_t depth = walk.kind() == EventKind::task_start ? 2 : 1;
    if (walk.task_depth() != depth) continue;
    if (const PathToken token = path_token(trace, walk)) path.add(token);
  }
  return path.tokens();
}

std::string path_text(const model::Trace& trace, const std::vector<PathToken>& path, size_t steps_max) {
  if (path.empty()) return "nothing recorded";
  std::string text;
  for (size_t i = 0; i < std::min(path.size(), steps_max); ++i) {
    const auto kind = static_cast<EventKind>((path[i] >> 40) - 1);
    const auto named = static_cast<uint32_t>(path[i]);
    if (i > 0) text += "; ";
    switch (kind) {
      case EventKind::method_enter:
        text += "call " + trace.method_label(model::MethodId(named));
        break;
      case EventKind::task_spawn:
        text += "spawn at " + trace.context_label(model::ContextId(named));
        break;
      case EventKind::wait_begin:
        text += "wait at " + trace.context_label(model::ContextId(named));
        break;
      case EventKind::task_start:
        text += "stage " + trace.method_label(model::MethodId(named));
        break;
      default:
        text += "block at " + trace.context_label(model::ContextId(named));
        break;
    }
  }
  if (path.size() > steps_max) text += "; " + std::to_string(path.size() - steps_max) + " more";
  return text;
}

}  // namespace contrafact::analysis
