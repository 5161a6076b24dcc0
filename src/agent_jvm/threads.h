// Threads of the program and their clients: attached when they start (or at their first event), detached when they end.
//
// Thread-safe; each function concerns the current thread, or as it says.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "agent_jvm/contexts.h"
#include "agent_jvm/locks.h"
#include "agent_jvm/sets.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

struct Agent;

class Threads {
 public:
  explicit Threads(Agent& agent) : agent_(agent) {}

  // Resolves the fields that the probes added to Thread. False: they are not there.
  bool resolve(JNIEnv* jni);

  // `carrier` is the current (platform) thread. Returns the address of its first buffer, 0 if it can have none.
  jlong attach(JNIEnv* jni, jthread carrier);
  // Buffer of the current carrier is full.
  static jlong swap(jlong owner);
  jint add_virtual(JNIEnv* jni, jthread thread);
  // JVMTI's ThreadStart and ThreadEnd.
  void started(JNIEnv* jni, jthread thread);
  void ended(JNIEnv* jni, jthread thread);

  // The current thread's stack.
  format::ContextId context(JNIEnv* jni);

  // The number of any thread; none if it has none yet.
  recorder::ThreadId known(JNIEnv* jni, jthread thread) const;

  // Contended monitors and Object.wait. `thread` is the current thread, perhaps a virtual one.
  // False if no event was recorded: the block is part of something else.
  bool block_begin(JNIEnv* jni, jthread thread, format::BlockReason reason);
  // Records the lock for which the thread has just begun to block.
  void blocked_on(JNIEnv* jni, jthread thread, const Locks::Wait& wait);
  void block_end(JNIEnv* jni, jthread thread, format::BlockReason reason);

  // Records what `thread`, which the current one is or carries, accessed before its next event of a lock.
  void accesses(JNIEnv* jni, recorder::ThreadId thread, const Sets::Segment& segment);

  // Object.wait of the current thread at `monitor`, which it holds when it begins to wait.
  bool wait_begin(JNIEnv* jni, jthread thread, jobject monitor);
  void wait_end(JNIEnv* jni, jthread thread, bool timed_out);
  // The thread that has waited longest at `monitor`; -1 if none does. From then on it counts as notified.
  jint next_waiting(JNIEnv* jni, jobject monitor);

 private:
  // A thread in Object.wait that nobody has notified. Few at a time: looked through one by one.
  struct Waiting {
    jobject monitor;  // global reference
    uint32_t thread;
  };

  format::ThreadRow describe(jthread thread, format::ThreadKind kind);
  // The current thread's number, or that of the virtual thread that it carries.
  recorder::ThreadId logical(JNIEnv* jni, jthread thread);

  void note_pinned(JNIEnv* jni, jthread thread);
  // REQUIRES: waiting_mutex_ is held
  void forget(JNIEnv* jni, std::vector<Waiting>::iterator waiting);

  Agent& agent_;
  std::mutex waiting_mutex_;
  std::vector<Waiting> waiting_;             // longest first
  std::atomic<uint32_t> waiting_count_ = 0;  // of `waiting_`: programs notify much more often than anybody waits
  jfieldID buffer_ = nullptr;
  jfieldID thread_ = nullptr;
  jfieldID quiet_ = nullptr;
  jfieldID stopped_ = nullptr;
  jfieldID stopped_at_ = nullptr;
  jfieldID unmounted_ = nullptr;
  jfieldID flags_ = nullptr;
  jfieldID task_ = nullptr;
  jfieldID java_tid_ = nullptr;
};

}  // namespace contrafact::agent_jvm
