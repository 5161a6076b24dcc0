// Names of the system calls that threads wait in, on x86-64.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace contrafact::analysis {

// "futex"; "system call 450" of one that is not known to wait.
inline std::string system_call_name(uint32_t number) {
  struct Named {
    uint32_t number;
    std::string_view name;
  };
  static constexpr Named kNames[] = {{0, "read"},
                                     {1, "write"},
                                     {7, "poll"},
                                     {17, "pread64"},
                                     {18, "pwrite64"},
                                     {19, "readv"},
                                     {20, "writev"},
                                     {23, "select"},
                                     {34, "pause"},
                                     {35, "nanosleep"},
                                     {42, "connect"},
                                     {43, "accept"},
                                     {44, "sendto"},
                                     {45, "recvfrom"},
                                     {46, "sendmsg"},
                                     {47, "recvmsg"},
                                     {61, "wait4"},
                                     {73, "flock"},
                                     {74, "fsync"},
                                     {75, "fdatasync"},
                                     {128, "rt_sigtimedwait"},
                                     {130, "rt_sigsuspend"},
                                     {202, "futex"},
                                     {208, "io_getevents"},
                                     {230, "clock_nanosleep"},
                                     {232, "epoll_wait"},
                                     {247, "waitid"},
                                     {270, "pselect6"},
                                     {271, "ppoll"},
                                     {281, "epoll_pwait"},
                                     {288, "accept4"},
                                     {426, "io_uring_enter"},
                                     {441, "epoll_pwait2"},
                                     {449, "futex_waitv"},
                                     {455, "futex_wait"}};
  const auto named = std::ranges::find(kNames, number, &Named::number);
  return named != std::end(kNames) ? std::string(named->name) : "system call " + std::to_string(number);
}

}  // namespace contrafact::analysis
