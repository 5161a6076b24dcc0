// load_bench FILE ROUNDS: loads a trace again and again. One line for each round: events, wall-clock and CPU
// nanoseconds, and by how many bytes the process's peak memory lies above what it used before the first load.
#include <time.h>

#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "model/load.h"

namespace {

int64_t cpu_ns() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// Of this program alone: what getrusage tells begins with the peak of the process that started it. 0 if it cannot be
// read.
int64_t peak_bytes() {
  long long kib = 0;
  if (FILE* status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) && std::sscanf(line, "VmHWM: %lld kB", &kib) != 1) {
    }
    std::fclose(status);
  }
  return kib * 1024;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 0;
  if (argc == 3) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), rounds);
  if (rounds == 0) {
    std::fprintf(stderr, "usage: load_bench FILE ROUNDS\n");
    return 2;
  }
  const int64_t before_bytes = peak_bytes();
  for (int round = 0; round < rounds; ++round) {
    const int64_t begin_ns = contrafact::base::monotonic_ns();
    const int64_t begin_cpu_ns = cpu_ns();
    contrafact::base::Result<contrafact::model::Trace> trace = contrafact::model::load_any(argv[1]);
    if (!trace) {
      std::fprintf(stderr, "load_bench: %s\n", trace.error().message.c_str());
      return 1;
    }
    if (trace->loss.any()) {
      std::fprintf(stderr, "load_bench: %s is not whole\n", argv[1]);
      return 1;
    }
    std::printf("%zu %lld %lld %lld\n", trace->event_count(),
                static_cast<long long>(contrafact::base::monotonic_ns() - begin_ns),
                static_cast<long long>(cpu_ns() - begin_cpu_ns), static_cast<long long>(peak_bytes() - before_bytes));
  }
  return 0;
}
