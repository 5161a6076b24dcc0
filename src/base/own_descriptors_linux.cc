#include "base/own_descriptors.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace contrafact::base {
namespace {

constexpr unsigned kLast = ~0U;

bool close_all(unsigned first, unsigned last, unsigned flags = 0) {
  return syscall(SYS_close_range, first, last, flags) == 0;
}

}  // namespace

bool keep_only(std::span<const int> descriptors) {
  std::vector<unsigned> kept(descriptors.begin(), descriptors.end());
  std::ranges::sort(kept);
  if (kept.empty() || !close_all(kept.back() + 1, kLast, CLOSE_RANGE_UNSHARE)) return false;
  unsigned next = 0;
  for (const unsigned descriptor : kept) {
    if (descriptor > next) close_all(next, descriptor - 1);
    next = descriptor + 1;
  }
  return true;
}

int borrow_from_process(int number) {
  const long process = syscall(SYS_pidfd_open, getpid(), 0);
  if (process < 0) return -1;
  const long borrowed = syscall(SYS_pidfd_getfd, process, number, 0);
  close(static_cast<int>(process));
  return static_cast<int>(borrowed);
}

}  // namespace contrafact::base
