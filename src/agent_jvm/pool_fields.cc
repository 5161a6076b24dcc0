#include "agent_jvm/pool_fields.h"

#include <string_view>

#include "agent_jvm/executor_types.h"
#include "agent_jvm/stack_fields.h"

namespace contrafact::agent_jvm {
namespace {

constexpr char kWrapper[] = "java/util/concurrent/Executors$DelegatedExecutorService";

// The executor inside a wrapper of the JDK's; any other object as it is.
jobject unwrapped(JNIEnv* jni, jobject value) {
  jclass wrapper = jni->FindClass(kWrapper);
  jfieldID inner = wrapper ? jni->GetFieldID(wrapper, "e", "Ljava/util/concurrent/ExecutorService;") : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return inner && value && jni->IsInstanceOf(value, wrapper) ? jni->GetObjectField(value, inner) : value;
}

// Whether a field of this type is declared as one of the JDK's executors, and the pool is of that type.
bool may_hold_pool(JNIEnv* jni, std::string_view signature, jobject pool) {
  const std::string_view declared = executor_type_of(signature);
  if (declared.empty()) return false;
  jclass wanted = jni->FindClass((std::string(kExecutorPackage) + std::string(declared)).c_str());
  if (!wanted) jni->ExceptionClear();
  return wanted && jni->IsInstanceOf(pool, wanted);
}

}  // namespace

std::string static_field_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool) {
  return static_field_on_stack(jvmti, jni,
                               [&](jobject value) { return jni->IsSameObject(unwrapped(jni, value), pool); });
}

std::string only_instance_field_for(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool) {
  return only_instance_field_on_stack(
      jvmti, jni, [&](std::string_view signature) { return may_hold_pool(jni, signature, pool); },
      [](std::string_view) { return true; });
}

}  // namespace contrafact::agent_jvm
