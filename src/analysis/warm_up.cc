#include "analysis/warm_up.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/cpu_use.h"
#include "base/middle.h"
#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::FrameKind;
using model::TaskId;
using model::Trace;

constexpr size_t kParts = 8;
constexpr size_t kTasksMin = 4 * kParts;  // fewer have no median worth the name
// By chance, the median of a part may be so many times as long as that of the second half.
constexpr double kChance = 1.2;

// By task: what it computed itself, without what it waited for or ran in between.
std::vector<int64_t> own_cpu_ns(const Trace& trace, const CpuTimes& times) {
  std::vector<int64_t> cpu_ns(trace.tasks.size());
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::ThreadId thread(i);
    TaskId running;
    int64_t since_ns = 0, last_ns = 0;
    const auto add_until = [&](int64_t end_ns) {
      if (running.valid()) cpu_ns[running.index()] += times.cpu_ns(thread, since_ns, end_ns);
    };
    for (model::TaskWalk walk(trace, thread); walk.next();) {
      last_ns = walk.time_ns();
      const TaskId now = walk.in(FrameKind::task) ? walk.task() : TaskId();
      if (now == running) continue;
      add_until(last_ns);
      running = now;
      since_ns = last_ns;
    }
    add_until(last_ns);
  }
  return cpu_ns;
}

// Of like tasks in the order of their starts.
double warm_up_ns(std::span<int64_t> cpu_ns) {
  if (cpu_ns.size() < kTasksMin) return 0;
  const auto part = [&](size_t number) {
    const size_t begin = cpu_ns.size() * number / kParts, end = cpu_ns.size() * (number + 1) / kParts;
    return cpu_ns.subspan(begin, end - begin);
  };
  std::array<double, kParts> medians{};
  for (size_t i = 0; i < kParts; ++i) medians[i] = base::median(part(i));
  const double steady = base::median(cpu_ns.subspan(cpu_ns.size() / 2));
  double excess = 0;
  for (size_t i = 0; i < kParts / 2 && medians[i] > kChance * steady; ++i) {
    excess += (medians[i] - steady) * static_cast<double>(part(i).size());
  }
  return excess;
}

}  // namespace

double warm_up_share(const Trace& trace) {
  const CpuTimes times(trace);
  if (!times.known()) return 0;
  const std::vector<int64_t> cpu_ns = own_cpu_ns(trace, times);
  std::vector<uint32_t> order;
  double all_ns = 0;
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    const model::TaskRow& row = trace.tasks[i];
    if (!row.start.valid() || row.kind == model::TaskKind::thread) continue;
    order.push_back(i);
    all_ns += static_cast<double>(cpu_ns[i]);
  }
  std::ranges::sort(order, {}, [&](uint32_t i) {
    const model::TaskRow& row = trace.tasks[i];
    return std::tuple(row.body.value, trace.time_ns[row.start.index()], i);
  });
  double warm_ns = 0;
  std::vector<int64_t> like;
  for (size_t begin = 0; begin < order.size();) {
    like.clear();
    size_t end = begin;
    for (; end < order.size() && trace.tasks[order[end]].body == trace.tasks[order[begin]].body; ++end) {
      like.push_back(cpu_ns[order[end]]);
    }
    warm_ns += warm_up_ns(like);
    begin = end;
  }
  return all_ns > 0 ? std::min(1.0, warm_ns / all_ns) : 0;
}

}  // namespace contrafact::analysis
