// TaskWalk: one pass over one thread's events that keeps the stack of what is open: tasks, waits, blocks, idle workers.
// Every analysis that asks "inside what did this happen" uses it, so that damaged traces are treated alike everywhere.
//
//   for (TaskWalk walk(trace, thread); walk.next();) { ... walk.kind(), walk.task(), walk.depth() ... }
//
// Linear in the thread's events; the stack is a vector, so stages nested a million deep are no danger. One walk belongs
// to one thread of the caller; the trace may be shared.
//
// Invariants
//  1. The frames between two task frames belong to the lower task: they are its waits and blocks, innermost last.
//  2. An end without its begin (events were dropped) changes nothing and closes nothing.
//  3. The end of a task closes the waits and blocks inside it that never saw their own end.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

enum class FrameKind : uint8_t { task, wait, block, idle };

struct Frame {
  FrameKind kind;
  EventIndex begin;  // the event that opened it
  TaskId task;       // FrameKind::task: the task itself; FrameKind::wait: the task asked for, or none
};

class TaskWalk {
 public:
  TaskWalk(const Trace& trace, ThreadId thread) : TaskWalk(trace, trace.thread_events(thread)) {}
  // Part of one thread's events, e.g. one task's from its start to its end.
  TaskWalk(const Trace& trace, EventRange range) : trace_(trace), range_(range), at_(range.begin) {}

  // Moves to the next event and applies it to the stack. False when the thread has no more.
  bool next() {
    if (at_ == range_.end) return false;
    event_ = at_++;
    closed_ = false;
    apply();
    return true;
  }

  EventIndex event() const { return EventIndex(event_); }
  EventKind kind() const { return trace_.kind[event_]; }
  int64_t time_ns() const { return trace_.time_ns[event_]; }
  uint32_t a() const { return trace_.a[event_]; }
  uint32_t b() const { return trace_.b[event_]; }

  // The stack after the event.
  const std::vector<Frame>& stack() const { return stack_; }
  // The innermost open task, none outside any.
  TaskId task() const { return tasks_.empty() ? TaskId::none() : stack_[tasks_.back()].task; }
  size_t task_depth() const { return tasks_.size(); }
  // What the innermost open frame is, if any is open.
  bool in(FrameKind kind) const { return !stack_.empty() && stack_.back().kind == kind; }
  // True if the event closed a frame, which `closed` then returns (the outermost one where a task's end closed
  // several).
  bool has_closed() const { return closed_; }
  const Frame& closed() const { return closed_frame_; }

 private:
  void apply() {
    switch (kind()) {
      case EventKind::task_start:
        open(FrameKind::task, TaskId(a()));
        break;
      case EventKind::task_end:
        close_task(TaskId(a()));
        break;
      case EventKind::wait_begin:
        open(FrameKind::wait, TaskId(a()));
        break;
      case EventKind::wait_end:
        close(FrameKind::wait);
        break;
      case EventKind::lock_request:
      case EventKind::lock_request_shared:
      case EventKind::sync_wait:
      case EventKind::block_begin:
        open(FrameKind::block, TaskId::none());
        break;
      case EventKind::lock_acquired:
      case EventKind::lock_acquired_shared:
      case EventKind::sync_woken:
      case EventKind::block_end:
        close(FrameKind::block);
        break;
      case EventKind::worker_idle:
        open(FrameKind::idle, TaskId::none());
        break;
      case EventKind::worker_busy:
        close(FrameKind::idle);
        break;
      default:
        break;
    }
  }

  void open(FrameKind kind, TaskId task) {
    if (kind == FrameKind::task) tasks_.push_back(static_cast<uint32_t>(stack_.size()));
    stack_.push_back({kind, EventIndex(event_), task});
  }

  // Closes the innermost frame of this kind within the innermost task, and whatever is left open above it.
  void close(FrameKind kind) {
    const size_t floor = tasks_.empty() ? 0 : tasks_.back() + 1;
    for (size_t i = stack_.size(); i > floor; --i) {
      if (stack_[i - 1].kind == kind) return shrink_to(i - 1);
    }
  }

  void close_task(TaskId task) {
    if (tasks_.empty() || stack_[tasks_.back()].task != task) return;
    const size_t bottom = tasks_.back();
    tasks_.pop_back();
    shrink_to(bottom);
  }

  void shrink_to(size_t size) {
    closed_ = true;
    closed_frame_ = stack_[size];
    stack_.resize(size, closed_frame_);
  }

  const Trace& trace_;
  EventRange range_;
  uint32_t at_;
  uint32_t event_ = 0;
  bool closed_ = false;
  Frame closed_frame_{};
  std::vector<Frame> stack_;
  std::vector<uint32_t> tasks_;  // positions of the task frames in `stack_`
};

}  // namespace contrafact::model
