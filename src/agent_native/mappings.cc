// Code that goes away or changes: translated code of it must not be used any more. The kernel is called directly: an
// allocator may map memory before anything can be looked up.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "agent_native/libraries.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/sets.h"
#include "translate/raw_system_call.h"

using namespace contrafact::agent_native;

namespace {

long system_call(long number, const void* begin, size_t bytes, long c = 0, long d = 0, long e = 0, long f = 0) {
  const long result = contrafact::translate::raw_system_call(number, reinterpret_cast<long>(begin),
                                                             static_cast<long>(bytes), c, d, e, f);
  constexpr long kErrorMax = 4095;
  if (result >= 0 || result < -kErrorMax) return result;
  errno = static_cast<int>(-result);
  return -1;
}

void* map(void* begin, size_t bytes, int protection, int flags, int fd, off_t at) {
  const long result = system_call(SYS_mmap, begin, bytes, protection, flags, fd, at);
  if ((flags & MAP_FIXED) != 0 && result != -1) invalidate_sets(begin, bytes);
  return reinterpret_cast<void*>(result);
}

}  // namespace

CONTRAFACT_INTERPOSE(int, munmap, (void* begin, size_t bytes)) {
  CONTRAFACT_CALLED;
  const long result = system_call(SYS_munmap, begin, bytes);
  if (result == 0) invalidate_sets(begin, bytes);
  return static_cast<int>(result);
}

CONTRAFACT_INTERPOSE(int, mprotect, (void* begin, size_t bytes, int protection)) {
  CONTRAFACT_CALLED;
  const long result = system_call(SYS_mprotect, begin, bytes, protection);
  if (result == 0) invalidate_sets(begin, bytes);
  return static_cast<int>(result);
}

CONTRAFACT_INTERPOSE(int, pkey_mprotect, (void* begin, size_t bytes, int protection, int key)) {
  CONTRAFACT_CALLED;
  const long result = system_call(SYS_pkey_mprotect, begin, bytes, protection, key);
  if (result == 0) invalidate_sets(begin, bytes);
  return static_cast<int>(result);
}

// Only a fixed address may replace what was there.
CONTRAFACT_INTERPOSE(void*, mmap, (void* begin, size_t bytes, int protection, int flags, int fd, off_t at)) {
  CONTRAFACT_CALLED;
  return map(begin, bytes, protection, flags, fd, at);
}
CONTRAFACT_INTERPOSE(void*, mmap64, (void* begin, size_t bytes, int protection, int flags, int fd, off64_t at)) {
  CONTRAFACT_CALLED;
  return map(begin, bytes, protection, flags, fd, at);
}

CONTRAFACT_INTERPOSE(void*, mremap, (void* begin, size_t bytes, size_t next_bytes, int flags, void* next)) {
  CONTRAFACT_CALLED;
  const long result =
      system_call(SYS_mremap, begin, bytes, static_cast<long>(next_bytes), flags, reinterpret_cast<long>(next));
  if (result != -1) {
    invalidate_sets(begin, bytes);
    invalidate_sets(reinterpret_cast<void*>(result), next_bytes);
  }
  return reinterpret_cast<void*>(result);
}

CONTRAFACT_INTERPOSE(int, dlclose, (void* library)) {
  CONTRAFACT_CALLED;
  called_.unobserved();
  const int result = real().dlclose(library);
  refresh_sets();
  if (Client* client = recording()) {
    const Inside inside;
    list_libraries(client);
  }
  return result;
}
