#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/perf_probe.h"

namespace contrafact::cli {

PerfProbe probe_perf_events() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.context_switch = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return {false, std::strerror(errno)};
  ::close(static_cast<int>(fd));
  return {true, ""};
}

}  // namespace contrafact::cli
