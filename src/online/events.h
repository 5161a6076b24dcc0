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

// Two numbers of 32 bits, the first in the upper half. Each event has one, so that a producer finds its place in the
// column by the number of events, and writes it with one store.
using TwoIds = uint64_t;
constexpr TwoIds two_ids(uint32_t upper, uint32_t lower) {
  return uint64_t{upper} << 32 | lower;
}
constexpr uint32_t upper_id(TwoIds ids) {
  return static_cast<uint32_t>(ids >> 32);
}
constexpr uint32_t lower_id(TwoIds ids) {
  return static_cast<uint32_t>(ids);
}

// The events of one buffer. One thread.
class Events {
 public:
  explicit Events(const Analysis& analysis) : analysis_(analysis) {}

  void before_processing();
  void after_processing();

  // An analysis is not told what it does not want to know; events of classes that are not known are not written.
  void call(TwoIds caller_callee);
  void exit(TwoIds thrown_method);
  void allocate(TwoIds class_method) { allocate_array(class_method, 0); }
  void allocate_array(TwoIds class_method, uint32_t length);

 private:
  const Analysis& analysis_;
  void* data_ = nullptr;
};

inline void Events::call(TwoIds ids) {
  if (analysis_.methods.on_call) analysis_.methods.on_call(data_, upper_id(ids), lower_id(ids));
}

inline void Events::exit(TwoIds ids) {
  if (analysis_.methods.on_exit) analysis_.methods.on_exit(data_, lower_id(ids), static_cast<int>(upper_id(ids)));
}

inline void Events::allocate_array(TwoIds ids, uint32_t length) {
  const ClassInfo* info = analysis_.methods.on_allocation ? analysis_.classes.find(ClassId(upper_id(ids))) : nullptr;
  if (info) analysis_.methods.on_allocation(data_, lower_id(ids), upper_id(ids), info->bytes_of(length));
}

using EventEnvironment =
    deferred::Environment<&Events::call, &Events::exit, &Events::allocate, &Events::allocate_array>;

}  // namespace contrafact::online
