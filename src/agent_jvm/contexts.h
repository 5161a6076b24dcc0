// The dynamic context: the current thread's stack as an interned context.
//
// A context is the innermost frames of the *current task*: it ends at the frame that runs the task's body, because what
// is below belongs to whatever the worker did before (a task that it helps while it waits). Injected frames and lambda
// proxies are left out; a context that has no frame of the program keeps all of them.
//
// Walking the stack is what recording costs most. A cheap walk (call_trace.h) gives the key of a cache; first of the
// innermost frames alone, for where the current task began among them they are all that matters. A stack goes into the
// cache under a key only after JVMTI's exact walk gave the same frames as the cheap one.
//
// Thread-safe. Each thread has a cache of its own; a hit takes no lock.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "agent_jvm/call_trace.h"
#include "agent_jvm/method_table.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class ContextTable {
 public:
  // Of one thread.
  class Cache {
   private:
    friend ContextTable;
    struct Key {  // 128-bit hash of a stack
      uint64_t low = 0, high = 0;
      bool operator==(const Key&) const = default;
    };
    struct Hash {
      size_t operator()(const Key& key) const { return key.low; }
    };
    std::unordered_map<Key, uint32_t, Hash> contexts;
    std::vector<CallFrame> frames;  // room for the cheap walk; its padding stays 0
  };

  ContextTable(jvmtiEnv* jvmti, JavaVM* vm, MethodTable& methods, recorder::Recorder& recorder, uint32_t depth_max);

  // Of the current thread, whose environment and cache these are.
  format::ContextId current(JNIEnv* jni, Cache& cache);

  // Of the current thread, but only down to the innermost frame outside java.util.concurrent. Uncached: for rare use.
  format::ContextId maker();

 private:
  struct Interned {
    format::ContextId id;
    size_t frames_used = 0;  // innermost frames that it follows from, whatever is below them
  };

  Interned intern(const jvmtiFrameInfo* frames, size_t count);
  format::ContextId exact(Cache& cache, const Cache::Key* keys, const jint* counts);
  static void remember(Cache& cache, const Cache::Key& key, uint32_t value);

  jvmtiEnv* jvmti_;
  CallTrace call_trace_;
  MethodTable& methods_;
  recorder::Recorder& recorder_;
  uint32_t depth_max_;
};

}  // namespace contrafact::agent_jvm
