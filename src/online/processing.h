// Processing: takes the buffers of the program's threads through the analysis, on the threads that its processor
// chooses.
//
// Thread safety: everything; a Client belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "deferred/client.h"
#include "online/events.h"
#include "online/processing_options.h"

namespace contrafact::online {

class Processing {
 public:
  // REQUIRES: check(options). `analysis` must outlive it.
  static base::Result<std::unique_ptr<Processing>> start(const ProcessingOptions& options, Analysis& analysis);
  virtual ~Processing() = default;

  virtual deferred::Client* attach() = 0;
  virtual void detach(deferred::Client* client) = 0;
  // Returns when all events that were written before have been processed. Later ones are dropped.
  virtual void stop() = 0;
  // Events that were not taken for want of memory. After stop().
  virtual uint64_t lost() const = 0;
};

}  // namespace contrafact::online
