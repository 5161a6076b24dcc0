#include "agent_jvm/natives.h"

#include <string>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/contexts.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/threads.h"

// Null arguments have no effect: the injected classes link all of these so. Found by name: the JVM searches its agents
// for the native methods of the boot loader's classes.
#define NATIVE extern "C" __attribute__((visibility("default")))

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

}  // namespace

NATIVE jlong JNICALL Java_java_lang_ContrafactEvents_attach(JNIEnv* jni, jclass, jthread carrier) {
  return carrier ? g_agent->threads->attach(jni, carrier) : 0;
}

NATIVE jlong JNICALL Java_java_lang_ContrafactEvents_swap(JNIEnv*, jclass, jlong owner) {
  return owner ? Threads::swap(owner) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_context(JNIEnv* jni, jclass) {
  return static_cast<jint>(g_agent->threads->context(jni).value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_makerContext(JNIEnv*, jclass) {
  return static_cast<jint>(g_agent->contexts->maker().value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_addVirtualThread(JNIEnv* jni, jclass, jthread thread) {
  return thread ? g_agent->threads->add_virtual(jni, thread) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_addPool(JNIEnv* jni, jclass, jint kind, jstring name, jint core,
                                                            jint max) {
  if (!name) return 0;
  format::PoolRow row;
  row.name = g_agent->recorder->intern(text_of(jni, name));
  row.kind = static_cast<format::PoolKind>(kind);
  row.core_size = static_cast<uint32_t>(core);
  row.max_size = static_cast<uint32_t>(max);
  return static_cast<jint>(g_agent->recorder->add_pool(row).value);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_body(JNIEnv* jni, jclass, jclass type, jstring method,
                                                         jstring descriptor) {
  if (!type) return 0;
  return static_cast<jint>(g_agent->methods->find(jni, type, text_of(jni, method), text_of(jni, descriptor)).value);
}

bool bind_natives(JNIEnv* jni, Agent& agent) {
  g_agent = &agent;
  jclass type = jni->FindClass(kEventsClass);
  if (!type) jni->ExceptionClear();
  return type != nullptr;
}

}  // namespace contrafact::agent_jvm
