#include "base/high_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace contrafact::base {
namespace {

// A fork takes 10 % longer with a descriptor at 4095 than without, 50 % at 16,384 (2 cores, AMD EPYC family 25).
constexpr rlim_t kNumbersMax = 4096;

}  // namespace

int moved_high(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int error = errno;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptor;
  const auto numbers = static_cast<int>(std::min(limit.rlim_cur, kNumbersMax));
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, numbers - numbers / 4);
  if (high >= 0) close(descriptor);
  errno = error;
  return high >= 0 ? high : descriptor;
}

}  // namespace contrafact::base
