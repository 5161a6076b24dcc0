// Code that goes away or changes: its translation must not be used any more. The translator hears of it before the
// change, because other code may run there before the call that made room for it is back. The kernel is called
// directly: an allocator may map memory before anything can be looked up.
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
  const long call[] = {number, reinterpret_cast<long>(begin), static_cast<long>(bytes), c, d, e, f};
  const uint32_t expected = expect_sets_change(call);
  const long result = contrafact::translate::raw_system_call(number, call[1], call[2], c, d, e, f);
  // Memory where there was none changes no code; an allocator maps much of it.
  if (number != SYS_mmap || (d & MAP_FIXED) != 0 || (c & PROT_EXEC) != 0) invalidate_sets_by(call, result, expected);
  constexpr long kErrorMax = 4095;
  if (result >= 0 || result < -kErrorMax) return result;
  errno = static_cast<int>(-result);
  return -1;
}

void* map(void* begin, size_t bytes, int protection, int flags, int fd, off_t at) {
  return reinterpret_cast<void*>(system_call(SYS_mmap, begin, bytes, protection, flags, fd, at));
}

}  // namespace

CONTRAFACT_INTERPOSE(int, munmap, (void* begin, size_t bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_munmap, static_cast<int>(system_call(SYS_munmap, begin, bytes)), begin, bytes);
}

CONTRAFACT_INTERPOSE(int, mprotect, (void* begin, size_t bytes, int protection)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_mprotect, static_cast<int>(system_call(SYS_mprotect, begin, bytes, protection)), begin,
                        bytes);
}

CONTRAFACT_INTERPOSE(int, pkey_mprotect, (void* begin, size_t bytes, int protection, int key)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_mprotect, static_cast<int>(system_call(SYS_pkey_mprotect, begin, bytes, protection, key)),
                        begin, bytes);
}

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
  return reinterpret_cast<void*>(
      system_call(SYS_mremap, begin, bytes, static_cast<long>(next_bytes), flags, reinterpret_cast<long>(next)));
}

CONTRAFACT_INTERPOSE(int, dlclose, (void* library)) {
  CONTRAFACT_CALLED;
  called_.unobserved();
  begin_unload_sets();
  const int result = real().dlclose(library);
  end_unload_sets();
  if (Client* client = recording()) {
    if (const Appending appending{client}) list_libraries(client);
  }
  return result;
}
