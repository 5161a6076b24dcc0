// Information flow between critical sections of chosen classes (--flow): the memory in which the injected code keeps taints, their sets
// and shadows (java/java/lang/ContrafactTaints.java, ContrafactFlow.java), and what the trace says of it. FlowProf, section 5.1.
//
// All memory is taken at once and never grows; pages that are not used cost nothing. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class Flow {
 public:
  // A thread's block: zero where nothing is known. Its order is ContrafactFlow's.
  static constexpr size_t kBlockBytes = 512;

  // `memory_bytes_max`: for sets and shadows; at least a few MiB are used.
  Flow(uint64_t memory_bytes_max, recorder::Recorder& recorder);
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // Addresses, and the numbers of records and buckets, as ContrafactTaints.memory() asks for them.
  int64_t memory(int which) const;

  // Facts of the trace.
  void report() const;

 private:
  struct Memory;

  recorder::Recorder& recorder_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace contrafact::agent_jvm
