// Events: what the probes tell, as deferred methods, and their way into the analysis.
//
//   probes (Java) ─> deferred buffers ─> Events (one for each buffer that is being processed) ─> the analysis
//
// The probes write calls of `EventCalls`: the order of its methods is the contract with
// java/java/lang/ContrafactAnalysisEvents.java.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "contrafact/analysis.h"
#include "deferred/environment.h"
#include "online/names.h"

namespace contrafact::online {

// An analysis at work. Thread-safe.
class Analysis {
 public:
  // The analysis, made by its create(). `classes` must outlive this.
  Analysis(const contrafact_analysis& methods, void* self, const ClassTable& classes)
      : methods(methods), self(self), classes(classes) {}

  void count(uint64_t events, uint64_t failed);
  // Only the first is kept.
  void note_failure(const char* what);

  uint64_t events() const { return events_.load(std::memory_order_relaxed); }
  uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }
  std::string first_failure() const;

  const contrafact_analysis& methods;
  void* const self;
  const ClassTable& classes;

 private:
  std::atomic<uint64_t> events_{0};
  std::atomic<uint64_t> failed_{0};
  mutable std::mutex mutex_;
  std::string first_failure_;
};

// The events of one buffer. One thread. What the analysis throws is caught and counted here.
class Events {
 public:
  explicit Events(Analysis& analysis);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void call(uint32_t caller, uint32_t callee);
  void exit(uint32_t method, uint32_t thrown);
  void allocate(uint32_t method, uint32_t class_id);
  void allocate_array(uint32_t method, uint32_t class_id, uint32_t length);

 private:
  void allocated(uint32_t method, uint32_t class_id, uint32_t length);
  template <typename Work>
  bool guarded(Work work);

  Analysis& analysis_;
  void* data_ = nullptr;
  bool begun_;
  uint64_t events_ = 0;
  uint64_t failed_ = 0;
};

using EventCalls = deferred::Environment<&Events::call, &Events::exit, &Events::allocate, &Events::allocate_array>;

}  // namespace contrafact::online
