// Test helper: recordings of random task programs. Each task computes, calls methods, spawns sub-tasks and waits for
// some of them, in any order; every level of the tree of tasks has a pool of its own, so that finite pools cannot
// deadlock.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "graph/trace_dag.h"
#include "model/trace_builder.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {

struct RandomProgramOptions {
  uint32_t depth_max = 3;
  uint32_t width_max = 5;  // sub-tasks per task
  uint32_t main_steps = 12;
  bool locks = false;  // every second piece of computing holds a lock that nobody else takes
};

// Every task runs at once, on a worker of its own. simulate() turns the run into one on pools of finite size.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed, RandomProgramOptions options = {}) : random_(seed), options_(options) {
    for (uint32_t depth = 0; depth <= options_.depth_max; ++depth) {
      pools_.push_back(builder_.add_pool("level " + std::to_string(depth), format::PoolKind::thread_pool, 3, 3));
      methods_.push_back(
          builder_.add_method("shop.Level" + std::to_string(depth), "run", "Level.java", 10 * depth + 1));
      contexts_.push_back(builder_.add_context({}, methods_.back(), 10 * depth + 5));
    }
    builder_.add_fact("cores", "2");
    const model::ThreadId main = builder_.add_thread("main");
    builder_.add(main, model::EventKind::thread_begin, 0);
    builder_.add(main, model::EventKind::thread_end, record(main, 0, 0) + 7);
  }

  model::Trace build() { return *builder_.build(); }

 private:
  struct Child {
    model::TaskId task;
    int64_t end_ns;
  };

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  int64_t record(model::ThreadId thread, int64_t now_ns, uint32_t depth) {
    std::vector<Child> children;
    const uint32_t steps = depth == 0 ? options_.main_steps : below(options_.width_max);
    for (uint32_t i = 0; i < steps; ++i) {
      now_ns = compute(thread, now_ns, depth);
      if (depth < options_.depth_max) children.push_back(spawn(thread, now_ns, depth));
      if (below(4) == 0 && !children.empty()) now_ns = wait(thread, now_ns, children, below(children.size()), depth);
    }
    while (!children.empty()) now_ns = wait(thread, now_ns, children, below(children.size()), depth);
    return compute(thread, now_ns, depth);
  }

  int64_t wait(model::ThreadId thread, int64_t now_ns, std::vector<Child>& children, size_t which, uint32_t depth) {
    const Child child = children[which];
    children.erase(children.begin() + static_cast<ptrdiff_t>(which));
    if (depth > 0 && below(4) == 0) return now_ns;  // never asked for
    builder_.add(thread, model::EventKind::wait_begin, now_ns, child.task);
    now_ns = std::max(now_ns + 1, child.end_ns + 1 + below(20));
    builder_.add(thread, model::EventKind::wait_end, now_ns, child.task);
    return now_ns;
  }

  int64_t compute(model::ThreadId thread, int64_t now_ns, uint32_t depth) {
    const int64_t end_ns = now_ns + 1 + below(1000);
    if (options_.locks && below(2) == 0) {
      const model::LockId lock = builder_.add_lock("lock", format::LockKind::monitor);
      builder_.add(thread, model::EventKind::lock_acquire, now_ns, {lock.value, contexts_[depth].value, 0, 0});
      builder_.add(thread, model::EventKind::lock_release, end_ns, {lock.value, contexts_[depth].value, 0, 0});
      return end_ns;
    }
    if (below(2) == 0) {
      builder_.add(thread, model::EventKind::method_enter, now_ns, {methods_[depth].value, 0, 0, 0});
      builder_.add(thread, model::EventKind::method_exit, end_ns, {methods_[depth].value, 0, 0, 0});
    }
    return end_ns;
  }

  Child spawn(model::ThreadId thread, int64_t now_ns, uint32_t depth) {
    const model::TaskId task = builder_.add_task();
    builder_.spawn(thread, now_ns, task, contexts_[depth], pools_[depth], methods_[depth + 1]);
    const model::ThreadId worker = builder_.add_thread("worker");
    const int64_t start_ns = now_ns + 1 + below(30);
    builder_.add(worker, model::EventKind::task_start, start_ns, task);
    const int64_t end_ns = record(worker, start_ns, depth + 1);
    builder_.add(worker, model::EventKind::task_complete, end_ns, task);
    const bool wakes = depth == 0 && below(2) == 0;  // main waits for all its tasks
    if (wakes) builder_.add(worker, model::EventKind::wake, end_ns + 1, {thread.value, 0, 0, 0});
    builder_.add(worker, model::EventKind::task_end, end_ns + 1 + (wakes ? below(7) : 0), task);
    return {task, end_ns};
  }

  std::mt19937 random_;
  RandomProgramOptions options_;
  model::TraceBuilder builder_;
  std::vector<model::PoolId> pools_;
  std::vector<model::MethodId> methods_;
  std::vector<model::ContextId> contexts_;
};

// The program as a run on pools of three workers would have been recorded; with `locks`, its sections hold one of so
// many locks.
inline model::Trace recorded(uint32_t seed, uint32_t locks = 0) {
  const model::Trace unlimited = RandomProgram(seed, {.locks = locks > 0}).build();
  const std::vector<model::CriticalSection> sections = model::critical_sections(unlimited);
  std::vector<SectionEdit> edits = unedited(sections);
  for (SectionEdit& edit : edits) edit.lock %= locks;
  base::Result<Simulation> simulation = simulate(unlimited, {.edits = {edits.begin(), edits.end()}}, {.cores = 3});
  EXPECT_TRUE(simulation.ok());
  EXPECT_TRUE(simulation->stuck.empty());
  model::Trace trace = std::move(simulation->trace);
  trace.origin = model::Origin::measured;
  return trace;
}

// Whether a task waits for anything.
inline bool waits(const graph::TraceDag& dag, model::TaskId task) {
  const graph::Body& body = dag.body_of(task);
  for (uint32_t i = body.begin; i < body.end; ++i) {
    if (dag.vertices[i].vertex_kind() == graph::VertexKind::wait) return true;
  }
  return false;
}

}  // namespace contrafact::whatif
