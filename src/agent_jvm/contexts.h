// The dynamic context: the current thread's stack as an interned context.
//
// A context is the innermost frames of the *current task*: it ends at the frame that runs the task's body, because what
// is below belongs to whatever the worker did before (a task that it helps while it waits). Injected frames and lambda
// proxies are left out; a context that has no frame of the program keeps all of them.
//
// Thread-safe. Each thread has a cache of its own, keyed by the raw stack; a hit takes no lock.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <unordered_map>

#include "agent_jvm/method_table.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class ContextTable {
 public:
  // Of one thread. Raw stacks by a 128-bit hash.
  struct Key {
    uint64_t low, high;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const { return key.low; }
  };
  using Cache = std::unordered_map<Key, uint32_t, Hash>;

  ContextTable(jvmtiEnv* jvmti, MethodTable& methods, recorder::Recorder& recorder, uint32_t depth_max)
      : jvmti_(jvmti), methods_(methods), recorder_(recorder), depth_max_(depth_max) {}

  // Of the current thread, whose cache it is.
  format::ContextId current(Cache& cache);

 private:
  format::ContextId intern(const jvmtiFrameInfo* frames, size_t count);

  jvmtiEnv* jvmti_;
  MethodTable& methods_;
  recorder::Recorder& recorder_;
  uint32_t depth_max_;
};

}  // namespace contrafact::agent_jvm
