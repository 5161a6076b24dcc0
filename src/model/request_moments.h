// Where a request's first receive and its last send lie in the work of their threads: in which task, since when the thread has had
// something to do, and when it last looked for what clients send. One walk over all threads, which notes who hands out what, too.
//
// Pure; linear in the events.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/hand_outs.h"
#include "model/requests.h"
#include "model/thread_sleeps.h"
#include "model/trace.h"

namespace contrafact::model {

// A call that looks for what has come: it waits, or finds that something is there.
struct Look {
  int64_t begin_ns = INT64_MIN;
  int64_t end_ns = INT64_MIN;
  uint32_t behind = UINT32_MAX;  // the event behind it
  bool exists() const { return begin_ns != INT64_MIN; }
};

struct Moment {
  TaskId task;               // innermost
  TaskId outermost;          // that a pool runs
  uint32_t busy_before = 0;  // since the event before this one the thread has had something to do ...
  int64_t busy_ns = 0;       // ... from this time on
  bool has_polled = false;   // the outermost task has waited for what clients send
  Look last, before;         // the thread's last two
};

class RequestMoments {
 public:
  // Of what each request begins and is answered with, and of `further` events. `sleeps` and its trace must outlive it. Notes in
  // `hand_outs`.
  RequestMoments(const ThreadSleeps& sleeps, const std::vector<Request>& requests, std::span<const uint32_t> further,
                 HandOuts& hand_outs);

  const Trace& trace() const { return trace_; }
  const ThreadSleeps& sleeps() const { return sleeps_; }
  // REQUIRES: it is one of those events.
  const Moment& at(uint32_t event) const { return moments_.find(event)->second; }
  // Whether the thread is an event loop, which polls; others look by receiving.
  bool polls(ThreadId thread) const { return threads_[thread.index()].looks_by == BlockReason::poll; }
  // Whether all looks of the thread are recorded: some are that did not wait.
  bool all_looks_seen(ThreadId thread) const { return threads_[thread.index()].has_looked_without_wait; }

 private:
  struct Looking {
    BlockReason looks_by = BlockReason::io;
    bool has_looked_without_wait = false;
  };

  void walk_thread(ThreadId thread, HandOuts& hand_outs);
  BlockReason looks_by(ThreadId thread) const;
  TaskId outermost_of(const TaskWalk& walk) const;

  const ThreadSleeps& sleeps_;
  const Trace& trace_;
  std::unordered_map<uint32_t, Moment> moments_;  // by event
  std::vector<Looking> threads_;
};

}  // namespace contrafact::model
