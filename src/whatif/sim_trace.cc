#include "whatif/sim_trace.h"

#include <algorithm>

#include "model/finish.h"

namespace contrafact::whatif {

using model::EventKind;
using model::TaskId;
using model::TaskRow;
using model::Trace;

SimTrace::SimTrace(const SimProgram& program, bool enabled)
    : trace_(*program.trace), enabled_(enabled), workers_used_(trace_.pools.size()), ends_(trace_.pools.size()) {
  recorded_workers_.resize(trace_.pools.size());
  for (uint32_t i = 0; i < program.uses.size(); ++i) {
    const model::ThreadUse& use = program.uses[i];
    if (use.role != model::ThreadRole::worker) continue;
    recorded_workers_[use.pool.index()].push_back(i);
    const model::EventRange range = trace_.thread_events(model::ThreadId(i));
    if (trace_.kind[range.end - 1] == EventKind::thread_end) ends_[use.pool.index()] = true;
  }
  for (auto& workers : recorded_workers_) {
    std::stable_sort(workers.begin(), workers.end(),
                     [&](uint32_t x, uint32_t y) { return program.uses[x].begin_ns < program.uses[y].begin_ns; });
  }
  if (enabled_) streams_.resize(trace_.threads.size());
}

uint32_t SimTrace::worker_stream(uint32_t pool, int64_t time_ns) {
  if (!enabled_) return 0;
  const uint32_t number = workers_used_[pool]++;
  uint32_t stream;
  if (number < recorded_workers_[pool].size()) {
    stream = recorded_workers_[pool][number];
  } else {
    stream = static_cast<uint32_t>(streams_.size());
    streams_.emplace_back();
    format::ThreadRow row;
    row.name = model::StringId(static_cast<uint32_t>(trace_.strings.size() + extra_strings_.size()));
    extra_strings_.push_back(std::string(trace_.string(trace_.pools[pool].name)) + " simulated worker " +
                             std::to_string(number + 1));
    extra_threads_.push_back(row);
  }
  write(stream, time_ns, EventKind::thread_begin);
  return stream;
}

void SimTrace::write_create(uint32_t stream, int64_t time_ns, uint32_t task) {
  if (!enabled_ || trace_.tasks[task].create.valid()) return;
  write(stream, time_ns, EventKind::task_create, task, trace_.tasks[task].spawn_context.value);
}

uint32_t SimTrace::add_continuation(uint32_t stream, int64_t time_ns, uint32_t coordinator, uint32_t source) {
  if (!enabled_) return coordinator;
  const auto id = static_cast<uint32_t>(trace_.tasks.size() + extra_tasks_.size());
  TaskRow row;
  row.body = trace_.tasks[coordinator].body;
  extra_tasks_.push_back(row);
  extra_dependencies_.push_back({TaskId(id), TaskId(source), format::DependsMode::all});
  write(stream, time_ns, EventKind::task_create, id, trace_.tasks[coordinator].spawn_context.value);
  write(stream, time_ns, EventKind::task_depends, id, source);
  return id;
}

void SimTrace::set_locks(std::span<const format::LockKind> kinds, std::span<const uint32_t> made_from) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    format::LockRow row = trace_.locks[i < trace_.locks.size() ? i : made_from[i - trace_.locks.size()]];
    row.kind = kinds[i];
    if (i >= trace_.locks.size() && row.name.valid()) {
      const std::string name(trace_.string(row.name));
      row.name = model::StringId(static_cast<uint32_t>(trace_.strings.size() + extra_strings_.size()));
      extra_strings_.push_back(name + " (part " + std::to_string(i + 2 - trace_.locks.size()) + ")");
    }
    locks_.push_back(row);
  }
}

base::Result<Trace> SimTrace::finish(int64_t begin_ns, uint32_t cores) {
  Trace parts;
  parts.origin = model::Origin::simulated;
  parts.facts = trace_.facts;
  parts.facts.push_back({"simulated.cores", cores == 0 ? "unlimited" : std::to_string(cores)});
  parts.loss = trace_.loss;
  parts.threads = trace_.threads;
  parts.threads.insert(parts.threads.end(), extra_threads_.begin(), extra_threads_.end());
  parts.methods = trace_.methods;
  parts.owners = trace_.owners;
  parts.contexts = trace_.contexts;
  parts.pools = trace_.pools;
  parts.locks = locks_;
  parts.connections = trace_.connections;
  parts.endpoints = trace_.endpoints;
  parts.access_sets = trace_.access_sets;
  parts.access_ranges = trace_.access_ranges;
  parts.method_addresses = trace_.method_addresses;
  parts.strings = trace_.strings;
  parts.strings.insert(parts.strings.end(), extra_strings_.begin(), extra_strings_.end());
  parts.dependencies = trace_.dependencies;
  parts.dependencies.insert(parts.dependencies.end(), extra_dependencies_.begin(), extra_dependencies_.end());
  for (const TaskRow& task : trace_.tasks) {
    // Positions and kinds follow from the new events.
    TaskRow row;
    row.pool = task.pool;
    row.body = task.body;
    row.create_context = task.create_context;
    row.spawn_context = task.spawn_context;
    row.delay_us = task.delay_us;
    row.truncated = task.truncated;
    parts.tasks.push_back(row);
  }
  parts.tasks.insert(parts.tasks.end(), extra_tasks_.begin(), extra_tasks_.end());
  size_t events = 0;
  for (const auto& stream : streams_) events += stream.size();
  parts.kind.reserve(events);
  parts.time_ns.reserve(events);
  parts.a.reserve(events);
  parts.b.reserve(events);
  for (const auto& stream : streams_) {
    const auto begin = static_cast<uint32_t>(parts.kind.size());
    for (const Written& event : stream) {
      parts.kind.push_back(event.kind);
      parts.time_ns.push_back(begin_ns + event.time_ns);
      parts.a.push_back(event.a);
      parts.b.push_back(event.b);
    }
    parts.thread_ranges.push_back({begin, static_cast<uint32_t>(parts.kind.size())});
  }
  base::Result<Trace> result = model::finish(std::move(parts));
  if (!result) return result;
  for (TaskRow& task : result->tasks) {
    if (!task.spawn.valid()) task.pool = {};  // it runs where it was to be spawned
  }
  return result;
}

}  // namespace contrafact::whatif
