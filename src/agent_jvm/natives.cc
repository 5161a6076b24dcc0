#include "agent_jvm/natives.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/contexts.h"
#include "agent_jvm/endpoint_name.h"
#include "agent_jvm/endpoints.h"
#include "agent_jvm/flow.h"
#include "agent_jvm/locks.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/native_method.h"
#include "agent_jvm/pools.h"
#include "agent_jvm/sets.h"
#include "agent_jvm/threads.h"
#include "classfile/class_file.h"
#include "recorder/sockets.h"

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

constexpr jlong kBeginOfElements = -1;  // as java/java/lang/ContrafactSetLog.java has it

std::string text_and_release(jvmtiEnv* jvmti, char* text) {
  JvmtiMemory release(jvmti, text);
  return text ? text : "";
}

// Of the fields that a class declares, the number of the one at `offset` of its objects; 0: none is there.
uint32_t own_field_at_offset(JNIEnv* jni, Agent& agent, jclass type, jlong offset, jclass log, jmethodID offset_of) {
  jint count = 0;
  jfieldID* fields = nullptr;
  if (agent.jvmti->GetClassFields(type, &count, &fields) != JVMTI_ERROR_NONE) return 0;
  JvmtiMemory release(agent.jvmti, fields);
  for (jint i = 0; i < count; ++i) {
    jint modifiers = 0;
    agent.jvmti->GetFieldModifiers(type, fields[i], &modifiers);
    if ((modifiers & classfile::kAccStatic) != 0) continue;
    jobject field = jni->ToReflectedField(type, fields[i], JNI_FALSE);
    const jlong found = field ? jni->CallStaticLongMethod(log, offset_of, field) : -1;
    jni->DeleteLocalRef(field);
    if (jni->ExceptionCheck()) jni->ExceptionClear();
    if (found != offset) continue;
    char *name = nullptr, *signature = nullptr;
    if (agent.jvmti->GetFieldName(type, fields[i], &name, nullptr, nullptr) != JVMTI_ERROR_NONE ||
        agent.jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) {
      return 0;
    }
    const std::string field_name = text_and_release(agent.jvmti, name);
    const std::string of_class = text_and_release(agent.jvmti, signature);
    return agent.sets->fields().number(std::string_view(of_class).substr(1, of_class.size() - 2), field_name);
  }
  return 0;
}

// Where the elements of an array of this class begin.
jlong begin_of_elements(JNIEnv* jni, jclass type) {
  jclass unsafe = jni->FindClass("jdk/internal/misc/Unsafe");
  jmethodID make = unsafe ? jni->GetStaticMethodID(unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;") : nullptr;
  jobject instance = make ? jni->CallStaticObjectMethod(unsafe, make) : nullptr;
  if (!instance) return 0;
  jmethodID as_int = jni->GetMethodID(unsafe, "arrayBaseOffset", "(Ljava/lang/Class;)I");
  if (as_int) return jni->CallIntMethod(instance, as_int, type);
  jni->ExceptionClear();  // from JDK 25 on it is a long
  jmethodID as_long = jni->GetMethodID(unsafe, "arrayBaseOffset", "(Ljava/lang/Class;)J");
  return as_long ? jni->CallLongMethod(instance, as_long, type) : 0;
}

// The number of an object's field by its offset; 0: none is there.
uint32_t field_at_offset(JNIEnv* jni, Agent& agent, jobject object, jlong offset) {
  jclass log = jni->FindClass("java/lang/ContrafactSetLog");
  jmethodID offset_of = log ? jni->GetStaticMethodID(log, "offsetOf", "(Ljava/lang/reflect/Field;)J") : nullptr;
  uint32_t number = 0;
  for (jclass type = jni->GetObjectClass(object); offset_of && type && number == 0; type = jni->GetSuperclass(type)) {
    number = own_field_at_offset(jni, agent, type, offset, log, offset_of);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return number;
}

// What a method without parameters returns, if that is a String; nothing that it throws goes on.
jstring string_by(JNIEnv* jni, jobject object, const std::string& getter) {
  jmethodID method = jni->GetMethodID(jni->GetObjectClass(object), getter.c_str(), "()Ljava/lang/String;");
  auto text = method ? static_cast<jstring>(jni->CallObjectMethod(object, method)) : nullptr;
  if (!jni->ExceptionCheck()) return text;
  jni->ExceptionClear();
  return nullptr;
}

}  // namespace

// Null arguments have no effect: the injected classes link all of these so.

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

NATIVE jint JNICALL Java_java_lang_ContrafactResources_addResource(JNIEnv* jni, jclass, jobject pool) {
  return pool ? g_bound_agent->pools->number_of_resource(jni, pool) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactResources_addKey(JNIEnv* jni, jclass, jobject pool, jobject key) {
  return pool ? g_bound_agent->pools->number_of_key(jni, pool, key) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactQueues_addQueue(JNIEnv* jni, jclass, jobject queue, jobject element,
                                                             jint size) {
  return queue ? g_bound_agent->pools->number_of_queue(jni, queue, element, size) : 0;
}

NATIVE void JNICALL Java_java_lang_ContrafactQueues_removeQueue(JNIEnv*, jclass, jint number) {
  if (number > 0) g_bound_agent->recorder->add_fact("resource.none." + std::to_string(number - 1), "1");
}

// Never freed, as ContrafactLocks' below.
NATIVE jlong JNICALL Java_java_lang_ContrafactResources_counts(JNIEnv*, jclass, jint bytes) {
  return reinterpret_cast<jlong>(std::calloc(static_cast<size_t>(bytes), 1));
}

NATIVE jint JNICALL Java_java_lang_ContrafactSockets_addConnection(JNIEnv*, jclass, jint descriptor, jint kind) {
  if (descriptor < 0) return -1;
  const auto row = recorder::connection_of(descriptor, static_cast<format::ConnectionKind>(kind));
  return row ? static_cast<jint>(g_bound_agent->recorder->add_connection(*row).value) + 1 : -1;
}

// Never freed, as the counts above.
NATIVE jlong JNICALL Java_java_lang_ContrafactEndpoints_places(JNIEnv*, jclass, jint bytes) {
  return reinterpret_cast<jlong>(std::calloc(static_cast<size_t>(bytes), 1));
}

NATIVE jint JNICALL Java_java_lang_ContrafactEndpoints_number(JNIEnv* jni, jclass, jstring method, jstring path,
                                                              jboolean pattern, jstring instead) {
  if (!path) return 0;
  const std::string verb = text_of(jni, method);
  const PathKind kind = pattern == JNI_TRUE ? PathKind::pattern : PathKind::sent;
  const std::string given = instead ? endpoint_name(verb, text_of(jni, instead) + "/*", PathKind::pattern) : "";
  return g_bound_agent->endpoints->number(endpoint_name(verb, text_of(jni, path), kind), kind == PathKind::pattern,
                                          given);
}

NATIVE jstring JNICALL Java_java_lang_ContrafactEndpoints_text(JNIEnv* jni, jclass, jobject object, jstring getter) {
  return object && getter ? string_by(jni, object, text_of(jni, getter)) : nullptr;
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

NATIVE void JNICALL Java_java_lang_ContrafactEvents_pinned(JNIEnv*, jclass, jint place, jlong blocked_ns) {
  if (blocked_ns > 0) g_bound_agent->pinned.note(format::ContextId(static_cast<uint32_t>(place)), blocked_ns);
}

NATIVE jint JNICALL Java_java_lang_ContrafactEvents_nextWaiting(JNIEnv* jni, jclass, jobject monitor) {
  return monitor ? g_bound_agent->threads->next_waiting(jni, monitor) : -1;
}

NATIVE jint JNICALL Java_java_lang_ContrafactLocks_synchronizer(JNIEnv* jni, jclass, jobject object,
                                                                jboolean has_owner) {
  return object ? g_bound_agent->locks->number_of_synchronizer(jni, object, has_owner == JNI_TRUE) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactLocks_monitor(JNIEnv* jni, jclass, jobject object) {
  return object ? g_bound_agent->locks->number_of_monitor(jni, object) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactLocks_waitSet(JNIEnv* jni, jclass, jobject object) {
  return object ? g_bound_agent->locks->number_of_wait_set(jni, object) : 0;
}

// Never freed: threads may use them until the process is gone. Pages that no lock uses take no memory.
NATIVE jlong JNICALL Java_java_lang_ContrafactLocks_releases(JNIEnv*, jclass, jint bytes) {
  return reinterpret_cast<jlong>(std::calloc(static_cast<size_t>(bytes), 1));
}

NATIVE jint JNICALL Java_java_lang_ContrafactLocks_placeOf(JNIEnv*, jclass, jthread holder) {
  return holder ? static_cast<jint>(g_bound_agent->locks->place_of(holder).value) : 0;
}

// Where sets are not asked for, they are called with nothing, while the injected classes are prepared.
NATIVE jlong JNICALL Java_java_lang_ContrafactSetLog_windows(JNIEnv*, jclass, jint which) {
  const Sets* sets = g_bound_agent->sets.get();
  return !sets ? 0 : which == 0 ? sets->window_ns() : sets->period_ns();
}

NATIVE jlong JNICALL Java_java_lang_ContrafactSetLog_take(JNIEnv*, jclass) {
  return g_bound_agent->sets ? reinterpret_cast<jlong>(g_bound_agent->sets->take()) : 0;
}

NATIVE void JNICALL Java_java_lang_ContrafactSetLog_give(JNIEnv*, jclass, jlong log) {
  if (log != 0) g_bound_agent->sets->give(reinterpret_cast<SetLog*>(log));
}

NATIVE jboolean JNICALL Java_java_lang_ContrafactSetLog_full(JNIEnv*, jclass, jlong log) {
  return log != 0 && g_bound_agent->sets->make_room(reinterpret_cast<SetLog*>(log)) ? JNI_TRUE : JNI_FALSE;
}

NATIVE void JNICALL Java_java_lang_ContrafactSetLog_emit(JNIEnv* jni, jclass, jlong log, jint thread, jlong time_ns,
                                                         jlong earliest_ns, jboolean is_last) {
  if (log == 0) return;
  const Sets::Segment& segment =
      g_bound_agent->sets->end_segment(reinterpret_cast<SetLog*>(log), time_ns, earliest_ns, is_last == JNI_TRUE);
  g_bound_agent->threads->accesses(jni, recorder::ThreadId(static_cast<uint32_t>(thread)), segment);
}

NATIVE jint JNICALL Java_java_lang_ContrafactSetLog_field(JNIEnv* jni, jclass, jobject object, jlong offset) {
  if (!object) return 0;
  const jlong found = offset == kBeginOfElements ? begin_of_elements(jni, jni->GetObjectClass(object))
                                                 : field_at_offset(jni, *g_bound_agent, object, offset);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return static_cast<jint>(found);
}

// Where flow is not asked for, there is no memory for it.
NATIVE jlong JNICALL Java_java_lang_ContrafactTaints_memory(JNIEnv*, jclass, jint which) {
  return g_bound_agent->flow ? g_bound_agent->flow->memory(which) : 0;
}

NATIVE jint JNICALL Java_java_lang_ContrafactTaints_declared(JNIEnv*, jclass, jint number) {
  if (!g_bound_agent->sets || number <= 0) return number;
  return static_cast<jint>(g_bound_agent->sets->fields().same_field(static_cast<uint32_t>(number)));
}

bool bind_natives(JNIEnv* jni, Agent& agent) {
  g_bound_agent = &agent;
  jclass type = jni->FindClass(kEventsClass);
  if (!type) jni->ExceptionClear();
  return type != nullptr;
}

}  // namespace contrafact::agent_jvm
