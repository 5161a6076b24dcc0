#include "agent_jvm/natives.h"

#include <iterator>
#include <string>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/threads.h"

namespace contrafact::agent_jvm {
namespace {

Agent* g_agent = nullptr;  // native methods have no other way to it

std::string text_of(JNIEnv* jni, jstring text) {
  if (!text) return {};
  const char* chars = jni->GetStringUTFChars(text, nullptr);
  if (!chars) return {};
  std::string out = chars;
  jni->ReleaseStringUTFChars(text, chars);
  return out;
}

jlong JNICALL attach(JNIEnv* jni, jclass, jthread carrier) { return g_agent->threads->attach(jni, carrier); }

jlong JNICALL swap(JNIEnv*, jclass, jlong owner) { return Threads::swap(owner); }

jint JNICALL context(JNIEnv*, jclass) { return static_cast<jint>(g_agent->threads->context().value); }

jint JNICALL add_virtual_thread(JNIEnv* jni, jclass, jthread thread) { return g_agent->threads->add_virtual(jni, thread); }

jint JNICALL add_pool(JNIEnv* jni, jclass, jint kind, jstring name, jint core, jint max) {
  format::PoolRow row;
  row.name = g_agent->recorder->intern(text_of(jni, name));
  row.kind = static_cast<format::PoolKind>(kind);
  row.core_size = static_cast<uint32_t>(core);
  row.max_size = static_cast<uint32_t>(max);
  return static_cast<jint>(g_agent->recorder->add_pool(row).value);
}

jint JNICALL body(JNIEnv* jni, jclass, jclass type, jstring method, jstring descriptor) {
  return static_cast<jint>(g_agent->methods->find(jni, type, text_of(jni, method), text_of(jni, descriptor)).value);
}

template <typename Function>
JNINativeMethod native(const char* name, const char* descriptor, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(descriptor), reinterpret_cast<void*>(function)};
}

}  // namespace

bool register_natives(JNIEnv* jni, Agent& agent) {
  g_agent = &agent;
  jclass type = jni->FindClass(kEventsClass);
  const JNINativeMethod natives[] = {
      native("attach", "(Ljava/lang/Thread;)J", attach),
      native("swap", "(J)J", swap),
      native("context", "()I", context),
      native("addVirtualThread", "(Ljava/lang/Thread;)I", add_virtual_thread),
      native("addPool", "(ILjava/lang/String;II)I", add_pool),
      native("body", "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;)I", body),
  };
  const bool bound = type && jni->RegisterNatives(type, natives, std::size(natives)) == 0;
  if (!bound) jni->ExceptionClear();
  return bound;
}

}  // namespace contrafact::agent_jvm
