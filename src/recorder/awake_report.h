// AwakeReport: what AwakeCores reports to those who record a program meanwhile, in `record` or in the program's own process: in memory that
// they share. Until when cores were kept awake, and for how long its threads computed on each: for a program that is time in which a core
// was idle.
//
// Thread safety: all, of any process. Each core's time is added to by one thread.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace contrafact::recorder {

class AwakeReport {
 public:
  static base::Result<std::shared_ptr<AwakeReport>> make();
  // That of another process, by its path(). Null: this process may not see it, as in a container of its own, or as another user.
  static std::shared_ptr<const AwakeReport> open(const std::string& path);
  ~AwakeReport();
  AwakeReport(const AwakeReport&) = delete;
  AwakeReport& operator=(const AwakeReport&) = delete;

  // While the process that made it lives.
  std::string path() const;

  // Since when no core is kept awake; 0: they are.
  int64_t until_ns() const { return page_->until_ns.load(std::memory_order_acquire); }
  void set_until(int64_t time_ns) { page_->until_ns.store(time_ns, std::memory_order_release); }

  // So far, on all these cores together.
  int64_t computed_ns(const cpu_set_t& cores) const;
  void set_computed(int core, int64_t computed_ns) {
    page_->cores[core].computed_ns.store(computed_ns, std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Core {  // a line of the cache for each, as each is written by a thread of its own
    std::atomic<int64_t> computed_ns;
  };
  struct Page {
    std::atomic<int64_t> until_ns;
    Core cores[CPU_SETSIZE];
  };
  AwakeReport(int descriptor, Page* page) : descriptor_(descriptor), page_(page) {}

  const int descriptor_;  // -1: it is another process' report
  Page* const page_;
};

}  // namespace contrafact::recorder
