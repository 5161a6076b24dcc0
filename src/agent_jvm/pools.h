// Rows of the trace's pool table for the executors of the running program. The number of a pool is kept in a field that
// the agent adds to it.
//
// Thread-safe. Runs Java code (the pool's own getters), so never under a lock.
#pragma once

#include <jvmti.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "agent_jvm/trace_config.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class Pools {
 public:
  Pools(jvmtiEnv* jvmti, recorder::Recorder& recorder, const TraceConfig& config)
      : jvmti_(jvmti), recorder_(recorder), config_(config) {}

  // The pool's id plus one. Stores it in the field that the agent added to the class of `pool`.
  jint number(JNIEnv* jni, jobject pool);
  // All threads that executors of this class make, one for each task, as one pool: they share no workers, and a program
  // may make such an executor for each request.
  jint number_of_threads(std::string_view class_name);
  // The id plus one of a row for a semaphore that has so many permits; -1 once there are kSemaphoresMax.
  static constexpr jint kSemaphoresMax = 1 << 16;
  jint number_of_permits(jint available);
  // The id plus one of a row for a pool of objects of which there are only so many; -1 if that is not known. Stores it as
  // number() does.
  jint number_of_resource(JNIEnv* jni, jobject pool);
  // The same for what such a pool has for one key; nothing is stored.
  jint number_of_key(JNIEnv* jni, jobject pool, jobject key);
  // The id plus one of a row for a blocking queue that serves as a pool of so many such elements; -1 once there are
  // kQueuesMax.
  static constexpr int kQueuesMax = 1 << 10;
  jint number_of_queue(JNIEnv* jni, jobject queue, jobject element, jint size);
  // Semaphores that got no row: what happens at them is not recorded.
  int64_t unrecorded_semaphores() const;

 private:
  // Where it was made, if that is known: a fact of the trace.
  void note_maker(JNIEnv* jni, jobject pool, jint number);
  format::PoolRow describe(JNIEnv* jni, jobject pool, bool fork_join);
  format::PoolRow describe_framework(JNIEnv* jni, jobject pool);
  std::optional<format::PoolRow> describe_resource(JNIEnv* jni, jobject pool);
  // `size`: 0 where it is not known; then there are as many as were out at once. Nothing: no bound.
  std::optional<format::PoolRow> permits(std::string_view name, jint size);
  std::string signature_of(JNIEnv* jni, jobject object);
  std::string signature_of_class(jclass type);
  std::string name(JNIEnv* jni, jobject pool, jobject namer, const char* prefix_field);

  jvmtiEnv* jvmti_;
  recorder::Recorder& recorder_;
  const TraceConfig& config_;  // says which classes are pools of objects, too
  std::mutex mutex_;           // of giving numbers
  std::map<std::string, jint> of_threads_;
  std::atomic<int64_t> semaphores_{0};
  std::atomic<int> queues_{0};
};

}  // namespace contrafact::agent_jvm
