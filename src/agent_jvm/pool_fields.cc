#include "agent_jvm/pool_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/executor_types.h"
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

// The JDK's own classes do not hold the program's names.
bool is_of_program(jvmtiEnv* jvmti, JNIEnv* jni, jclass type) {
  jobject loader = nullptr;
  if (jvmti->GetClassLoader(type, &loader) != JVMTI_ERROR_NONE || !loader) return false;
  jni->DeleteLocalRef(loader);
  return true;
}

// Whether the field, of an object, is declared as one of the JDK's executors, and the pool is of that type.
bool may_hold(jvmtiEnv* jvmti, JNIEnv* jni, jclass type, jfieldID field, jobject pool, std::string& name) {
  jint modifiers = 0;
  if (jvmti->GetFieldModifiers(type, field, &modifiers) != JVMTI_ERROR_NONE || (modifiers & kAccStatic)) return false;
  char* field_name = nullptr;
  char* signature = nullptr;
  if (jvmti->GetFieldName(type, field, &field_name, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  JvmtiMemory release_name(jvmti, field_name), release_signature(jvmti, signature);
  const std::string_view declared = executor_type_of(signature);
  if (declared.empty()) return false;
  name = field_name;
  jclass wanted = jni->FindClass((std::string(kExecutorPackage) + std::string(declared)).c_str());
  if (!wanted) jni->ExceptionClear();
  return wanted && jni->IsInstanceOf(pool, wanted);
}

std::string only_field_of_class(jvmtiEnv* jvmti, JNIEnv* jni, jclass type, jobject pool) {
  jint count = 0;
  jfieldID* fields = nullptr;
  if (jvmti->GetClassFields(type, &count, &fields) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release(jvmti, fields);
  std::string found;
  for (jint i = 0; i < count; ++i) {
    std::string name;
    if (!may_hold(jvmti, jni, type, fields[i], pool, name)) continue;
    if (!found.empty()) return {};
    found = std::move(name);
  }
  char* signature = nullptr;
  if (found.empty() || jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release_signature(jvmti, signature);
  return dotted_name(signature) + "." + found;
}

// Asks `name_in` about the program's classes on the current stack, innermost first, and returns the first name; with
// `innermost_only` it asks about the first class alone.
template <typename NameIn>
std::string name_on_stack(jvmtiEnv* jvmti, JNIEnv* jni, bool innermost_only, NameIn&& name_in) {
  std::array<jvmtiFrameInfo, kFramesMax> frames{};
  jint count = 0;
  if (jni->ExceptionCheck() || jni->PushLocalFrame(kFramesMax * 16) != JNI_OK) {
    jni->ExceptionClear();
    return {};
  }
  std::string name;
  if (jvmti->GetStackTrace(nullptr, 0, kFramesMax, frames.data(), &count) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count && name.empty(); ++i) {
    jclass type = nullptr;
    if (jvmti->GetMethodDeclaringClass(frames[i].method, &type) != JVMTI_ERROR_NONE) continue;
    if (!is_of_program(jvmti, jni, type)) continue;
    name = name_in(type);
    if (innermost_only) break;
  }
  jni->PopLocalFrame(nullptr);
  return name;
}

}  // namespace

std::string static_field_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool) {
  return name_on_stack(jvmti, jni, false, [&](jclass type) { return field_of_class(jvmti, jni, type, pool); });
}

std::string only_instance_field_for(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool) {
  return name_on_stack(jvmti, jni, true, [&](jclass type) { return only_field_of_class(jvmti, jni, type, pool); });
}

}  // namespace contrafact::agent_jvm
