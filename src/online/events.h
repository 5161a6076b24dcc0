// Events: takes the event words of buffers (event_words.h) into the analysis.
//
//   probes (Java) ─> deferred buffers ─> Events ─> the analysis
//
// An exception that the analysis throws is counted; its event is lost, and the next one delivered.
//
// Thread safety: as of a BatchRunner.
#pragma once

#include <atomic>
#include <cstdint>

#include "contrafact/analysis.h"
#include "deferred/engine.h"
#include "online/event_words.h"
#include "online/names.h"

namespace contrafact::online {

// An analysis at work: what its create() made. `classes` must outlive it.
struct Analysis {
  const contrafact_analysis& methods;
  void* self;
  const ClassTable& classes;
};

class Events final : public deferred::BatchRunner {
 public:
  explicit Events(const Analysis& analysis) : analysis_(analysis) {}

  static constexpr deferred::Layout layout() {
    deferred::Layout layout;
    layout.element_bytes[0] = sizeof(uint64_t);
    layout.elements_per_call[0] = 1;
    layout.without_ids = true;
    layout.elements_beyond = kEventWordsMax - 1;
    return layout;
  }

  // Events delivered so far, those included in which the analysis threw.
  uint64_t delivered() const { return delivered_.load(std::memory_order_relaxed); }

  void* begin(const deferred::Client& producer) override;
  void run(void* data, deferred::Batch& batch, deferred::Failures& failures) override;
  void end(void* data) override;
  void settle(contrafact_buffer& buffer) override;
  void clear(contrafact_buffer& buffer) override;

 private:
  // Words of one buffer: moves `at` past an event before the analysis gets it.
  struct Words {
    const uint64_t* at;
    const uint64_t* end;
    uint64_t events = 0;
  };
  void tell_each(void* data, Words& words) const;
  void tell_event(void* data, EventKind kind, uint64_t first, const uint64_t* more) const;
  void tell_in_groups(void* data, Words& words) const;

  const Analysis analysis_;
  std::atomic<uint64_t> delivered_{0};
};

}  // namespace contrafact::online
