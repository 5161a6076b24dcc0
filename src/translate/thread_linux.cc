#include <sys/mman.h>

#include "translate/log.h"
#include "translate/thread.h"

namespace contrafact::translate {

thread_local constinit ThreadState t_thread __attribute__((tls_model("initial-exec"))) = {};

// One mapping: the log, aligned to its size; a page that may not be touched; the private stack; the Thread.
Thread* map_thread() {
  constexpr size_t kPageBytes = 4096;
  const size_t thread_bytes = (sizeof(Thread) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const size_t bytes = 2 * kLogBytes + kPageBytes + kPrivateStackBytes + thread_bytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto mapping = reinterpret_cast<uint64_t>(memory);
  const uint64_t log = (mapping + kLogBytes - 1) / kLogBytes * kLogBytes;
  const uint64_t guard = log + kLogBytes;
  mprotect(reinterpret_cast<void*>(guard), kPageBytes, PROT_NONE);
  auto* thread = reinterpret_cast<Thread*>(guard + kPageBytes + kPrivateStackBytes);
  thread->log_top = log + kLogBytes - kEntryBytes;  // the second byte of the top's address would be zero
  thread->mapping = mapping;
  thread->mapping_bytes = bytes;
  return thread;
}

void unmap_thread(Thread* thread) {
  munmap(reinterpret_cast<void*>(thread->mapping), thread->mapping_bytes);
}

}  // namespace contrafact::translate
