// How the events of an analysis are processed; the options --processor, --coalescing, --consumers, --capacity,
// --queue and --memory of `contrafact profile`. docs/deferred.md helps to choose. Plain data.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "deferred/defaults.h"

namespace contrafact::online {

struct ProcessingOptions {
  std::string processor = "adaptive";              // sync, pool, adaptive; direct: no buffers, at every event
  uint32_t consumers = 0;                          // threads of pool and adaptive; 0: one for each core
  uint32_t capacity = deferred::kCapacityDefault;  // events of a buffer
  uint32_t queue = deferred::kQueueDefault;        // buffers that wait for a consumer
  bool coalescing = true;                          // off: every event is counted in what the threads share
  uint64_t memory_bytes_max = deferred::kMemoryBytesDefault;
};

// Whether these can be used. Errors are one line for the user, in the words of the command's options.
base::Status check(const ProcessingOptions& options);

}  // namespace contrafact::online
