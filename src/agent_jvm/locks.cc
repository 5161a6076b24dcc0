#include "agent_jvm/locks.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/contexts.h"
#include "agent_jvm/lock_makers.h"
#include "base/clock.h"

namespace contrafact::agent_jvm {

template <typename Look>
void Locks::Looks::allow(bool stops_all, Look look) {
  const int64_t begin_ns = base::monotonic_ns();
  int64_t next_ns = next_ns_.load(std::memory_order_relaxed);
  if (begin_ns < next_ns || !next_ns_.compare_exchange_strong(next_ns, begin_ns + kShare * kNsMax)) return;
  look();
  const int64_t end_ns = base::monotonic_ns();
  const int64_t cost_ns = stops_all ? end_ns - begin_ns : std::min(end_ns - begin_ns, kNsMax);
  next_ns_.store(end_ns + kShare * cost_ns, std::memory_order_relaxed);
}

void Locks::resolve(JavaVM* vm, JNIEnv* jni, jthread thread, int jdk) {
  names_.resolve(jni);
  owners_.resolve(vm, jni, thread, jdk);
}

LockName Locks::describe(JNIEnv* jni, jobject object, Use use, bool has_owner, bool find_field) const {
  if (use == kSynchronizer) return names_.of_synchronizer(jni, object, has_owner, find_field);
  LockName name = names_.of_monitor(jni, object, find_field);
  if (use == kWaitSet) name.kind = format::LockKind::condition;
  return name;
}

// Threads that wait first may all describe the lock, but only one makes its row.
format::LockId Locks::row(JNIEnv* jni, jobject object, Use use, bool has_owner) {
  jint hash = 0;
  if (jni->ExceptionCheck() || jvmti_->GetObjectHashCode(object, &hash) != JVMTI_ERROR_NONE) return {};
  const uint64_t key = uint64_t{use} << 32 | static_cast<uint32_t>(hash);
  size_t known = 0;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = of_object_.find(key); found != of_object_.end()) return format::LockId(found->second);
    known = of_object_.size();
  }
  const LockName described = describe(jni, object, use, has_owner, known < kFieldsMax);
  format::LockRow row;
  row.kind = described.kind;
  row.name = recorder_.intern(described.name);
  std::lock_guard lock(mutex_);
  if (of_object_.size() >= kLocksMax) {
    without_row_.fetch_add(1, std::memory_order_relaxed);
    const auto [of_class, added] = of_class_.try_emplace(described.name, 0);
    if (added) of_class->second = recorder_.add_lock(row).value;
    return format::LockId(of_class->second);
  }
  say_where_made(described.name);
  row.address = key;
  const auto [of_object, added] = of_object_.try_emplace(key, 0);
  if (added) of_object->second = recorder_.add_lock(row).value;
  return format::LockId(of_object->second);
}

void Locks::say_where_made(const std::string& name) {
  const std::string places = makers_.places(name);
  if (!places.empty() && made_.insert(name).second) recorder_.add_fact("lock.made." + name, places);
}

// A lock that was free when its holder took it, and was taken without a monitor, has none that names the holder yet.
Locks::Wait Locks::contended(JNIEnv* jni, jobject monitor, const std::function<recorder::ThreadId(jthread)>& id_of) {
  std::optional<MonitorOwners::Owner> owner = owners_.of_awaited(jni);
  Wait wait{row(jni, monitor, kMonitor, true), {}, {}};
  if (!owner) {
    looks_.allow(true, [&] {
      jthread thread = owner_by_jvmti(monitor);
      if (!thread) return;
      wait.holder = id_of(thread);
      wait.holder_at = contexts_.of_thread(thread);
    });
    return wait;
  }
  wait.holder = owner->id;
  if (owner->thread) wait.holder_at = place_of(static_cast<jthread>(owner->thread));
  return wait;
}

// Null if there is none, or a virtual thread.
jthread Locks::owner_by_jvmti(jobject monitor) {
  jvmtiMonitorUsage usage{};
  if (jvmti_->GetObjectMonitorUsage(monitor, &usage) != JVMTI_ERROR_NONE) return nullptr;
  JvmtiMemory release_waiters(jvmti_, usage.waiters), release_notified(jvmti_, usage.notify_waiters);
  return usage.owner;
}

Locks::Wait Locks::waiting(JNIEnv* jni, jobject monitor) {
  return {row(jni, monitor, kWaitSet, false), {}, {}};
}

jint Locks::number_of_synchronizer(JNIEnv* jni, jobject object, bool has_owner) {
  return static_cast<jint>(row(jni, object, kSynchronizer, has_owner).value + 1);
}

jint Locks::number_of_monitor(JNIEnv* jni, jobject object) {
  return static_cast<jint>(row(jni, object, kMonitor, true).value + 1);
}

jint Locks::number_of_wait_set(JNIEnv* jni, jobject object) {
  return static_cast<jint>(row(jni, object, kWaitSet, false).value + 1);
}

format::ContextId Locks::place_of(jthread holder) {
  format::ContextId place;
  looks_.allow(false, [&] { place = contexts_.of_thread(holder); });
  return place;
}

}  // namespace contrafact::agent_jvm
