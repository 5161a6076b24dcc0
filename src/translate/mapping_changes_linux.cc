#include "translate/mapping_changes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/raw_system_call.h"

namespace contrafact::translate {
namespace {

constexpr uint64_t kPageBytes = 4096;

// The kernel rounds up to pages.
uint64_t end_of(uint64_t begin, uint64_t bytes) {
  const uint64_t end = begin + bytes;
  return end < begin || end > UINT64_MAX - kPageBytes ? UINT64_MAX : (end + kPageBytes - 1) & ~(kPageBytes - 1);
}

MappingChange gone(long begin, long bytes) {
  const auto first = static_cast<uint64_t>(begin);
  return {first, end_of(first, static_cast<uint64_t>(bytes)), true, PROT_NONE};
}

bool failed(long result) {
  constexpr long kErrorMax = 4095;
  return result < 0 && result >= -kErrorMax;
}

}  // namespace

size_t possible_mapping_changes(const long* call, MappingChange (&changes)[kMappingChangesMax]) {
  size_t count = 0;
  switch (call[0]) {
    case SYS_munmap:
      changes[count++] = gone(call[1], call[2]);
      break;
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      changes[count] = gone(call[1], call[2]);
      changes[count++].is_gone = false;  // PROT_NONE: no file's code has that protection
      break;
    case SYS_mmap:
      if ((call[4] & MAP_FIXED) != 0) changes[count++] = gone(call[1], call[2]);
      break;
    case SYS_mremap:
      changes[count++] = gone(call[1], call[2]);
      if ((call[4] & MREMAP_FIXED) != 0) changes[count++] = gone(call[5], call[3]);
      break;
    default:
      break;
  }
  return count;
}

size_t mapping_changes(const long* call, long result, MappingChange (&changes)[kMappingChangesMax]) {
  const bool has_failed = failed(result);
  const size_t count = possible_mapping_changes(call, changes);
  switch (call[0]) {
    case SYS_munmap:
      return has_failed ? 0 : count;
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      if (!has_failed) changes[0].protection = static_cast<int>(call[3]) & (PROT_READ | PROT_WRITE | PROT_EXEC);
      return count;
    case SYS_mmap:
      if (has_failed) return count;
      changes[0] = gone(result, call[2]);  // known code there has gone unseen
      return 1;
    case SYS_mremap:
      if (has_failed) return count > 1 ? count : 0;
      changes[1] = gone(result, call[3]);
      return 2;
    default:
      return count;
  }
}

bool maps_elsewhere(const long* call) {
  return call[0] == SYS_mmap || call[0] == SYS_mremap;
}

bool maps_file_code(const long* call, long result) {
  if (call[0] != SYS_mmap || failed(result) || call[3] != (PROT_READ | PROT_EXEC)) return false;
  if ((call[4] & MAP_TYPE) != MAP_PRIVATE || (call[4] & MAP_ANONYMOUS) != 0) return false;
  return raw_system_call(SYS_fcntl, call[5], F_GET_SEALS) < 0;  // files in memory have seals
}

}  // namespace contrafact::translate
