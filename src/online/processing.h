// Processing: takes the buffers of the program's threads through the analysis, on the threads that its processor
// chooses.
//
// Thread safety: everything; a Client belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>

#include "base/result.h"
#include "online/events.h"
#include "online/processing_options.h"

namespace contrafact::online {

class Processing {
 public:
  // REQUIRES: check(options). What `analysis` refers to must outlive the Processing.
  static base::Result<std::unique_ptr<Processing>> start(const ProcessingOptions& options, const Analysis& analysis);

  // Null once it was stopped.
  deferred::Client* attach();
  void detach(deferred::Client* client);
  // Returns when all events that were written before have been processed. Threads may go on; their events are dropped.
  void stop();

  struct Statistics {
    uint64_t events = 0;   // processed
    uint64_t lost = 0;     // before stop(), for want of memory
    uint64_t failed = 0;   // in which the analysis threw, and those of buffers for which its begin() did
    uint64_t buffers = 0;  // processed
    uint64_t buffer_bytes_max = 0;
    uint64_t consumers_cpu_ns = 0;  // of the processor's own threads
    std::string first_failure;
  };
  // After stop().
  Statistics statistics() const;

 private:
  explicit Processing(const Analysis& analysis) : events_(analysis) {}

  Events events_;
  std::unique_ptr<deferred::Engine> engine_;  // after events_, which makes its calls
  std::shared_mutex stopping_;                // held by those who attach or detach, and exclusively by stop()
  bool stopped_ = false;
  uint64_t lost_ = 0;
};

}  // namespace contrafact::online
