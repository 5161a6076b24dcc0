#include "model/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "model/text_names.h"

namespace contrafact::model {
namespace {

bool take_row_count(std::string_view& text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

// Of `process.N` the N.
std::optional<uint32_t> number_of_process(std::string_view key) {
  if (!key.starts_with(kProcessFact)) return std::nullopt;
  key.remove_prefix(kProcessFact.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const bool is_one = !key.empty() && error == std::errc() && end == key.data() + key.size();
  return is_one ? std::optional(number) : std::nullopt;
}

// "THREADS POOLS LOCKS PID NAME"
std::optional<Process> parse_process(std::string_view text) {
  Process process;
  if (!take_row_count(text, process.threads_end) || !take_row_count(text, process.pools_end) ||
      !take_row_count(text, process.locks_end) || !take_row_count(text, process.pid) || text.empty())
    return std::nullopt;
  process.name = text;
  return process;
}

// Whether the rows of `process` follow those of the one before it, and are there.
bool follows(const Trace& trace, const Process& process) {
  const Process before = trace.processes.empty() ? Process{} : trace.processes.back();
  return before.threads_end <= process.threads_end && process.threads_end <= trace.threads.size() &&
         before.pools_end <= process.pools_end && process.pools_end <= trace.pools.size() &&
         before.locks_end <= process.locks_end && process.locks_end <= trace.locks.size();
}

uint32_t process_with(const Trace& trace, uint32_t row, uint32_t Process::* end) {
  const auto found = std::ranges::upper_bound(trace.processes, row, {}, end);
  return found == trace.processes.end() ? kNoProcess : static_cast<uint32_t>(found - trace.processes.begin());
}

// "gateway" and "gateway-1", but not "gateways", begin with "gateway".
bool begins_with_name(std::string_view label, std::string_view name) {
  if (!label.starts_with(name)) return false;
  label.remove_prefix(name.size());
  return label.empty() || (std::isalnum(static_cast<unsigned char>(label.front())) == 0 && label.front() != '_');
}

}  // namespace

std::string process_fact(const Process& process) {
  return fmt::format("{} {} {} {} {}", process.threads_end, process.pools_end, process.locks_end, process.pid,
                     process.name);
}

void read_processes(Trace& trace) {
  trace.processes.clear();
  std::map<uint32_t, std::string_view> rows;
  for (const Fact& fact : trace.facts) {
    if (const auto number = number_of_process(fact.key); number && *number < kProcessesMax)
      rows.emplace(*number, fact.value);
  }
  for (const auto& [number, text] : rows) {
    std::optional<Process> process = parse_process(text);
    if (number != trace.processes.size() || !process || !follows(trace, *process)) return trace.processes.clear();
    trace.processes.push_back(*std::move(process));
  }
}

uint32_t process_of(const Trace& trace, ThreadId thread) {
  return process_with(trace, thread.value, &Process::threads_end);
}
uint32_t process_of(const Trace& trace, PoolId pool) {
  return process_with(trace, pool.value, &Process::pools_end);
}
uint32_t process_of(const Trace& trace, LockId lock) {
  return process_with(trace, lock.value, &Process::locks_end);
}

std::string with_process(const Trace& trace, uint32_t process, std::string label) {
  if (process >= trace.processes.size()) return label;
  const std::string& name = trace.processes[process].name;
  return begins_with_name(label, name) ? label : std::move(label) + " of " + name;
}

std::string pool_label(const Trace& trace, PoolId pool) {
  return with_process(trace, process_of(trace, pool), std::string(trace.string(trace.pools[pool.index()].name)));
}

std::string lock_label(const Trace& trace, LockId lock) {
  const format::LockRow& row = trace.locks[lock.index()];
  return with_process(trace, process_of(trace, lock),
                      row.name.valid() ? std::string(trace.string(row.name))
                                       : fmt::format("{} {}", kLockKindNames[row.kind], lock.value));
}

}  // namespace contrafact::model
