// ProcessLog: the trace of one recorded process while it is written: drains the process' area into an EventLog.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "deferred/shared_area.h"
#include "recorder/address_table.h"
#include "recorder/blocked_threads.h"
#include "recorder/event_log.h"
#include "recorder/loaded_libraries.h"
#include "recorder/process_page.h"
#include "recorder/process_sockets.h"
#include "recorder/recorder.h"
#include "recorder/tables.h"
#include "recorder/texts.h"

namespace contrafact::recorder {

class ProcessLog final : public deferred::SharedDrainer::Owner {
 public:
  struct Options {
    std::vector<Fact> facts;                   // beside the process' own
    std::shared_ptr<const AwakeReport> awake;  // as of the recorder
    int compression_level = 1;
    uint32_t access_sets_max = 1 << 19;
    bool cpu_switches = true;  // come with each pass
    std::function<void(std::string_view line)> diagnostics;
  };
  // `area` is claimed: its page says who the process is. The file begins at once.
  static base::Result<std::unique_ptr<ProcessLog>> begin(deferred::SharedArea area, std::unique_ptr<format::Sink> sink,
                                                         Options options);

  // By itself, not by a signal or by going on as another program.
  bool has_exited() const { return page_of(area_.header()).end_ns.load(std::memory_order_acquire) != 0; }
  // Takes what the process has committed and writes it. `switches`: those of this process since the last call.
  void pass(std::span<const CpuSwitch> switches);
  // The same, without writing: brings libraries() up to date.
  void take_committed() { drainer_.pass(false); }
  bool wants_pass() const { return drainer_.wants_pass(); }
  void prefault() { drainer_.prefault(); }
  // The last pass, and the trace's end. What the process appends from here on is lost.
  void finish(std::string_view reason, std::span<const CpuSwitch> switches);
  // The libraries that the process has loaded; and those that it began with, where it does not list them itself.
  std::vector<std::string> libraries() const { return libraries_.loaded(); }
  void inherit_libraries(const std::vector<std::string>& libraries);
  // Becomes a fact of the trace.
  void add_fact(std::string_view key, std::string_view value) { tables_.fact(key, value); }
  bool has_failed() const { return log_->has_failed(); }
  // Calls of the process that were taken so far, written or not.
  uint64_t calls_taken() const { return calls_taken_; }
  int64_t begin_ns() const { return page_of(area_.header()).begin_ns.load(std::memory_order_relaxed); }

 private:
  explicit ProcessLog(deferred::SharedArea area);
  uint32_t begin_stream(const uint64_t (&begin_words)[2]) override;
  void end_stream(uint32_t stream) override;
  void take(deferred::Batch& batch) override {
    calls_taken_ += batch.count;
    add_pools();
    log_->take(batch);
  }
  void end_pass() override {}
  void add_pools();
  void take_text(uint32_t stream, const Text& text);
  void append_switches(std::span<const CpuSwitch> switches);
  void look_at_blocked_threads();
  void write_blocked_threads();
  void write_counts();
  void write_unseen_runtimes();

  deferred::SharedArea area_;
  const int32_t pid_;
  Tables tables_;
  AddressTable addresses_{tables_};
  ProcessSockets sockets_;
  LoadedLibraries libraries_;
  TextTable texts_;
  std::unique_ptr<EventLog> log_;
  deferred::SharedDrainer drainer_;
  std::unordered_map<uint32_t, format::ThreadId> thread_of_tid_;
  uint64_t calls_taken_ = 0;
  uint32_t pools_ = 0;            // that have their rows
  bool has_said_unseen_ = false;  // whose tasks are not seen
  // By thread, system call, futex and code: in how many looks.
  struct BlockedAt {
    format::ThreadId thread;
    uint32_t system_call;
    uint64_t futex, code;
    auto operator<=>(const BlockedAt&) const = default;
  };
  BlockedThreads blocked_threads_;
  std::map<BlockedAt, uint64_t> blocked_;
  std::set<uint64_t> blocked_code_;  // seen or not
  uint64_t blocked_left_out_ = 0;
  std::vector<CpuSwitch> held_;  // of threads that were not known in the last pass: they may just have begun
};

}  // namespace contrafact::recorder
