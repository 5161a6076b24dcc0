// Locks that the program's threads wait for: their rows in the trace's table, their holders, and where in the program the
// holders are. A lock gets its row when a thread first waits for it, or first asks for it in the code of a chosen class.
//
// Thread-safe after resolve(). Runs no Java code, so that it may be called where a thread is about to wait.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "agent_jvm/lock_names.h"
#include "agent_jvm/monitor_owners.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class ContextTable;
class LockMakers;

class Locks {
 public:
  Locks(jvmtiEnv* jvmti, recorder::Recorder& recorder, ContextTable& contexts, const LockMakers& makers)
      : jvmti_(jvmti), recorder_(recorder), contexts_(contexts), makers_(makers), names_(jvmti) {}

  // When Java code can run. `thread` is the current one.
  void resolve(JavaVM* vm, JNIEnv* jni, jthread thread, int jdk);
  MonitorOwners& owners() { return owners_; }

  // A wait as an event blocked_on has it.
  struct Wait {
    format::LockId lock;
    recorder::ThreadId holder;
    format::ContextId holder_at;
  };
  // REQUIRES: called in JVMTI's MonitorContendedEnter
  // `id_of` gives the number of a thread, of which `jthread` is a local reference.
  Wait contended(JNIEnv* jni, jobject monitor, const std::function<recorder::ThreadId(jthread)>& id_of);
  // Of Object.wait.
  Wait waiting(JNIEnv* jni, jobject monitor);
  // The id plus one of an object that threads are parked for. `has_owner`: a thread holds it alone.
  jint number_of_synchronizer(JNIEnv* jni, jobject object, bool has_owner);
  // The same of an object's monitor, and of its wait set.
  jint number_of_monitor(JNIEnv* jni, jobject object);
  jint number_of_wait_set(JNIEnv* jni, jobject object);
  // The context in which a thread is now; none if looks at other threads have taken their share of the time.
  format::ContextId place_of(jthread holder);

  // Locks that have no row of their own: the row of their class stands for them.
  int64_t without_row() const { return without_row_.load(std::memory_order_relaxed); }

 private:
  enum Use : uint64_t { kMonitor, kWaitSet, kSynchronizer };  // an object may be used in several ways

  // A program may lock millions of objects. Names of fields are looked for as long as it is worth while.
  static constexpr size_t kLocksMax = 1 << 16;
  static constexpr size_t kFieldsMax = 2048;

  // Looks at other threads stop them for a moment: all together take a hundredth of the time at most. A look that stops
  // one thread counts for a millisecond at most, since the first ones meet much for the first time.
  class Looks {
   public:
    static constexpr int64_t kShare = 100;
    static constexpr int64_t kNsMax = 1'000'000;
    // Calls `look` if it is time for one. `stops_all`: all threads are stopped, and not only the one that is looked at.
    template <typename Look>
    void allow(bool stops_all, Look look);

   private:
    std::atomic<int64_t> next_ns_{0};
  };

  format::LockId row(JNIEnv* jni, jobject object, Use use, bool has_owner);
  // REQUIRES: mutex_ is held
  void say_where_made(const std::string& name);
  jthread owner_by_jvmti(jobject monitor);
  LockName describe(JNIEnv* jni, jobject object, Use use, bool has_owner, bool find_field) const;

  jvmtiEnv* jvmti_;
  recorder::Recorder& recorder_;
  ContextTable& contexts_;
  const LockMakers& makers_;
  LockNames names_;
  MonitorOwners owners_;
  std::mutex mutex_;
  // By identity hash and use. Of a thousand locks two have the same hash once in four thousand runs.
  std::unordered_map<uint64_t, uint32_t> of_object_;
  std::unordered_map<std::string, uint32_t> of_class_;
  std::unordered_set<std::string> made_;  // names whose facts say where such a lock is made
  std::atomic<int64_t> without_row_{0};
  Looks looks_;
};

}  // namespace contrafact::agent_jvm
