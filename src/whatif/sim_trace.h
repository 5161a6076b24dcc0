// Writes a simulated run as a trace: each thread's events and their times, with the recorded run's tables. Not
// thread-safe; belongs to one simulation. Disabled, every call is a test of one flag.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "whatif/sim_program.h"

namespace contrafact::whatif {

class SimTrace {
 public:
  SimTrace(const SimProgram& program, bool enabled);

  bool enabled() const { return enabled_; }
  // The stream of a recorded plain thread.
  uint32_t plain_stream(uint32_t thread) { return thread; }
  // A stream for the next worker of a pool: the recorded workers' rows first, then new ones. Writes its thread_begin.
  uint32_t worker_stream(uint32_t pool, int64_t time_ns);
  // True if the recording shows that the pool's workers ended: it was shut down.
  bool workers_end(uint32_t pool) const { return ends_[pool]; }

  void copy(uint32_t stream, int64_t time_ns, uint32_t event) {
    if (!enabled_ || event == UINT32_MAX) return;
    write(stream, time_ns, trace_.kind[event], trace_.a[event], trace_.b[event]);
  }
  void write(uint32_t stream, int64_t time_ns, model::EventKind kind, uint32_t a = 0, uint32_t b = 0) {
    if (!enabled_) return;
    streams_[stream].push_back({time_ns, kind, a, b});
  }
  // Stands for the spawn of a task that runs at once, so that its place in the program stays known.
  void write_create(uint32_t stream, int64_t time_ns, uint32_t task);
  // A new task for the part of a coordinator that runs when `source` has completed.
  uint32_t add_continuation(uint32_t stream, int64_t time_ns, uint32_t coordinator, uint32_t source);

  // What the locks are in the simulated run: the trace's first, then new ones, each made from one of those.
  void set_locks(std::span<const format::LockKind> kinds, std::span<const uint32_t> made_from);

  base::Result<model::Trace> finish(int64_t begin_ns, uint32_t cores);

 private:
  struct Written {
    int64_t time_ns;
    model::EventKind kind;
    uint32_t a;
    uint32_t b;
  };

  const model::Trace& trace_;
  const bool enabled_;
  std::vector<std::vector<Written>> streams_;  // by thread of the result
  std::vector<format::ThreadRow> extra_threads_;
  std::vector<std::vector<uint32_t>> recorded_workers_;  // by pool, in order of their first event
  std::vector<uint32_t> workers_used_;                   // by pool
  std::vector<bool> ends_;
  std::vector<model::TaskRow> extra_tasks_;
  std::vector<model::Dependency> extra_dependencies_;
  std::vector<std::string> extra_strings_;
  std::vector<format::LockRow> locks_;
};

}  // namespace contrafact::whatif
