#include "agent_jvm/lock_names.h"

#include "agent_jvm/agent_state.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/stack_fields.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kConcurrent = "java.util.concurrent.";
constexpr std::string_view kCondition = "ConditionObject";

struct KeeperName {
  const char* class_name;
  const char* signature;  // of its field `sync`
};
constexpr KeeperName kKeeperNames[] = {
    {"java/util/concurrent/locks/ReentrantLock", "Ljava/util/concurrent/locks/ReentrantLock$Sync;"},
    {"java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock",
     "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;"},
    {"java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock",
     "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;"},
    {"java/util/concurrent/locks/ReentrantReadWriteLock", "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;"},
    {"java/util/concurrent/Semaphore", "Ljava/util/concurrent/Semaphore$Sync;"},
    {"java/util/concurrent/CountDownLatch", "Ljava/util/concurrent/CountDownLatch$Sync;"},
};

// "ReentrantLock" of "java.util.concurrent.locks.ReentrantLock".
std::string_view short_name(std::string_view class_name) {
  return class_name.substr(class_name.rfind('.') + 1);
}

// Whether a field declared like this may hold a lock whose outer class is `outer`: of this class, or of an interface.
bool is_declared_as(std::string_view signature, std::string_view outer) {
  return outer_name(dotted_name(signature)) == outer;
}
bool is_declared_as_lock(std::string_view signature) {
  return signature == "Ljava/util/concurrent/locks/Lock;" || signature == "Ljava/util/concurrent/locks/ReadWriteLock;";
}

}  // namespace

std::string_view outer_name(std::string_view class_name) {
  return class_name.substr(0, class_name.find('$'));
}

format::LockKind synchronizer_kind(std::string_view class_name, bool has_owner) {
  using format::LockKind;
  if (class_name.ends_with(kCondition)) return LockKind::condition;
  const std::string_view outer = outer_name(class_name);
  if (outer == "java.util.concurrent.locks.ReentrantLock") return LockKind::mutex;
  if (outer == "java.util.concurrent.locks.ReentrantReadWriteLock" || outer == "java.util.concurrent.locks.StampedLock")
    return LockKind::rwlock;
  if (outer == "java.util.concurrent.Semaphore") return LockKind::semaphore;
  if (outer == "java.util.concurrent.CountDownLatch" || outer == "java.util.concurrent.Phaser")
    return LockKind::barrier;
  return has_owner ? LockKind::mutex : LockKind::synchronizer;
}

void LockNames::resolve(JNIEnv* jni) {
  const auto global = [&](const char* name) {
    jclass type = jni->FindClass(name);
    if (!type) jni->ExceptionClear();
    return type ? static_cast<jclass>(jni->NewGlobalRef(type)) : nullptr;
  };
  class_type_ = global("java/lang/Class");
  for (size_t i = 0; i < kKeepers; ++i) {
    jclass type = global(kKeeperNames[i].class_name);
    if (!type) continue;
    jfieldID field = jni->GetFieldID(type, "sync", kKeeperNames[i].signature);
    if (!field) jni->ExceptionClear();
    keepers_[i] = {type, field};
  }
}

std::string LockNames::signature_of(JNIEnv* jni, jobject object) const {
  char* signature = nullptr;
  jclass type = jni->GetObjectClass(object);
  if (jvmti_->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release(jvmti_, signature);
  return signature;
}

bool LockNames::is_of_jdk(JNIEnv* jni, jobject object) const {
  jobject loader = nullptr;
  return jvmti_->GetClassLoader(jni->GetObjectClass(object), &loader) == JVMTI_ERROR_NONE && !loader;
}

bool LockNames::is_or_keeps(JNIEnv* jni, jobject value, jobject synchronizer) const {
  if (jni->IsSameObject(value, synchronizer)) return true;
  for (const Keeper& keeper : keepers_) {
    if (keeper.synchronizer && jni->IsInstanceOf(value, keeper.type))
      return jni->IsSameObject(jni->GetObjectField(value, keeper.synchronizer), synchronizer);
  }
  return false;
}

// An object of a class of the program's is known by its class. One of the JDK's, mostly an Object, says nothing.
LockName LockNames::of_monitor(JNIEnv* jni, jobject object, bool find_field) const {
  LockName out{format::LockKind::monitor, ""};
  if (class_type_ && jni->IsInstanceOf(object, class_type_)) {
    char* signature = nullptr;
    if (jvmti_->GetClassSignature(static_cast<jclass>(object), &signature, nullptr) != JVMTI_ERROR_NONE) return out;
    JvmtiMemory release(jvmti_, signature);
    out.name = dotted_name(signature) + ".class";
    return out;
  }
  const std::string signature = signature_of(jni, object);
  const std::string class_name = dotted_name(signature);
  out.name = class_name;
  // HotSpot's own lock for the time in which a class is initialised. Programs seldom lock such an array.
  if (signature == "[I" && jni->GetArrayLength(static_cast<jarray>(object)) == 0) {
    out.name = "initialisation of a class (inferred)";
    return out;
  }
  if (!find_field || signature.starts_with('[') || !is_of_jdk(jni, object)) return out;
  std::string field =
      static_field_on_stack(jvmti_, jni, [&](jobject value) { return jni->IsSameObject(value, object); });
  if (field.empty()) {
    field = only_instance_field_on_stack(
        jvmti_, jni, [&](std::string_view declared) { return declared == signature; },
        [](std::string_view) { return false; });
  }
  if (!field.empty()) out.name = field + " (" + std::string(short_name(class_name)) + ")";
  return out;
}

LockName LockNames::of_synchronizer(JNIEnv* jni, jobject object, bool has_owner, bool find_field) const {
  const std::string class_name = dotted_name(signature_of(jni, object));
  const bool of_jdk = class_name.starts_with(kConcurrent);
  const std::string outer(of_jdk ? outer_name(class_name) : std::string_view(class_name));
  LockName out{synchronizer_kind(class_name, has_owner), outer};
  if (!find_field || !of_jdk || out.kind == format::LockKind::condition) return out;
  std::string field =
      static_field_on_stack(jvmti_, jni, [&](jobject value) { return is_or_keeps(jni, value, object); });
  const auto is_its_own = [&](std::string_view signature) {
    return signature.starts_with("Ljava/util/concurrent/locks/") || outer_name(dotted_name(signature)) == outer;
  };
  const auto only_field = [&](const auto& may_hold) {
    return only_instance_field_on_stack(jvmti_, jni, may_hold, is_its_own);
  };
  if (field.empty()) field = only_field([&](std::string_view declared) { return is_declared_as(declared, outer); });
  if (field.empty() && outer.ends_with("Lock")) field = only_field(is_declared_as_lock);
  if (!field.empty()) out.name = field + " (" + std::string(short_name(outer)) + ")";
  return out;
}

}  // namespace contrafact::agent_jvm
