#include "agent_jvm/pool_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/method_table.h"

namespace contrafact::agent_jvm {
namespace {

constexpr jint kFramesMax = 24;
constexpr jint kAccStatic = 0x0008;
constexpr char kWrapper[] = "java/util/concurrent/Executors$DelegatedExecutorService";

// The executor inside a wrapper of the JDK's; any other object as it is.
jobject unwrapped(JNIEnv* jni, jobject value) {
  jclass wrapper = jni->FindClass(kWrapper);
  jfieldID inner = wrapper ? jni->GetFieldID(wrapper, "e", "Ljava/util/concurrent/ExecutorService;") : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return inner && value && jni->IsInstanceOf(value, wrapper) ? jni->GetObjectField(value, inner) : value;
}

std::string field_name(jvmtiEnv* jvmti, JNIEnv* jni, jclass type, jfieldID field, jobject pool) {
  jint modifiers = 0;
  if (jvmti->GetFieldModifiers(type, field, &modifiers) != JVMTI_ERROR_NONE || !(modifiers & kAccStatic)) return {};
  char* name = nullptr;
  char* signature = nullptr;
  if (jvmti->GetFieldName(type, field, &name, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release_name(jvmti, name), release_signature(jvmti, signature);
  if (signature[0] != 'L' || !jni->IsSameObject(unwrapped(jni, jni->GetStaticObjectField(type, field)), pool))
    return {};
  return name;
}

std::string field_of_class(jvmtiEnv* jvmti, JNIEnv* jni, jclass type, jobject pool) {
  jint count = 0;
  jfieldID* fields = nullptr;
  if (jvmti->GetClassFields(type, &count, &fields) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release(jvmti, fields);
  std::string name;
  for (jint i = 0; i < count && name.empty(); ++i) name = field_name(jvmti, jni, type, fields[i], pool);
  if (name.empty()) return {};
  char* signature = nullptr;
  if (jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release_signature(jvmti, signature);
  return dotted_name(signature) + "." + name;
}

// The JDK's own classes are no place to find a program's name in.
bool is_of_program(jvmtiEnv* jvmti, JNIEnv* jni, jclass type) {
  jobject loader = nullptr;
  if (jvmti->GetClassLoader(type, &loader) != JVMTI_ERROR_NONE || !loader) return false;
  jni->DeleteLocalRef(loader);
  return true;
}

}  // namespace

std::string static_field_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool) {
  std::array<jvmtiFrameInfo, kFramesMax> frames{};
  jint count = 0;
  if (jni->ExceptionCheck() || jni->PushLocalFrame(kFramesMax * 8) != JNI_OK) {
    jni->ExceptionClear();
    return {};
  }
  std::string name;
  if (jvmti->GetStackTrace(nullptr, 0, kFramesMax, frames.data(), &count) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count && name.empty(); ++i) {
    jclass type = nullptr;
    if (jvmti->GetMethodDeclaringClass(frames[i].method, &type) != JVMTI_ERROR_NONE) continue;
    if (is_of_program(jvmti, jni, type)) name = field_of_class(jvmti, jni, type, pool);
  }
  jni->PopLocalFrame(nullptr);
  return name;
}

}  // namespace contrafact::agent_jvm
