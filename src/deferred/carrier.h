// Carrier: takes the buffers of producers to the code that makes the calls in them, and gives producers empty ones.
// There are two: the Drainer (drainer.h), one thread that also takes from buffers that are still being filled, in
// order; and the Engine (engine.h), which gives each filled buffer to a Processor.
#pragma once

#include "contrafact/deferred_buffer.h"

namespace contrafact::deferred {

class Client;

class Carrier {
 public:
  virtual ~Carrier() = default;
  // The producer's current buffer is full, or it wants to hand it on. A buffer with room, or null after counting a
  // dropped call. Producer's thread; must not block unless the carrier's documentation says so.
  virtual contrafact_buffer* swap(Client& client) = 0;
  // A producer begins; it may append as soon as this returns.
  virtual void attached(Client& client) = 0;
  // It ended: what it appended is to be processed, and then the client given back with ClientTable::recycle.
  virtual void detached(Client& client) = 0;
};

}  // namespace contrafact::deferred
