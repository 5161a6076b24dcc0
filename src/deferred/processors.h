// The library's processors (Deferred Methods, section 4). docs/deferred.md helps to choose one and its numbers.
//
//                  runs a buffer                 order of one producer's buffers    a producer waits
//   synchronous()  its producer                  as they were filled                while its buffer is run
//   pool()         a consumer, or a waiter       as they are begun, with one        while the queue is full
//                                                consumer and nobody waiting;
//                                                none with more
//   adaptive()     a consumer; its producer      none                               only while it runs its own buffer
//                  where the queue is full
//
// All: the calls in one buffer are made one after another, in the order in which they were deferred, each exactly once.
// At the memory bound a producer runs its own full buffer (engine.h), which upsets the order of all but synchronous().
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "deferred/processor.h"

namespace contrafact::deferred {

std::unique_ptr<Processor> synchronous();

struct PoolOptions {
  uint32_t consumers = 1;  // threads
  uint32_t queue = 1;      // buffers that may wait
};
base::Result<std::unique_ptr<Processor>> pool(const PoolOptions& options);

struct AdaptiveOptions {
  uint32_t consumers = 0;  // threads, of the lowest priority that the system has; 0: one for each core
  uint32_t queue = 1;
};
base::Result<std::unique_ptr<Processor>> adaptive(const AdaptiveOptions& options);

}  // namespace contrafact::deferred
