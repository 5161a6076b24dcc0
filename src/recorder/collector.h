// Collector: writes the traces of the processes of one recording (`contrafact record`), out of memory that it shares
// with them. The other side is SharedLog.
//
// It has two threads. The worker checks every few milliseconds whether enough is waiting, and takes and writes it. On a
// busy machine this takes time from the program, so the worker waits for an idle core while nothing is urgent. The idle
// finder reports one: the kernel runs that thread only where nobody else wants to run (SCHED_IDLE). After kUntakenNsMax
// the worker takes what there is, so that little is lost if it is killed itself.
//
// Thread safety: start() and finish() on one thread, which also starts the program in between.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {

class Collector {
 public:
  struct Options {
    std::string output_path;                         // of the program; of another process: with ".PID" behind it
    std::string command;                             // of the program
    bool command_arguments = true;                   // in the fact `command`; else the program's name alone
    uint64_t memory_bytes_max = uint64_t{64} << 20;  // of each process' buffers
    bool children = false;                           // processes that the program starts are recorded, too
    bool cpu_switches = true;                        // ask the kernel for context switches
    bool kernel_clock = false;                       // times from the kernel even where the processor's could be read
    std::vector<Fact> facts;
    std::shared_ptr<const AwakeReport> awake;                // what keeps idle cores awake meanwhile; null: nothing
    std::function<void(std::string_view line)> diagnostics;  // trouble, from the worker's thread
  };
  // Begins the trace of the program. From now on, watches the context switches of whatever the calling thread starts.
  static base::Result<std::unique_ptr<Collector>> start(Options options);
  virtual ~Collector() = default;

  // What a process needs to know to be recorded (SharedLog::open).
  virtual std::string control_path() const = 0;

  struct Recording {
    std::string path;
    int32_t pid = 0;
    bool is_alive = false;  // the process went on: its recording ends before it
  };
  struct Finished {
    bool began = false;              // the program was recorded, at Options::output_path
    std::vector<Recording> further;  // other processes
    uint32_t refused = 0;            // processes for which nothing was prepared
    uint32_t images_replaced = 0;   // recorded programs that became another one by exec: their recordings are discarded
    uint64_t events_discarded = 0;  // of theirs
    int64_t discarded_ns = 0;       // how long those programs ran
    uint32_t forked_and_alive = 0;  // without Options::children: forked processes that go on as the same program
  };
  // The program has ended; `reason` goes into the trailer, and `pid` is 0 where it could not be started. Processes that
  // it left running are recorded until now.
  virtual Finished finish(int32_t pid, std::string_view reason) = 0;
};

}  // namespace contrafact::recorder
