// Events: what the probes tell, as deferred methods, and their way into the analysis.
//
//   probes (Java) ─> deferred buffers ─> Events, one for each buffer that is being processed ─> the analysis
//
// The probes write calls of `EventEnvironment`: the order of its methods is the contract with
// java/java/lang/ContrafactAnalysisEvents.java. What the analysis throws, the engine counts.
#pragma once

#include <cstdint>

#include "contrafact/analysis.h"
#include "deferred/environment.h"
#include "online/names.h"

namespace contrafact::online {

// An analysis at work: what its create() made. `classes` must outlive it.
struct Analysis {
  const contrafact_analysis& methods;
  void* self;
  const ClassTable& classes;
};

// The events of one buffer. One thread.
class Events {
 public:
  explicit Events(const Analysis& analysis) : analysis_(analysis) {}

  void before_processing();
  void after_processing();

  // An analysis is not told what it does not want to know; events of classes that are not known are not written.
  void call(uint32_t caller, uint32_t callee);
  void exit(uint32_t method, uint32_t thrown);
  void allocate(uint32_t method, uint32_t class_id) { allocate_array(method, class_id, 0); }
  void allocate_array(uint32_t method, uint32_t class_id, uint32_t length);

 private:
  const Analysis& analysis_;
  void* data_ = nullptr;
};

using EventEnvironment =
    deferred::Environment<&Events::call, &Events::exit, &Events::allocate, &Events::allocate_array>;

}  // namespace contrafact::online
