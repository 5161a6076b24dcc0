#include "agent_jvm/stack_fields.h"

#include <array>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/method_table.h"

namespace contrafact::agent_jvm {
namespace {

constexpr jint kFramesMax = 24;
constexpr jint kAccStatic = 0x0008;

// The JDK's own classes do not hold the program's names.
bool is_of_program(jvmtiEnv* jvmti, JNIEnv* jni, jclass type) {
  jobject loader = nullptr;
  if (jvmti->GetClassLoader(type, &loader) != JVMTI_ERROR_NONE || !loader) return false;
  jni->DeleteLocalRef(loader);
  return true;
}

// "shop.Feed.pool"; empty if there is no field.
std::string with_class(jvmtiEnv* jvmti, jclass type, const std::string& field) {
  char* signature = nullptr;
  if (field.empty() || jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release(jvmti, signature);
  return dotted_name(signature) + "." + field;
}

// Calls `function(field, name, signature)` for the fields of `type` that are static, or are not.
template <typename Function>
void each_field(jvmtiEnv* jvmti, jclass type, bool is_static, Function function) {
  jint count = 0;
  jfieldID* fields = nullptr;
  if (jvmti->GetClassFields(type, &count, &fields) != JVMTI_ERROR_NONE) return;
  JvmtiMemory release(jvmti, fields);
  for (jint i = 0; i < count; ++i) {
    jint modifiers = 0;
    if (jvmti->GetFieldModifiers(type, fields[i], &modifiers) != JVMTI_ERROR_NONE) continue;
    if (((modifiers & kAccStatic) != 0) != is_static) continue;
    char* name = nullptr;
    char* signature = nullptr;
    if (jvmti->GetFieldName(type, fields[i], &name, &signature, nullptr) != JVMTI_ERROR_NONE) continue;
    JvmtiMemory release_name(jvmti, name), release_signature(jvmti, signature);
    function(fields[i], std::string_view(name), std::string_view(signature));
  }
}

bool is_injected(std::string_view signature) {
  return signature.starts_with("Ljava/lang/Contrafact");
}

// Asks `name_in` about the program's classes on the current stack, innermost first, and returns the first name; with
// `innermost_only` it asks about the first class alone. `passes`: whether it goes on behind such a class of the JDK's.
template <typename Passes, typename NameIn>
std::string name_on_stack(jvmtiEnv* jvmti, JNIEnv* jni, bool innermost_only, Passes&& passes, NameIn&& name_in) {
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
    if (!is_of_program(jvmti, jni, type)) {
      char* signature = nullptr;
      if (jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) break;
      JvmtiMemory release(jvmti, signature);
      if (!is_injected(signature) && !passes(std::string_view(signature))) break;
      continue;
    }
    name = name_in(type);
    if (innermost_only) break;
  }
  jni->PopLocalFrame(nullptr);
  return name;
}

}  // namespace

std::string static_field_on_stack(jvmtiEnv* jvmti, JNIEnv* jni, const std::function<bool(jobject value)>& is_it) {
  const auto any = [](std::string_view) { return true; };
  return name_on_stack(jvmti, jni, false, any, [&](jclass type) {
    std::string found;
    each_field(jvmti, type, true, [&](jfieldID field, std::string_view name, std::string_view signature) {
      if (!found.empty() || signature[0] != 'L') return;
      jobject value = jni->GetStaticObjectField(type, field);
      if (value && is_it(value)) found = name;
    });
    return with_class(jvmti, type, found);
  });
}

std::string only_instance_field_on_stack(jvmtiEnv* jvmti, JNIEnv* jni,
                                         const std::function<bool(std::string_view signature)>& may_hold,
                                         const std::function<bool(std::string_view signature)>& may_lie_between) {
  return name_on_stack(jvmti, jni, true, may_lie_between, [&](jclass type) {
    std::string found;
    bool several = false;
    each_field(jvmti, type, false, [&](jfieldID, std::string_view name, std::string_view signature) {
      if (!may_hold(signature)) return;
      several = several || !found.empty();
      found = name;
    });
    return several ? std::string() : with_class(jvmti, type, found);
  });
}

}  // namespace contrafact::agent_jvm
