// IdleCores: how long the cores that a process may use were idle, from the kernel's count (/proc/stat).
//
// Thread safety: one thread at a time.
#pragma once

#include <sched.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "recorder/awake_report.h"

namespace contrafact::recorder {

// Whose process this is. In `record` a descriptor is open only while it is read, for there may be many programs. In a
// recorded program one stays open at a high number. A low number, even for a moment, might be one that the program then
// gets, or closes; and later the program may have none left.
enum class Host : uint8_t { record, recorded_program };

class IdleCores {
 public:
  // Watches the cores that `pid` may use now (0: the calling thread). Counts from this call on. Where the kernel does
  // not say, look() finds nothing.
  // Cores that AwakeCores keeps awake count as idle, as far as `awake` says for how long that was; null: none are.
  IdleCores(int32_t pid, Host host, std::shared_ptr<const AwakeReport> awake = nullptr);
  ~IdleCores();
  IdleCores(const IdleCores&) = delete;
  IdleCores& operator=(const IdleCores&) = delete;

  // The idle time of all these cores together since the last time that it was found, in us; the kernel counts in
  // hundredths of a second. At most every kEachNs, unless `last`: the file takes the kernel some 100 us, more where
  // there are many cores.
  static constexpr int64_t kEachNs = 100'000'000;
  std::optional<uint32_t> look(int64_t now_ns, bool last);

  // From now on also those that `pid` may use now. Where there are such, counts from this call on, and returns how many
  // it watches in all. (A program may bind its first thread for a moment when it is looked at: LLVM's OpenMP runtime
  // does, to learn which cores there are.)
  std::optional<int> widen(int32_t pid);
  int count() const { return CPU_COUNT(&usable_); }
  const cpu_set_t& cores() const { return usable_; }

  // The descriptor that stays open; -1 if none does.
  int descriptor() const { return kept_open_; }
  // The descriptor is not to be closed: it is not this thread's.
  void leave_open() { kept_open_ = -1; }

 private:
  std::optional<uint64_t> idle_ticks();
  int64_t awake_us() const { return awake_ ? awake_->computed_ns(usable_) / 1'000 : 0; }
  void count_from(int64_t now_ns);

  const std::shared_ptr<const AwakeReport> awake_;
  cpu_set_t usable_;
  int kept_open_ = -1;
  std::string text_;
  uint64_t ticks_ = 0;
  int64_t awake_us_ = 0;
  int64_t looked_ns_ = 0;
};

// "0-3,8": the numbers of these cores.
std::string core_numbers(const cpu_set_t& cores);

// The sum of the columns `idle` and `iowait` of these cores' lines, in ticks; none if there is no such line.
std::optional<uint64_t> idle_ticks_in(std::string_view proc_stat, const cpu_set_t& cores);

}  // namespace contrafact::recorder
