// SchedulingGroups: whether the processes that this one has started share cores with it thread by thread. Linux shares cores by groups
// first: a process in a control group of its own, or in a session of its own where the kernel groups by sessions, shares each core half and
// half with all of our threads together, however low their priority is.
//
// Thread safety: all.
#pragma once

#include <string>
#include <utility>

namespace contrafact::recorder {

class SchedulingGroups {
 public:
  // `proc`: where the kernel's folder of processes is.
  explicit SchedulingGroups(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // Of all that this process has started, and of what that has started, as far as their parents live. A process that has ended, or ends
  // meanwhile, shares. Some 10 us for each of their threads.
  bool descendants_share_ours() const;

 private:
  const std::string proc_;
};

}  // namespace contrafact::recorder
