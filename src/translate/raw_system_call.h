// A system call without the C library: no errno, no cancellation, no interposer.
#pragma once

namespace contrafact::translate {

inline long raw_system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  __asm__ volatile(
      "movq %[d], %%r10\n\t"
      "movq %[e], %%r8\n\t"
      "movq %[f], %%r9\n\t"
      "syscall"
      : "=a"(result)
      : "a"(number), "D"(a), "S"(b), "d"(c), [d] "g"(d), [e] "g"(e), [f] "g"(f)
      : "rcx", "r8", "r9", "r10", "r11", "memory");
  return result;
}

}  // namespace contrafact::translate
