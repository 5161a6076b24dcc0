#include "recorder/real_time.h"

#include <dirent.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace contrafact::recorder {

int real_time_priority_of(int32_t pid) {
  DIR* const threads = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (!threads) return 0;
  int highest = 0;
  while (const dirent* entry = readdir(threads)) {
    sched_param of_thread{};  // 0 without a real-time policy
    const auto thread = static_cast<pid_t>(std::atoi(entry->d_name));
    if (thread > 0 && sched_getparam(thread, &of_thread) == 0) highest = std::max(highest, of_thread.sched_priority);
  }
  closedir(threads);
  return highest;
}

}  // namespace contrafact::recorder
