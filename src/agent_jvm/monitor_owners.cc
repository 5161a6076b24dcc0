#include "agent_jvm/monitor_owners.h"

#include <dlfcn.h>

#include <cstring>

#include "agent_jvm/vm_structs.h"

namespace contrafact::agent_jvm {
namespace {

constexpr int kJdkOwnerIsTid = 24;
constexpr uintptr_t kNoThreadMax = 2;  // nobody, somebody who is not known yet, the thread that gives monitors back

template <typename Value>
Value value_at(uintptr_t address) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

}  // namespace

void MonitorOwners::resolve(JavaVM* vm, JNIEnv* jni, jthread thread, int jdk) {
  Dl_info library{};
  if (!dladdr(reinterpret_cast<void*>(vm->functions->GetEnv), &library) || !library.dli_fname) return;
  void* handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return;
  VmStructs structs(handle);
  awaited_at_ = structs.offset("JavaThread", "_current_pending_monitor");
  owner_at_ = structs.offset("ObjectMonitor", "_owner");
  stack_base_at_ = structs.offset("JavaThread", "_stack_base");
  stack_size_at_ = structs.offset("JavaThread", "_stack_size");
  const bool complete = structs.missing().empty();
  dlclose(handle);  // the JVM keeps it
  jclass type = jni->FindClass("java/lang/Thread");
  jfieldID java_thread = type ? jni->GetFieldID(type, "eetop", "J") : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (!java_thread || !complete) return;
  environment_at_ = reinterpret_cast<uintptr_t>(jni) - static_cast<uintptr_t>(jni->GetLongField(thread, java_thread));
  owner_is_tid_ = jdk >= kJdkOwnerIsTid;
  resolved_ = true;
}

void MonitorOwners::add(JNIEnv* jni, jobject thread, recorder::ThreadId id, int64_t java_tid) {
  if (!resolved_) return;
  const uintptr_t self = java_thread_of(jni);
  const auto base = value_at<uintptr_t>(self + stack_base_at_);
  const Known known{id, thread, java_tid, base - value_at<size_t>(self + stack_size_at_), base};
  std::lock_guard lock(mutex_);
  threads_[self] = known;
  of_tid_[java_tid] = self;
}

void MonitorOwners::remove(JNIEnv* jni) {
  if (!resolved_) return;
  std::lock_guard lock(mutex_);
  const auto found = threads_.find(java_thread_of(jni));
  if (found == threads_.end()) return;
  of_tid_.erase(found->second.java_tid);
  threads_.erase(found);
}

void MonitorOwners::add_virtual(int64_t java_tid, recorder::ThreadId id) {
  if (!resolved_ || !owner_is_tid_) return;
  std::lock_guard lock(mutex_);
  if (virtual_.emplace(java_tid, id).second) virtual_order_.push_back(java_tid);
  if (virtual_order_.size() <= kVirtualMax) return;
  virtual_.erase(virtual_order_.front());
  virtual_order_.pop_front();
}

// REQUIRES: mutex_ is held
const MonitorOwners::Known* MonitorOwners::find(uintptr_t word) const {
  if (owner_is_tid_) {
    const auto of_tid = of_tid_.find(static_cast<int64_t>(word));
    if (of_tid == of_tid_.end()) return nullptr;
    word = of_tid->second;
  }
  const auto found = threads_.find(word);
  if (found != threads_.end()) return &found->second;
  for (const auto& [java_thread, known] : threads_) {
    if (word >= known.stack_low && word < known.stack_high) return &known;
  }
  return nullptr;
}

// The monitor is there as long as somebody waits for it. Its owner may change meanwhile: whoever has it now is as good.
std::optional<MonitorOwners::Owner> MonitorOwners::of_awaited(JNIEnv* jni) {
  if (!resolved_) return std::nullopt;
  const auto monitor = value_at<uintptr_t>(java_thread_of(jni) + awaited_at_);
  if (monitor == 0) return std::nullopt;
  const auto* word = reinterpret_cast<const uintptr_t*>(monitor + owner_at_);
  const uintptr_t owner = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  if (owner <= kNoThreadMax) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (const Known* known = find(owner)) return Owner{known->id, jni->NewLocalRef(known->thread)};
  const auto found = virtual_.find(static_cast<int64_t>(owner));
  if (!owner_is_tid_ || found == virtual_.end()) return std::nullopt;
  return Owner{found->second, nullptr};
}

}  // namespace contrafact::agent_jvm
