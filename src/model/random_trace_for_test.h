// For tests: a trace of random events that no program would produce, as damaged recordings may hold them. What
// TraceBuilder makes of it keeps a trace's invariants and nothing else: tasks spawned twice, completed before they
// start, waited for by themselves, depending on each other in circles.
#pragma once

#include <random>

#include "base/check.h"
#include "model/trace_builder.h"

namespace contrafact::model {

// With `far_times`, some events have times near the ends of what 64 bits hold.
inline Trace random_trace(uint32_t seed, uint32_t events, bool far_times = false) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  TraceBuilder builder;
  const uint32_t threads = 1 + below(5), tasks = 1 + below(12), pools = 3, contexts = 4;
  for (uint32_t i = 0; i < threads; ++i) builder.add_thread("thread");
  for (uint32_t i = 0; i < tasks; ++i) builder.add_task();
  builder.add_pool("p", format::PoolKind::thread_pool, 2, 2);
  builder.add_pool("f", format::PoolKind::fork_join, 2, 2);
  builder.add_pool("c", format::PoolKind::thread_per_task, 0, UINT32_MAX);
  builder.add_fact("cores", "2");
  const MethodId method = builder.add_method("shop.Job", "run");
  for (uint32_t i = 0; i < contexts; ++i) builder.add_context({}, method, i + 1);
  builder.add_access_set(format::SetGap::complete, {{4096, 8, format::kAccessRead}});
  builder.add_access_set(format::SetGap::system_call, {{4096, 8, format::kAccessWrite}});
  builder.add_lock("mutex", format::LockKind::mutex);
  builder.add_lock("condition", format::LockKind::condition);
  builder.add_lock("rwlock", format::LockKind::rwlock);
  builder.add_connection({format::ConnectionKind::accepted, 8080, 51234});
  builder.add_connection({format::ConnectionKind::connected, 51234, 8080});
  builder.add_connection({});
  builder.add_endpoint("GET /");
  int64_t now_ns = 0;
  for (uint32_t i = 0; i < events; ++i) {
    now_ns += below(50);
    const auto kind = static_cast<EventKind>(below(format::kEventKinds));
    std::array<uint32_t, format::kOperandsMax> operands{};
    for (size_t k = 0; k < operands.size(); ++k) {
      switch (format::schema_of(kind).operands[k]) {
        case format::Operand::task:
        case format::Operand::source:
          operands[k] = below(tasks);
          break;
        case format::Operand::pool:
          operands[k] = below(4) == 0 ? UINT32_MAX : below(pools);
          break;
        case format::Operand::context:
          operands[k] = below(contexts);
          break;
        case format::Operand::body:
        case format::Operand::method:
          operands[k] = method.value;
          break;
        case format::Operand::thread:
          operands[k] = below(threads);
          break;
        case format::Operand::outcome:
          operands[k] = below(4) == 0 ? below(5) : 0;
          break;
        case format::Operand::reason:
          operands[k] = below(5);
          break;
        case format::Operand::mode:
          operands[k] = below(2);
          break;
        default:
          operands[k] = below(3);
          break;
      }
    }
    int64_t time_ns = now_ns;
    if (far_times && below(20) == 0) time_ns = below(2) == 0 ? INT64_MAX - below(100) : INT64_MIN + below(100);
    builder.add(ThreadId(below(threads)), kind, time_ns, operands);
  }
  base::Result<Trace> trace = builder.build();
  CHECK(trace.ok());
  return std::move(*trace);
}

}  // namespace contrafact::model
