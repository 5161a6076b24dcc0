#include "whatif/sim_own_values.h"

#include <algorithm>

#include "model/library_calls.h"
#include "model/task_walk.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

struct Made {
  int64_t cpu_ns = 0;
  int64_t sleep_ns = 0;
};

// The time that a thread takes to make its own values. Making one value may need, and so make, others.
class Making {
 public:
  Making(const Trace& trace, uint32_t thread) : trace_(trace), thread_(thread) {}

  Made run() {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread_));
    size_t depth = 0, blocks = 0;
    int64_t since_ns = 0;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const EventKind kind = trace_.kind[i];
      if (depth > 0) add(since_ns, trace_.time_ns[i], blocks > 0);
      since_ns = trace_.time_ns[i];
      if (kind == EventKind::block_begin || kind == EventKind::wait_begin) ++blocks;
      if ((kind == EventKind::block_end || kind == EventKind::wait_end) && blocks > 0) --blocks;
      if (kind == EventKind::method_enter && is_value(i)) ++depth;
      if (kind == EventKind::method_exit && is_value(i) && depth > 0) --depth;
    }
    return made_;
  }

 private:
  bool is_value(uint32_t event) const { return model::makes_thread_local(trace_, model::MethodId(trace_.a[event])); }

  // A thread off its core waited for one, or slept for something that no event shows.
  void add(int64_t begin_ns, int64_t end_ns, bool blocked) {
    if (blocked) {
      made_.sleep_ns += end_ns - begin_ns;
      return;
    }
    int64_t off_ns = 0;
    for (const model::CpuGap& gap : trace_.cpu[thread_]) {
      const int64_t ns = std::min(end_ns, gap.in_ns) - std::max(begin_ns, gap.out_ns);
      if (ns <= 0) continue;
      off_ns += ns;
      if (!gap.preempted) made_.sleep_ns += ns;
    }
    made_.cpu_ns += end_ns - begin_ns - off_ns;
  }

  const Trace& trace_;
  uint32_t thread_;
  Made made_;
};

int64_t typical_part_ns(std::vector<Made>& made, int64_t Made::* part) {
  const auto middle = made.begin() + static_cast<ptrdiff_t>((made.size() - 1) / 2);
  std::ranges::nth_element(made, middle, {}, part);
  return *middle.*part;
}

bool any_made(const Trace& trace) {
  for (uint32_t i = 0; i < trace.methods.size(); ++i) {
    if (model::makes_thread_local(trace, model::MethodId(i))) return true;
  }
  return false;
}

}  // namespace

void add_own_values(SimProgram& program) {
  const Trace& trace = *program.trace;
  if (!program.conventions.pools_of_the_jdk || !any_made(trace)) return;
  std::vector<std::vector<Made>> by_pool(trace.pools.size());
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::ThreadUse& use = program.uses[i];
    if (use.role == model::ThreadRole::worker && use.pool.valid())
      by_pool[use.pool.index()].push_back(Making(trace, i).run());
  }
  program.own_values.assign(trace.pools.size(), UINT32_MAX);
  for (size_t pool = 0; pool < by_pool.size(); ++pool) {
    if (by_pool[pool].empty()) continue;
    const auto cpu_ns = static_cast<uint64_t>(typical_part_ns(by_pool[pool], &Made::cpu_ns));
    const auto sleep_ns = static_cast<uint64_t>(typical_part_ns(by_pool[pool], &Made::sleep_ns));
    if (cpu_ns + sleep_ns == 0) continue;
    program.own_values[pool] = static_cast<uint32_t>(program.fibers.size());
    const auto begin = static_cast<uint32_t>(program.ops.size());
    if (sleep_ns > 0) program.ops.push_back({sleep_ns, UINT32_MAX, OpCode::pause});
    if (cpu_ns > 0) program.ops.push_back({cpu_ns, UINT32_MAX, OpCode::cpu});
    program.ops.push_back({0, UINT32_MAX, OpCode::ret});
    program.fibers.push_back({begin, static_cast<uint32_t>(program.ops.size())});
    program.background.push_back(true);
  }
}

}  // namespace contrafact::whatif
