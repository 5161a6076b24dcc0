#include "recorder/event_log.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/own_descriptors.h"
#include "contrafact/deferred_buffer.h"
#include "format/fact_keys.h"

namespace contrafact::recorder {

using format::EventKind;
using format::RunSource;
using format::ThreadId;

EventLog::EventLog(std::unique_ptr<format::Writer> writer, Tables& tables, AddressTable& addresses,
                   uint32_t access_sets_max, std::unique_ptr<CpuSwitches> cpu_switches,
                   std::unique_ptr<IdleCores> idle_cores, std::function<void(std::string_view)> diagnostics)
    : writer_(std::move(writer)),
      tables_(tables),
      addresses_(addresses),
      access_sets_(access_sets_max),
      cpu_switches_(std::move(cpu_switches)),
      idle_cores_(std::move(idle_cores)),
      diagnostics_(std::move(diagnostics)) {}

// Where the drainer was cut off, or in a forked child's parent, the descriptor is still open, but in another thread's
// table of descriptors. Here its number may be another file's.
EventLog::~EventLog() {
  if (idle_cores_ && !own_descriptors_.empty()) idle_cores_->leave_open();
}

void EventLog::begin() {
  std::vector<int> open{writer_->sink().descriptor()};
  if (idle_cores_) open.push_back(idle_cores_->descriptor());
  std::erase_if(open, [](int descriptor) { return descriptor < 0; });
  if (base::keep_only(open)) own_descriptors_ = std::move(open);
}

void EventLog::leave_to_drainer() {
  for (const int descriptor : own_descriptors_) close(descriptor);
}

void EventLog::take(deferred::Batch& batch) {
  if (batch.buffer_begins) batch.memo = batch.stream;  // the logical thread
  if (batch.dropped_before > 0) {
    append_gap(batch);
    addresses_.forget(batch.stream);  // its event was among the lost
    if (texts_) texts_->forget(batch.stream);
    access_sets_.forget(batch.stream);
    access_log_.forget(batch.stream);
  }
  append_calls(batch);
}

// The gap lies before the batch's first event, whose time is an upper bound for it.
void EventLog::append_gap(deferred::Batch& batch) {
  events_dropped_.fetch_add(batch.dropped_before, std::memory_order_relaxed);
  int64_t time_ns = base::monotonic_ns();
  if (batch.count > 0) time_ns = static_cast<const int64_t*>(batch.column[kTimeColumn])[batch.cursor[kTimeColumn]];
  if (encoder_.full()) write_events();
  encoder_.begin_run(ThreadId(batch.stream));
  encoder_.append(EventKind::gap, time_ns, &batch.dropped_before);
}

void EventLog::append_calls(deferred::Batch& batch) {
  const auto* times_ns = static_cast<const int64_t*>(batch.column[kTimeColumn]);
  const auto* operands = static_cast<const uint32_t*>(batch.column[kOperandColumn]);
  uint32_t& time_at = batch.cursor[kTimeColumn];
  uint32_t& operand_at = batch.cursor[kOperandColumn];
  bool run_begun = false;
  AddressTable::Pairs* pairs = nullptr;
  for (uint32_t i = 0; i < batch.count; ++i) {
    const uint16_t id = batch.ids[i];
    if (is_recall(id) || is_remember(id)) {
      if (!pairs) pairs = &addresses_.pairs_of(batch.stream);
      begin_event(batch, run_begun);
      if (is_remember(id)) {
        append_remembered(batch, id, *pairs);
      } else {
        i += append_recalled(batch, i, *pairs) - 1;
      }
      continue;
    }
    if (id == CONTRAFACT_CALL_SWITCH_THREAD) {
      batch.memo = operands[operand_at++];
      run_begun = false;
      continue;
    }
    if (id >= kAddressedCall) {
      if (!append_addressed(batch, id, run_begun)) return;
      continue;
    }
    if (id >= format::kEventKinds) {  // a fault of the agent's: the columns cannot be followed any further
      calls_unknown_ += batch.count - i;
      return;
    }
    begin_event(batch, run_begun);
    const auto kind = static_cast<EventKind>(id);
    last_event_ns_ = std::max(last_event_ns_, times_ns[time_at]);
    encoder_.append(kind, times_ns[time_at++], operands + operand_at);
    operand_at += static_cast<uint32_t>(format::schema_of(kind).operand_count());
  }
}

// Makes room for an event, in a run of the batch's thread.
void EventLog::begin_event(const deferred::Batch& batch, bool& run_begun) {
  if (encoder_.full()) {
    write_events();
    run_begun = false;
  }
  if (!run_begun) {
    encoder_.begin_run(ThreadId(batch.memo));
    run_begun = true;
  }
}

// Appends the recall_calls from `first` on for which there is room: most calls of a program with short critical
// sections. Returns how many, at least one. REQUIRES: begin_event(), and `first` is one.
uint32_t EventLog::append_recalled(deferred::Batch& batch, uint32_t first, const AddressTable::Pairs& pairs) {
  const uint32_t most = std::min(batch.count - first, encoder_.room());
  const uint16_t* const ids = batch.ids + first;
  uint32_t& time_at = batch.cursor[kTimeColumn];
  const int64_t* const times_ns = static_cast<const int64_t*>(batch.column[kTimeColumn]) + time_at;
  uint32_t count = 0;
  for (; count < most; ++count) {
    const uint16_t id = ids[count];
    if (!is_recall(id)) break;
    const AddressTable::Pair& pair = pairs[id % kPairs];
    encoder_.append_pair(kind_of_pair_call(id), times_ns[count], pair[0], pair[1]);
  }
  if (count == 0) return 1;  // the program wrote into its calls: what was one is none
  time_at += count;
  last_event_ns_ = std::max(last_event_ns_, encoder_.last_time_ns());
  return count;
}

void EventLog::append_remembered(deferred::Batch& batch, uint16_t id, AddressTable::Pairs& pairs) {
  AddressTable::Pair& pair = pairs[id % kPairs];
  pair = addresses_.resolve_pair(static_cast<const uint32_t*>(batch.column[kOperandColumn]) +
                                 batch.cursor[kOperandColumn]);
  batch.cursor[kOperandColumn] += kPairWords;
  const int64_t time_ns = batch.next<int64_t>(kTimeColumn);
  last_event_ns_ = std::max(last_event_ns_, time_ns);
  encoder_.append_pair(kind_of_pair_call(id), time_ns, pair[0], pair[1]);
}

// A call whose operands are addresses (addressed_calls.h). False if it is none: nothing behind it can be read then.
bool EventLog::append_addressed(deferred::Batch& batch, uint16_t id, bool& run_begun) {
  const auto* words = static_cast<const uint32_t*>(batch.column[kOperandColumn]) + batch.cursor[kOperandColumn];
  if (id == kFramesCall) {
    addresses_.add_frames(batch.stream, words);
    batch.cursor[kOperandColumn] += kFramesWords;
    return true;
  }
  if (id == kAccessRangeCall) {
    access_sets_.add_range(batch.stream, words);
    batch.cursor[kOperandColumn] += kAccessRangeWords;
    return true;
  }
  if (id == kAccessLogCall) {
    access_log_.add(batch.stream, words);
    batch.cursor[kOperandColumn] += kAccessLogWords;
    if (access_log_.is_heavy()) write_rows();
    return true;
  }
  if (id == kTextCall) {
    if (texts_) texts_->add(batch.stream, words);
    batch.cursor[kOperandColumn] += kTextWords;
    return true;
  }
  if (id == kBodyCall) {
    addresses_.add_body(batch.stream, words);
    batch.cursor[kOperandColumn] += kBodyWords;
    return true;
  }
  const uint16_t kind_id = id - kAddressedCall;
  if (kind_id >= format::kEventKinds) {
    ++calls_unknown_;
    return false;
  }
  begin_event(batch, run_begun);
  const auto kind = static_cast<EventKind>(kind_id);
  const auto* times_ns = static_cast<const int64_t*>(batch.column[kTimeColumn]);
  uint32_t operands[format::kOperandsMax];
  if (kind == EventKind::accesses) {
    operands[0] = access_sets_.finish(batch.stream, words);
    batch.cursor[kOperandColumn] += kAccessesWords;
    if (access_sets_.is_heavy()) write_rows();
  } else {
    batch.cursor[kOperandColumn] += addresses_.resolve(kind, batch.stream, words, operands);
    const bool ends_wait = kind == EventKind::lock_acquired || kind == EventKind::lock_acquired_shared;
    if (ends_wait && operands[1] != static_cast<uint32_t>(format::Outcome::normal)) ++waits_given_up_;
  }
  const int64_t time_ns = times_ns[batch.cursor[kTimeColumn]++];
  last_event_ns_ = std::max(last_event_ns_, time_ns);
  encoder_.append(kind, time_ns, operands);
  return true;
}

void EventLog::each_pass(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  each_pass_ = std::move(work);
}

void EventLog::end_pass() {
  drainer_tid_ = static_cast<uint32_t>(gettid());
  std::function<void()> work;
  {
    std::lock_guard lock(mutex_);
    work = each_pass_;
  }
  if (work) work();
  append_cpu_switches(false);
  append_idle_cores(false);
  note_awake_end();
  if (!encoder_.empty() && gathering_since_ns_ == 0) gathering_since_ns_ = base::monotonic_ns();
  if (worth_writing()) write_events();
  if (!access_log_.is_empty()) write_rows();
  measure_refills();
}

void EventLog::measure_refills() {
  if (!has_connections_ || refill_meter_.done() || in_a_hurry_.load(std::memory_order_relaxed) > 0) return;
  refill_meter_.step();
  if (refill_meter_.done()) tables_.fact("core.refill_ns", refill_meter_.text());
}

// Each block costs about 60 bytes beside its events, so a few events are kept back for a while: with the interval
// between passes an event is still in the file after little more than 60 ms.
bool EventLog::worth_writing() const {
  constexpr uint32_t kEvents = 2'000;
  constexpr int64_t kGatherNs = 35'000'000;
  if (bytes_written_.load(std::memory_order_relaxed) == 0) return true;  // the facts come early
  if (in_a_hurry_.load(std::memory_order_relaxed) > 0 || encoder_.event_count() >= kEvents) return true;
  return gathering_since_ns_ != 0 && base::monotonic_ns() - gathering_since_ns_ >= kGatherNs;
}

void EventLog::append_cpu_switches(bool last) {
  if (!cpu_switches_) return;
  switches_.clear();
  cpu_switches_->read(switches_, last);
  append_switches(switches_);
}

void EventLog::learn_names() {
  std::lock_guard lock(mutex_);
  for (const auto& [os_tid, thread] : named_) {
    thread_of_tid_[os_tid] = thread;
    on_core_since_ns_.erase(os_tid);
  }
  named_.clear();
}

bool EventLog::knows_thread(uint32_t os_tid) {
  learn_names();
  return thread_of_tid_.contains(os_tid);
}

void EventLog::append_switches(std::vector<CpuSwitch>& switches) {
  learn_names();
  // Thread by thread: runs are what costs bytes.
  std::ranges::stable_sort(switches, {}, &CpuSwitch::os_tid);
  for (const CpuSwitch& each : switches) {
    const auto found = thread_of_tid_.find(each.os_tid);
    if (found == thread_of_tid_.end()) {
      note_unattached(each);
      continue;
    }
    if (encoder_.full()) write_events();
    encoder_.begin_run(found->second, RunSource::kernel);
    const auto outcome = static_cast<uint32_t>(each.preempted ? format::Outcome::preempted : format::Outcome::blocked);
    encoder_.append(each.in ? EventKind::cpu_in : EventKind::cpu_out, each.time_ns, &outcome);
  }
  append_unattached();
}

// A thread's first switches may be read before somebody attaches the thread, and then come here: some microseconds.
void EventLog::note_unattached(const CpuSwitch& each) {
  if (!unattached_.load(std::memory_order_relaxed).valid() || each.os_tid == drainer_tid_) return;
  if (each.in) {
    on_core_since_ns_[each.os_tid] = each.time_ns;
    return;
  }
  const auto since = on_core_since_ns_.find(each.os_tid);
  if (since == on_core_since_ns_.end()) return;  // it was on its core before anybody looked
  const int64_t ran_us = (each.time_ns - since->second) / 1'000;
  on_core_since_ns_.erase(since);
  if (ran_us > 0) ran_.push_back({each.time_ns, static_cast<uint32_t>(std::min<int64_t>(ran_us, UINT32_MAX))});
}

// In order of time, as a run's events are. A record of another CPU may come a pass later than it should: it counts as
// of then.
void EventLog::append_unattached() {
  std::ranges::sort(ran_, {}, &Ran::end_ns);
  for (const Ran& ran : ran_) {
    if (encoder_.full()) write_events();
    encoder_.begin_run(unattached_.load(std::memory_order_relaxed), RunSource::kernel);
    ran_until_ns_ = std::max(ran_until_ns_, ran.end_ns);
    encoder_.append(EventKind::vm_ran, ran_until_ns_, &ran.us);
  }
  ran_.clear();
}

// For the threads that are still on their cores. A thread that ended has left its core without a record.
void EventLog::end_unattached() {
  const int64_t now_ns = base::monotonic_ns();
  const auto open = std::exchange(on_core_since_ns_, {});
  for (const auto& [os_tid, since_ns] : open) {
    const std::string task = "/proc/self/task/" + std::to_string(os_tid);
    if (access(task.c_str(), F_OK) != 0) continue;
    on_core_since_ns_[os_tid] = since_ns;
    note_unattached({now_ns, 0, os_tid, false, false});
  }
  append_unattached();
}

// On the first thread: it is there with the first event.
void EventLog::append_idle_cores(bool last) {
  if (!idle_cores_ || last_event_ns_ == 0) return;
  const int64_t now_ns = base::monotonic_ns();
  const std::optional<uint32_t> idle_us = idle_cores_->look(now_ns, last);
  if (!idle_us) return;
  if (encoder_.full()) write_events();
  encoder_.begin_run(ThreadId(0), RunSource::kernel);
  encoder_.append(EventKind::cores_idle, now_ns, &*idle_us);
}

void EventLog::note_awake_end() {
  if (!awake_ || awake_->until_ns() == 0) return;
  tables_.fact(format::kAwakeUntilFact, std::to_string(awake_->until_ns()));
  awake_.reset();
}

void EventLog::look_at_cores(int32_t pid) {
  if (!idle_cores_) return;
  idle_cores_->widen(pid);
  // The fact in the file's head was read at another moment, when the program may have bound its first thread.
  if (const int cores = idle_cores_->count(); cores > cores_in_facts_) {
    tables_.fact("cores", std::to_string(cores));
    tables_.fact("cores.numbers", core_numbers(idle_cores_->cores()));
    cores_in_facts_ = cores;
  }
}

void EventLog::name_thread(uint32_t os_tid, ThreadId thread) {
  if (os_tid == 0 || (!cpu_switches_ && !texts_)) return;
  std::lock_guard lock(mutex_);
  named_.emplace_back(os_tid, thread);
}

void EventLog::write_rows() {
  tables_.take_new(rows_);
  check(writer_->add_strings(rows_.strings));
  check(writer_->add_methods(rows_.methods));
  check(writer_->add_method_addresses(rows_.method_addresses));
  check(writer_->add_contexts(rows_.contexts));
  check(writer_->add_pools(rows_.pools));
  check(writer_->add_threads(rows_.threads));
  check(writer_->add_locks(rows_.locks));
  has_connections_ = has_connections_ || !rows_.connections.empty();
  check(writer_->add_connections(rows_.connections));
  check(writer_->add_endpoints(rows_.endpoints));
  check(writer_->add_access_sets(access_sets_.take_new()));
  check(writer_->add_access_chunks(access_log_.take_new()));
  for (const auto& [key, value] : rows_.facts) check(writer_->add_fact(key, value));
}

void EventLog::write_events() {
  gathering_since_ns_ = 0;
  write_rows();
  const uint32_t count = encoder_.event_count();
  const base::Status written = writer_->add_events(encoder_);
  check(written);
  (written.ok() ? events_written_ : events_dropped_).fetch_add(count, std::memory_order_relaxed);
  bytes_written_.store(writer_->bytes_written(), std::memory_order_relaxed);
}

void EventLog::check(const base::Status& written) {
  if (!written.ok()) fail(written.error().message);
}

// Only the first trouble is reported; after it events are only counted.
void EventLog::fail(std::string_view why) {
  if (failed_.exchange(true, std::memory_order_relaxed)) return;
  failure_ = "recording stopped, the program went on: ";
  failure_ += why;
  if (diagnostics_) diagnostics_(failure_);
}

void EventLog::failed(const char* what) {
  fail(what);
}

void EventLog::end() {
  append_cpu_switches(true);
  end_unattached();
  append_idle_cores(true);
  note_awake_end();
  if (cpu_switches_ && cpu_switches_->lost() > 0) {
    tables_.fact("cpu.switches.lost", std::to_string(cpu_switches_->lost()));
  }
  if (access_sets_.sets_lost() > 0) tables_.fact("access_sets.lost", std::to_string(access_sets_.sets_lost()));
  if (waits_given_up_ > 0) tables_.fact("locks.waits_given_up", std::to_string(waits_given_up_));
  if (calls_unknown_ > 0) tables_.fact("recorder.calls.unknown", std::to_string(calls_unknown_));
  write_events();
  write_trailer();
  while (!writer_->has_ended() && take_back()) write_trailer();
  bytes_written_.store(writer_->bytes_written(), std::memory_order_relaxed);
  idle_cores_.reset();  // by the thread that has its descriptor
}

void EventLog::write_trailer() {
  check(writer_->finish({.exit_reason = has_failed() ? failure_ : exit_reason_,
                         .events_dropped = events_dropped(),
                         .end_ns = end_ns_ != 0 ? std::max(end_ns_, last_event_ns_) : base::monotonic_ns()}));
}

bool EventLog::take_back() {
  const std::optional<uint32_t> events = writer_->take_back();
  if (!events) return false;
  events_written_.fetch_sub(*events, std::memory_order_relaxed);
  events_dropped_.fetch_add(*events, std::memory_order_relaxed);
  return true;
}

}  // namespace contrafact::recorder
