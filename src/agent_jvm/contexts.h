// The dynamic context: the current thread's stack as an interned context.
//
// A context is the innermost frames of the *current task*: it ends at the frame that runs the task's body, because what
// is below belongs to whatever the worker did before (a task that it helps while it waits). Injected frames and lambda
// proxies are left out; a context that has no frame of the program keeps all of them.
//
// Walking the stack is the costliest part of recording. So there are three walks, each the key of a cache that the next
// one fills: a walk over the physical frames (frame_walk.h); the JVM's cheap walk (call_trace.h), first of the
// innermost frames alone, which suffice where the current task began among them; JVMTI's exact one. A stack goes into
// the caches only after the last two gave the same frames: then each physical frame stands for at least one of them.
//
// Thread-safe. Each thread has caches of its own; a hit takes no lock.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent_jvm/call_trace.h"
#include "agent_jvm/context_paths.h"
#include "agent_jvm/frame_walk.h"
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
    struct Known {
      uint32_t context = 0;
      size_t frames_used = 0;  // innermost frames that it follows from, whatever is below them
      bool lasting = false;    // none of their methods can be unloaded
    };
    ContextPaths paths;
    std::unordered_map<Key, Known, Hash> contexts;
    std::vector<CallFrame> frames;  // room for the cheap walk; its padding stays 0
  };

  // What the physical walk cannot do on this JVM, or which stacks were compared and differed.
  struct Facts {
    std::string walk_missing;
    uint64_t compared = 0, different = 0;
  };

  // `compare`: each context that the physical walk finds is also taken the exact way, and differences are counted.
  ContextTable(jvmtiEnv* jvmti, JavaVM* vm, MethodTable& methods, recorder::Recorder& recorder, uint32_t depth_max,
               bool compare);

  // When Java code can run. `thread` is the current one.
  void resolve(JNIEnv* jni, jthread thread);
  // From now on the addresses of interpreted methods may come to stand for others.
  void classes_redefined() { trust_interpreted_.store(false, std::memory_order_relaxed); }
  Facts facts() const;

  // Of the current thread, whose environment and cache these are.
  format::ContextId current(JNIEnv* jni, Cache& cache);

  // Of another thread, which is stopped for a moment. Uncached.
  format::ContextId of_thread(jthread thread);

  // Of the current thread, but only down to the innermost frame outside java.util.concurrent. Uncached: for rare use.
  format::ContextId maker();

 private:
  Cache::Known intern(const jvmtiFrameInfo* frames, size_t count, bool is_current);
  Cache::Known by_call_trace(JNIEnv* jni, Cache& cache, bool& may_learn);
  Cache::Known exact(Cache& cache, const Cache::Key* keys, const jint* counts);
  static void remember(Cache& cache, const Cache::Key& key, const Cache::Known& value);
  void compare_with_exact(Cache& cache, uint32_t found);

  jvmtiEnv* jvmti_;
  JavaVM* vm_;
  FrameWalk walk_;
  std::string walk_missing_;
  CallTrace call_trace_;
  MethodTable& methods_;
  recorder::Recorder& recorder_;
  uint32_t depth_max_;
  bool compare_;
  std::atomic<bool> trust_interpreted_{true};
  std::atomic<uint64_t> compared_{0}, different_{0};
};

}  // namespace contrafact::agent_jvm
