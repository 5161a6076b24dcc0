// The library's processors (Deferred Methods, section 4). docs/deferred.md helps to choose one and its numbers.
//
//                  runs a buffer              order of one producer's buffers   a producer waits
//   synchronous()  its producer               as they were filled               while its buffer is run
//   pool()         a consumer, or a waiter    none promised                     while the queue is full
//   adaptive()     a consumer; its producer   none promised                     only while it runs its own buffer
//                  where the queue is full,
//                  or where running a
//                  buffer has lately cost
//                  less than handing it over
//
// All: the calls in one buffer are made one after another, in the order in which they were deferred, each exactly once.
// A waiter is a thread in await_processed(), or in the environment's end. At the memory bound a producer runs its own
// full buffer (engine.h).
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "deferred/defaults.h"
#include "deferred/processor.h"

namespace contrafact::deferred {

std::unique_ptr<Processor> synchronous();

struct PoolOptions {
  uint32_t consumers = 1;          // threads
  uint32_t queue = kQueueDefault;  // buffers that may wait
};
base::Result<std::unique_ptr<Processor>> pool(const PoolOptions& options);

struct AdaptiveOptions {
  uint32_t consumers = 0;  // threads, of the lowest priority that the system has; 0: one for each core
  uint32_t queue = kQueueDefault;
};
base::Result<std::unique_ptr<Processor>> adaptive(const AdaptiveOptions& options);

}  // namespace contrafact::deferred
