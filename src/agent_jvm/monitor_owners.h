// Which thread owns the monitor that the current thread is about to wait for. HotSpot keeps it in the monitor, where
// debuggers find it (vm_structs.h). JVMTI would stop all threads to tell it.
//
// Thread-safe after resolve(); one lock, on slow paths only. What it cannot find out is "not known", never an error.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class MonitorOwners {
 public:
  struct Owner {
    recorder::ThreadId id;
    jobject thread = nullptr;  // local reference; null for a virtual thread
  };

  // Learns where this JVM keeps what is needed. `thread` is the current one. To be called before threads are added.
  void resolve(JavaVM* vm, JNIEnv* jni, jthread thread, int jdk);

  // The current thread, which is a platform thread. `thread` is a global reference that lives until remove().
  void add(JNIEnv* jni, jobject thread, recorder::ThreadId id, int64_t java_tid);
  void remove(JNIEnv* jni);
  // Virtual threads never tell of their end: only the latest kVirtualMax are remembered.
  static constexpr size_t kVirtualMax = 1 << 16;
  void add_virtual(int64_t java_tid, recorder::ThreadId id);

  // REQUIRES: called in JVMTI's MonitorContendedEnter
  std::optional<Owner> of_awaited(JNIEnv* jni);

 private:
  struct Known {
    recorder::ThreadId id;
    jobject thread = nullptr;
    int64_t java_tid = 0;
    uintptr_t stack_low = 0, stack_high = 0;
  };
  uintptr_t java_thread_of(JNIEnv* jni) const { return reinterpret_cast<uintptr_t>(jni) - environment_at_; }
  const Known* find(uintptr_t word) const;

  bool resolved_ = false;
  bool owner_is_tid_ = false;  // from JDK 24 on; before, it is a JavaThread or lies in the owner's stack
  size_t environment_at_ = 0;  // from a JavaThread to its JNIEnv
  size_t awaited_at_ = 0, owner_at_ = 0, stack_base_at_ = 0, stack_size_at_ = 0;
  std::mutex mutex_;
  std::unordered_map<uintptr_t, Known> threads_;   // by JavaThread
  std::unordered_map<int64_t, uintptr_t> of_tid_;  // JavaThreads, by the thread's id
  std::unordered_map<int64_t, recorder::ThreadId> virtual_;
  std::deque<int64_t> virtual_order_;
};

}  // namespace contrafact::agent_jvm
