// What a test computes: other programs' load is not in it.
#pragma once

#include <time.h>

namespace contrafact::model {

template <typename Work>
double cpu_seconds_of(Work work) {
  const auto now_s = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  };
  const double begin_s = now_s();
  work();
  return now_s() - begin_s;
}

}  // namespace contrafact::model
