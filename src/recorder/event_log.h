// EventLog: turns batches of deferred calls into blocks of events and writes them, the rows that they name first.
//
// Thread safety: take() and its like run on one thread, the drainer's: a thread of the recorded process (recorder.h),
// or the one in `record` that drains that process' area (process_log.h). end() comes last; name_thread() and the
// statistics on any thread. Rows always come first: a row is added before an event that names it is committed, and a
// pass takes its events, then writes the rows, then the events.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deferred/batch.h"
#include "format/writer.h"
#include "recorder/access_log.h"
#include "recorder/access_set_table.h"
#include "recorder/address_table.h"
#include "recorder/addressed_calls.h"
#include "recorder/awake_report.h"
#include "recorder/cpu_switches.h"
#include "recorder/idle_cores.h"
#include "recorder/refill_meter.h"
#include "recorder/tables.h"
#include "recorder/texts.h"

namespace contrafact::recorder {

// Columns of the traces' environment (include/contrafact/deferred_buffer.h).
inline constexpr size_t kTimeColumn = 0;
inline constexpr size_t kOperandColumn = 1;

class EventLog : public deferred::Consumer {
 public:
  EventLog(std::unique_ptr<format::Writer> writer, Tables& tables, AddressTable& addresses, uint32_t access_sets_max,
           std::unique_ptr<CpuSwitches> cpu_switches, std::unique_ptr<IdleCores> idle_cores,
           std::function<void(std::string_view)> diagnostics);
  ~EventLog() override;

  // The drainer's thread gets descriptors of its own: those that are open here, and no others (base/own_descriptors.h).
  void begin() override;
  void take(deferred::Batch& batch) override;
  void end_pass() override;
  // Writes what is left and the trailer. A full disk may have no room for that: then it takes the place of the last
  // blocks, as few as possible, and their events count as dropped.
  void end() override;
  void failed(const char* what) override;

  // From here on the kernel's switches of `os_tid` are those of `thread`.
  void name_thread(uint32_t os_tid, format::ThreadId thread);
  // Switches of one process' threads, in the order of time for each thread; those of unknown threads are left out.
  // For whoever has no CpuSwitches of its own to give.
  void append_switches(std::vector<CpuSwitch>& switches);
  bool knows_thread(uint32_t os_tid);
  // Each time that a thread that nobody attached, other than the drainer, leaves its core, `thread` gets an event
  // vm_ran. REQUIRES: its own CpuSwitches. Before the drainer's first pass.
  void unattached_are(format::ThreadId thread) { unattached_ = thread; }
  // Texts go into `texts`; without this call they are passed over.
  void take_texts(TextTable* texts) { texts_ = texts; }
  // The latest time of an event so far.
  int64_t last_event_ns() const { return last_event_ns_; }
  // While somebody is in a hurry, every pass writes what it has, however little. Any thread.
  void hurry(int more_or_less) { in_a_hurry_.fetch_add(more_or_less, std::memory_order_relaxed); }
  // Brings the fact `cores` up to date, and which cores' idle time is looked at, where `pid` may use more by now.
  void look_at_cores(int32_t pid);
  // When cores are no longer kept awake becomes a fact. Before the drainer's first pass.
  void watch_awake(std::shared_ptr<const AwakeReport> awake) { awake_ = std::move(awake); }
  // Called at the end of each pass, on the drainer's thread, before anything is written. Any thread, once.
  void each_pass(std::function<void()> work);
  // Closes the descriptors that have become the drainer's own. On the thread that opened it, once the drainer has
  // started.
  void leave_to_drainer();
  // Goes into the trailer. REQUIRES: the drainer has not been told to stop.
  void set_exit_reason(std::string_view reason) { exit_reason_ = reason; }
  // When the recorded process ended, if that is not when end() is called.
  void set_end(int64_t end_ns) { end_ns_ = end_ns; }

  uint64_t events_written() const { return events_written_.load(std::memory_order_relaxed); }
  uint64_t events_dropped() const { return events_dropped_.load(std::memory_order_relaxed); }
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  bool worth_writing() const;
  void append_gap(deferred::Batch& batch);
  void append_calls(deferred::Batch& batch);
  bool append_addressed(deferred::Batch& batch, uint16_t id, bool& run_begun);
  uint32_t append_recalled(deferred::Batch& batch, uint32_t first, const AddressTable::Pairs& pairs);
  void append_remembered(deferred::Batch& batch, uint16_t id, AddressTable::Pairs& pairs);
  void begin_event(const deferred::Batch& batch, bool& run_begun);
  void append_cpu_switches(bool last);
  void learn_names();
  void note_unattached(const CpuSwitch& each);
  void append_unattached();
  void end_unattached();
  void append_idle_cores(bool last);
  void note_awake_end();
  void measure_refills();
  void write_rows();
  void write_events();
  void write_trailer();
  bool take_back();
  void check(const base::Status& written);
  void fail(std::string_view why);

  std::unique_ptr<format::Writer> writer_;
  Tables& tables_;
  AddressTable& addresses_;
  AccessSetTable access_sets_;
  AccessLogTable access_log_;
  std::unique_ptr<CpuSwitches> cpu_switches_;
  std::unique_ptr<IdleCores> idle_cores_;     // null: not looked at
  std::shared_ptr<const AwakeReport> awake_;  // null: not kept awake, or it is noted until when
  RefillMeter refill_meter_;                  // for programs with connections: their load may be asked about
  bool has_connections_ = false;
  int cores_in_facts_ = 0;            // by look_at_cores
  std::vector<int> own_descriptors_;  // of the drainer's thread alone
  std::function<void(std::string_view)> diagnostics_;
  format::EventEncoder encoder_;
  int64_t gathering_since_ns_ = 0;  // when the first event of the encoder was taken; 0 if it is empty
  NewRows rows_;
  std::vector<CpuSwitch> switches_;
  TextTable* texts_ = nullptr;
  int64_t last_event_ns_ = 0;
  int64_t end_ns_ = 0;
  std::unordered_map<uint32_t, format::ThreadId> thread_of_tid_;
  std::atomic<format::ThreadId> unattached_{format::ThreadId::none()};
  std::unordered_map<uint32_t, int64_t> on_core_since_ns_;  // by os_tid, of unattached threads
  struct Ran {
    int64_t end_ns;
    uint32_t us;
  };
  std::vector<Ran> ran_;
  int64_t ran_until_ns_ = INT64_MIN;
  uint32_t drainer_tid_ = 0;

  std::function<void()> each_pass_;
  std::mutex mutex_;  // of named_ and each_pass_
  std::vector<std::pair<uint32_t, format::ThreadId>> named_;

  std::atomic<uint64_t> events_written_{0};
  std::atomic<uint64_t> events_dropped_{0};
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<bool> failed_{false};
  std::atomic<int> in_a_hurry_{0};
  std::string failure_;
  std::string exit_reason_ = "exit";
  uint64_t calls_unknown_ = 0;
  uint64_t waits_given_up_ = 0;  // for locks
};

}  // namespace contrafact::recorder
