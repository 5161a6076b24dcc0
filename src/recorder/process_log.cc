#include "recorder/process_log.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/hex.h"
#include "format/fact_keys.h"
#include "recorder/awake_cores.h"
#include "recorder/process_facts.h"

namespace contrafact::recorder {

namespace {

constexpr std::string_view kUnseenSchedulers = "scheduler.unseen.";

}  // namespace

ProcessLog::ProcessLog(deferred::SharedArea area)
    : area_(std::move(area)),
      pid_(page_of(area_.header()).pid.load(std::memory_order_acquire)),
      sockets_(pid_),
      libraries_(tables_, pid_),
      texts_([this](uint32_t stream, const Text& text) { take_text(stream, text); }),
      drainer_(area_, trace_layout(), *this),
      blocked_threads_(pid_) {
  addresses_.watch_code();
  addresses_.ask_for_ports(
      [this](uint32_t descriptor, uint32_t remote_port) { return sockets_.local_port(descriptor, remote_port); });
}

base::Result<std::unique_ptr<ProcessLog>> ProcessLog::begin(deferred::SharedArea area,
                                                            std::unique_ptr<format::Sink> sink, Options options) {
  auto writer = format::Writer::create(std::move(sink), options.compression_level);
  if (!writer) return writer.error();
  std::unique_ptr<ProcessLog> log(new ProcessLog(std::move(area)));
  for (const Fact& fact : options.facts) {
    log->tables_.fact(fact.key, fact.value);
    log->has_said_unseen_ |= fact.key.starts_with(kUnseenSchedulers);
  }
  if (options.awake) log->tables_.fact(format::kAwakeFact, std::to_string(AwakeCores::kTurnNs));
  std::unique_ptr<IdleCores> idle_cores;
  if (options.cpu_switches && !is_under_quota(log->pid_))
    idle_cores = std::make_unique<IdleCores>(log->pid_, Host::record, options.awake);
  log->log_ = std::make_unique<EventLog>(std::move(*writer), log->tables_, log->addresses_, options.access_sets_max,
                                         nullptr, std::move(idle_cores), std::move(options.diagnostics));
  log->log_->take_texts(&log->texts_);
  log->log_->watch_awake(std::move(options.awake));
  return log;
}

void ProcessLog::inherit_libraries(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) libraries_.list(library);
  libraries_.end_list(page_of(area_.header()).begin_ns.load());
}

uint32_t ProcessLog::begin_stream(const uint64_t (&begin_words)[2]) {
  const auto os_tid = static_cast<uint32_t>(begin_words[0]);
  const auto number = static_cast<uint32_t>(begin_words[1]);
  format::ThreadRow row;
  row.name = tables_.string(number == 0 ? "main" : "thread " + std::to_string(number));
  row.os_tid = os_tid;
  const format::ThreadId thread = tables_.thread(row);
  log_->name_thread(os_tid, thread);
  thread_of_tid_[os_tid] = thread;
  return thread.value;
}

void ProcessLog::end_stream(uint32_t stream) {
  texts_.forget(stream);
  addresses_.end(stream);
}

// Rows come first: a pool is there before what names it is committed.
void ProcessLog::add_pools() {
  const ProcessPage& page = page_of(area_.header());
  for (; pools_ < kNamedPoolsMax && page.pools[pools_].is_there.load(std::memory_order_acquire); ++pools_) {
    const NamedPool& pool = page.pools[pools_];
    const auto last = static_cast<uint32_t>(format::kPoolKindLast);
    format::PoolRow row;
    row.name = tables_.string(std::string_view(pool.name, strnlen(pool.name, sizeof pool.name)));
    row.kind = static_cast<format::PoolKind>(std::min(pool.kind.load(std::memory_order_relaxed), last));
    row.core_size = pool.core_size.load(std::memory_order_relaxed);
    row.max_size = pool.max_size.load(std::memory_order_relaxed);
    tables_.pool(row);
  }
}

void ProcessLog::take_text(uint32_t, const Text& text) {
  switch (text.kind) {
    case TextKind::fact:
      tables_.fact(text.key, text.value);
      break;
    case TextKind::thread_name:
      if (const auto found = thread_of_tid_.find(text.number); found != thread_of_tid_.end()) {
        tables_.fact("thread.name." + std::to_string(found->second.value), text.value);
      }
      break;
    case TextKind::library:
      libraries_.list(text.value);
      break;
    case TextKind::libraries:
      libraries_.end_list(std::max(log_->last_event_ns(), page_of(area_.header()).begin_ns.load()));
      break;
  }
}

// A thread's first switches may come before it is known by its first call.
void ProcessLog::append_switches(std::span<const CpuSwitch> switches) {
  const int64_t begin_ns = page_of(area_.header()).begin_ns.load(std::memory_order_relaxed);
  std::vector<CpuSwitch> known;
  for (const CpuSwitch& each : held_) {
    if (log_->knows_thread(each.os_tid)) known.push_back(each);
  }
  held_.clear();
  for (const CpuSwitch& each : switches) {
    if (each.time_ns < begin_ns) continue;
    (log_->knows_thread(each.os_tid) ? known : held_).push_back(each);
  }
  log_->append_switches(known);
}

// Waits inside the C library's functions are events already, or waits that are not recorded. Only a wait elsewhere in
// the program is counted here.
void ProcessLog::look_at_blocked_threads() {
  constexpr size_t kPlacesMax = 1000;
  const auto is_seen = [](std::string_view path) {
    return is_of_c_library(path) || path.find("/libcontrafact_") != std::string_view::npos;
  };
  const std::vector<BlockedThread> blocked = blocked_threads_.look(base::monotonic_ns());
  if (blocked.empty()) return;
  std::vector<uint64_t> code;  // where none was blocked before
  for (const BlockedThread& each : blocked) {
    if (blocked_code_.size() < kPlacesMax && blocked_code_.insert(each.code).second) code.push_back(each.code);
  }
  if (!code.empty()) libraries_.find(code, base::monotonic_ns());
  bool any = false;
  for (const BlockedThread& each : blocked) {
    if (is_seen(libraries_.path_at(each.code))) continue;
    any = true;
    const auto thread = thread_of_tid_.find(each.os_tid);
    const BlockedAt at{.thread = thread != thread_of_tid_.end() ? thread->second : format::ThreadId(),
                       .system_call = each.system_call,
                       .futex = each.system_call == SYS_futex ? each.first_argument : 0,
                       .code = each.code};
    if (blocked_.size() >= kPlacesMax && !blocked_.contains(at)) {
      ++blocked_left_out_;
    } else if (++blocked_[at] == 1) {
      addresses_.method(each.code, false);
    }
  }
  blocked_threads_.found(any);
}

void ProcessLog::write_blocked_threads() {
  size_t number = 0;
  for (const auto& [at, looks] : blocked_) {
    const std::string thread = at.thread.valid() ? std::to_string(at.thread.value) : "-";
    tables_.fact("blocked." + std::to_string(number++),
                 std::to_string(looks) + " " + thread + " " + std::to_string(at.system_call) + " " +
                     base::hex(at.futex) + " " + std::to_string(addresses_.method(at.code, false).value));
  }
  if (blocked_left_out_ > 0) tables_.fact("blocked.left_out", std::to_string(blocked_left_out_));
}

void ProcessLog::pass(std::span<const CpuSwitch> switches) {
  drainer_.pass(false);
  log_->look_at_cores(pid_);
  look_at_blocked_threads();
  libraries_.find(addresses_.take_new_code(), base::monotonic_ns());
  append_switches(switches);
  log_->end_pass();
}

void ProcessLog::write_counts() {
  const ProcessPage& page = page_of(area_.header());
  for (const NamedCount& count : page.counts) {
    if (!count.is_there.load(std::memory_order_acquire)) break;
    const std::string_view key(count.key, strnlen(count.key, sizeof count.key));
    tables_.fact(key, std::to_string(count.value.load(std::memory_order_relaxed)));
  }
  if (const uint32_t unrecorded = page.threads_unrecorded.load(std::memory_order_relaxed); unrecorded > 0) {
    tables_.fact("threads.unrecorded", std::to_string(unrecorded));
  }
  if (drainer_.broken_queues() > 0) {
    tables_.fact("recorder.queues.broken", std::to_string(drainer_.broken_queues()));
  }
}

// Runtimes that came with a program that the recorded one became, or later.
void ProcessLog::write_unseen_runtimes() {
  if (has_said_unseen_) return;
  bool has_gnu = false, has_llvm = false, has_tbb = false, sees_tbb = false;
  for (const std::string& library : libraries_.loaded()) {
    const std::string_view name = std::string_view(library).substr(library.rfind('/') + 1);
    has_gnu |= name.starts_with("libgomp.so") || name.starts_with("libgomp-");
    has_llvm |= name.starts_with("libomp") || name.starts_with("libiomp5");
    has_tbb |= name.starts_with("libtbb.so") || name.starts_with("libtbb-");
    sees_tbb |= name.starts_with("libcontrafact_native_tbb.so");
  }
  const std::string key(kUnseenSchedulers);
  if (has_gnu && !has_llvm) tables_.fact(key + "openmp", "OpenMP (libgomp)");
  if (has_tbb && !sees_tbb) tables_.fact(key + "tbb", "oneTBB");
}

void ProcessLog::finish(std::string_view reason, std::span<const CpuSwitch> switches) {
  drainer_.pass(true);
  libraries_.find(addresses_.take_new_code(), base::monotonic_ns());
  append_switches(switches);
  write_blocked_threads();
  write_unseen_runtimes();
  write_counts();
  const int64_t end_ns = page_of(area_.header()).end_ns.load(std::memory_order_acquire);
  log_->set_end(end_ns != 0 ? end_ns : base::monotonic_ns());
  log_->set_exit_reason(reason);
  log_->end();
}

}  // namespace contrafact::recorder
