#include "agent_jvm/natives.h"

#include <string>
#include <string_view>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/contexts.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/pools.h"
#include "agent_jvm/threads.h"

// Null arguments have no effect: the injected classes link all of these so. Found by name: the JVM searches its agents
// for the native methods of the boot loader's classes.
#define NATIVE extern "C" __attribute__((visibility("default")))

namespace contrafact::agent_jvm {
namespace {

Agent* g_bound_agent = nullptr;  // native methods have no other way to it

// The method that runs a task: the one of the first listed class that the object is an instance of. If none: a
// function.
struct EntryPoint {
  const char* class_name;
  std::string_view method;
};
constexpr EntryPoint kEntryPoints[] = {
    {"java/util/concurrent/ForkJoinTask", "compute"},
    {"java/util/concurrent/Callable", "call"},
    {"java/lang/Runnable", "run"},
    {"java/util/function/Supplier", "get"},
    {"java/util/function/Consumer", "accept"},
    {"java/util/function/BiConsumer", "accept"},
};

// The body of a coroutine, which Kotlin's compiler makes a class of.
constexpr std::string_view kCoroutineBody = "invokeSuspend";

bool has_method(JNIEnv* jni, jobject code, std::string_view name, const char* descriptor) {
  const bool has = jni->GetMethodID(jni->GetObjectClass(code), std::string(name).c_str(), descriptor) != nullptr;
  if (!has) jni->ExceptionClear();
  return has;
}

std::string_view called_method(JNIEnv* jni, jobject code) {
  for (const EntryPoint& entry : kEntryPoints) {
    jclass type = jni->FindClass(entry.class_name);
    if (!type) jni->ExceptionClear();
    if (type && jni->IsInstanceOf(code, type)) return entry.method;
  }
  return has_method(jni, code, kCoroutineBody, "(Ljava/lang/Object;)Ljava/lang/Object;") ? kCoroutineBody : "apply";
}

}  // namespace

NATIVE jlong JNICALL Java_java_lang_ContrafactEvents_attach(JNIEnv* jni, jclass, jthread carrier) {
  return carrier ? g_bound_agent->threads->attach(jni, carrier) : 0;
}

NATIVE jlong JNICALL Java_java_lang_ContrafactEvents_swap(JNIEnv*, jclass, jlong owner) {
  return owner ? Threads::swap(owner) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_context(JNIEnv* jni, jclass) {
  return static_cast<jint>(g_bound_agent->threads->context(jni).value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_makerContext(JNIEnv*, jclass) {
  return static_cast<jint>(g_bound_agent->contexts->maker().value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_addVirtualThread(JNIEnv* jni, jclass, jthread thread) {
  return thread ? g_bound_agent->threads->add_virtual(jni, thread) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_addPool(JNIEnv* jni, jclass, jobject pool) {
  return pool ? g_bound_agent->pools->number(jni, pool) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_addThreads(JNIEnv* jni, jclass, jstring executor) {
  return executor ? g_bound_agent->pools->number_of_threads(text_of(jni, executor)) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_addPermits(JNIEnv*, jclass, jint available) {
  return available != INT32_MIN ? g_bound_agent->pools->number_of_permits(available) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_body(JNIEnv* jni, jclass, jclass type, jstring method,
                                                         jstring descriptor) {
  if (!type) return 0;
  return static_cast<jint>(
      g_bound_agent->methods->find(jni, type, text_of(jni, method), text_of(jni, descriptor)).value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_entryPoint(JNIEnv* jni, jclass, jobject code) {
  if (!code) return 0;
  return static_cast<jint>(
      g_bound_agent->methods->find(jni, jni->GetObjectClass(code), called_method(jni, code), {}).value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_nextWaiting(JNIEnv* jni, jclass, jobject monitor) {
  return monitor ? g_bound_agent->threads->next_waiting(jni, monitor) : -1;
}

bool bind_natives(JNIEnv* jni, Agent& agent) {
  g_bound_agent = &agent;
  jclass type = jni->FindClass(kEventsClass);
  if (!type) jni->ExceptionClear();
  return type != nullptr;
}

}  // namespace contrafact::agent_jvm
