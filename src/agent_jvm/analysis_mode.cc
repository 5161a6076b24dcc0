// What happens when: start_analysis makes the analysis and its processing and hooks class loading, so that every class
// from Object on gets its probes; VMStart defines the injected classes; VMInit learns sizes and switches the probes on;
// VMDeath switches them off, has the rest processed and lets the analysis write its result.
//
// Files: OUTPUT.profiling is locked while the JVM lives, so that the JVMs of one program do not write over each other;
// at the end it says how the run went, in lines `key=value`, for the tool. The analysis writes
// OUTPUT.part, which becomes OUTPUT.
#include "agent_jvm/analysis_mode.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/analysis_probes.h"
#include "agent_jvm/heap_sizes.h"
#include "agent_jvm/injected_classes.h"
#include "agent_jvm/native_method.h"
#include "base/clock.h"
#include "base/high_descriptor.h"
#include "online/plugin.h"
#include "online/processing.h"
#include "online/shared_contexts.h"
#include "online/shared_counts.h"

namespace contrafact::agent_jvm {
namespace {

// A carrier's field for the end of its buffer, once it has ended itself.
constexpr jlong kEnded = -1;

struct Mode {
  explicit Mode(Agent& agent) : agent(agent), sizes(agent.jvmti) {}

  Agent& agent;
  int status_file = -1;
  contrafact_host host{};
  online::MethodNames methods;
  online::ClassTable classes;
  std::optional<online::Analysis> analysis;
  std::unique_ptr<online::Processing> processing;
  online::SharedShards* direct = nullptr;  // where events are counted without being deferred
  std::unique_ptr<AnalysisProbes> probes;
  HeapSizes sizes;
  std::mutex describing;
  std::atomic<uint64_t> undescribed{0};  // allocations of classes whose size could not be learnt
  // ContrafactAnalysis.java says what they hold.
  jfieldID next = nullptr;
  jfieldID end = nullptr;
  jfieldID class_id = nullptr;
};

Mode* g_mode = nullptr;  // callbacks and native methods have no other way to it
thread_local deferred::Client* t_client = nullptr;

// ---- what the analysis may ask

int method_of(void* context, uint32_t id, contrafact_method* out) {
  const online::MethodName* method = static_cast<Mode*>(context)->methods.find(online::MethodId(id));
  if (!method) return 0;
  *out = {method->class_name.c_str(), method->name.c_str(), method->descriptor.c_str(), method->file.c_str(),
          method->line};
  return 1;
}

int class_of(void* context, uint32_t id, contrafact_class* out) {
  const online::ClassInfo* info = static_cast<Mode*>(context)->classes.find(online::ClassId(id));
  if (!info) return 0;
  *out = {info->name.c_str()};
  return 1;
}

// ---- start and end

// False if another JVM of the program is or was profiled: then this one is left alone.
base::Result<bool> lock_output(Mode& mode) {
  const Options& options = mode.agent.options;
  const std::string path = options.output + ".profiling";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (options.keep ? O_EXCL : 0), 0666);
  if (fd < 0 && errno != EEXIST) return base::Error{"cannot create '" + path + "': " + std::strerror(errno)};
  if (fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (fd >= 0) ::close(fd);
    say("only the first JVM of a program is profiled; process " + std::to_string(::getpid()) + " is not");
    return false;
  }
  if (::ftruncate(fd, 0) != 0) return base::Error{"cannot write '" + path + "': " + std::strerror(errno)};
  mode.status_file = base::moved_high(fd);
  return true;
}

base::Status make_analysis(Mode& mode) {
  const Options& options = mode.agent.options;
  auto found = online::find_analysis(options.analysis, options.processing);
  if (!found) return found.error();
  const contrafact_analysis& methods = **found;
  mode.host = {CONTRAFACT_ANALYSIS_VERSION, &mode, method_of, class_of, [](void*, const char* line) { say(line); }};
  void* self = nullptr;
  try {
    if (methods.create) self = methods.create(&mode.host, options.analysis_options.c_str());
  } catch (...) {
    return base::Error{"the analysis '" + options.analysis + "' threw an exception when it was created"};
  }
  if (methods.create && !self) return base::Error{"the analysis '" + options.analysis + "' refused to start"};
  mode.analysis.emplace(online::Analysis{methods, self, mode.classes});
  if (mode.agent.config.empty()) mode.agent.config.add_include("*");
  mode.probes = std::make_unique<AnalysisProbes>(mode.agent.jdk, mode.agent.config, methods, mode.methods);
  auto processing = online::Processing::start(options.processing, *mode.analysis);
  if (!processing) return processing.error();
  mode.processing = std::move(*processing);
  if (options.processing.processor == "direct") mode.direct = online::shared_of(methods, self);
  return {};
}

void set_live(JNIEnv* jni, bool live) {
  g_mode->agent.live = live;
  jclass type = jni->FindClass(kAnalysisClass);
  jfieldID field = type ? jni->GetStaticFieldID(type, "live", "Z") : nullptr;
  if (field) jni->SetStaticBooleanField(type, field, live ? JNI_TRUE : JNI_FALSE);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

bool resolve(JNIEnv* jni) {
  jclass thread = jni->FindClass("java/lang/Thread");
  jclass type = jni->FindClass("java/lang/Class");
  g_mode->next = thread ? jni->GetFieldID(thread, "contrafactNext", "J") : nullptr;
  g_mode->end = g_mode->next ? jni->GetFieldID(thread, "contrafactEnd", "J") : nullptr;
  g_mode->class_id = type && g_mode->end ? jni->GetFieldID(type, "contrafactClass", "I") : nullptr;
  jclass injected = g_mode->class_id ? jni->FindClass(kAnalysisClass) : nullptr;
  jmethodID prepare = injected ? jni->GetStaticMethodID(injected, "prepare", "()V") : nullptr;
  if (prepare) jni->CallStaticVoidMethod(injected, prepare);
  if (!jni->ExceptionCheck()) return prepare != nullptr;
  jni->ExceptionDescribe();
  jni->ExceptionClear();
  return false;
}

std::string finish(Mode& mode, const contrafact_run& run) {
  const std::string& output = mode.agent.options.output;
  const std::string part = output + ".part";
  const contrafact_analysis& methods = mode.analysis->methods;
  int failed = 0;
  try {
    failed = methods.finish(mode.analysis->self, part.c_str(), &run);
    if (methods.destroy) methods.destroy(mode.analysis->self);
  } catch (const std::exception& e) {
    return std::string("finish threw: ") + e.what();
  } catch (...) {
    return "finish threw an exception";
  }
  if (failed != 0) return "finish returned " + std::to_string(failed);
  if (::access(part.c_str(), F_OK) != 0) return {};  // an analysis that gave its result in another way
  if (::rename(part.c_str(), output.c_str()) != 0) return "cannot rename '" + part + "': " + std::strerror(errno);
  return {};
}

// `key=value`, one a line; no value has a line break.
void write_status(const Mode& mode, const contrafact_run& run, const std::string& first_failure,
                  const std::string& error) {
  std::string text;
  const auto add = [&](std::string_view key, std::string value) {
    std::replace(value.begin(), value.end(), '\n', ' ');
    text.append(key).append("=").append(value).append("\n");
  };
  add("events", std::to_string(run.events));
  add("lost", std::to_string(run.lost));
  add("failed", std::to_string(run.failed));
  add("methods", std::to_string(run.methods));
  add("refused", std::to_string(run.refused));
  add("unseen_sites", std::to_string(run.unseen_sites));
  for (const std::string& refusal : mode.probes->refusals()) add("refusal", refusal);
  if (!first_failure.empty()) add("first_failure", first_failure);
  if (!error.empty()) add("error", error);
  add("done", "1");
  const int file = mode.status_file;
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) < 0)
    say("cannot write how the run went");
}

void end(Mode& mode) {
  const int64_t ended_ns = base::monotonic_ns();
  mode.processing->stop();
  contrafact_run run{};
  run.rest_ns = static_cast<uint64_t>(base::monotonic_ns() - ended_ns);
  const online::Processing::Statistics statistics = mode.processing->statistics();
  run.events = statistics.events + (mode.direct ? mode.direct->events() : 0);
  run.lost = statistics.lost + mode.undescribed;
  run.failed = statistics.failed;
  run.buffers = statistics.buffers;
  run.buffer_bytes_max = statistics.buffer_bytes_max;
  run.consumers_cpu_ns = statistics.consumers_cpu_ns;
  run.methods = mode.methods.size();
  run.refused = mode.probes->refused();
  run.unseen_sites = mode.probes->unseen_sites();
  const std::string error = finish(mode, run);
  const std::string& name = mode.agent.options.analysis;
  if (run.failed != 0) {
    say("the analysis '" + name + "' threw " + std::to_string(run.failed) +
        " times; first: " + statistics.first_failure);
  }
  if (!error.empty()) say("the analysis '" + name + "' wrote no result: " + error);
  write_status(mode, run, statistics.first_failure, error);
}

// ---- JVMTI

void JNICALL on_class_file(jvmtiEnv* jvmti, JNIEnv*, jclass, jobject, const char* name, jobject, jint length,
                           const unsigned char* bytes, jint* new_length, unsigned char** new_bytes) {
  if (!name) return;
  auto edited = g_mode->probes->instrument(name, {bytes, static_cast<size_t>(length)});
  if (!edited) return;
  unsigned char* memory = nullptr;
  if (jvmti->Allocate(static_cast<jlong>(edited->size()), &memory) != JVMTI_ERROR_NONE) return;
  std::memcpy(memory, edited->data(), edited->size());
  *new_bytes = memory;
  *new_length = static_cast<jint>(edited->size());
}

void JNICALL on_vm_start(jvmtiEnv*, JNIEnv* jni) {
  std::string failed;
  if (define_analysis_classes(jni, failed)) return;
  say("the JVM does not take the injected class " + failed + "; the program cannot be run with this agent");
  std::_Exit(1);
}

void JNICALL on_vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread) {
  base::Status learnt = g_mode->sizes.learn(jni);
  if (!learnt || !resolve(jni)) {
    say(learnt ? "the injected classes do not fit this JVM, so it cannot be profiled" : learnt.error().message);
    if (g_mode->agent.options.strict) std::_Exit(1);
    return;
  }
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, nullptr);
  set_live(jni, true);
}

void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (!t_client) return;
  jni->SetLongField(thread, g_mode->end, kEnded);
  g_mode->processing->detach(t_client);
  t_client = nullptr;
}

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv* jni) {
  if (!g_mode->agent.live) return;
  set_live(jni, false);
  end(*g_mode);
}

base::Status hook(Agent& agent) {
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = 1;
  wanted.can_generate_early_class_hook_events = 1;
  wanted.can_generate_early_vmstart = 1;
  if (agent.jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return base::Error{"the JVM does not let an agent watch classes from the start; is another agent loaded?"};
  }
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassFileLoadHook = on_class_file;
  callbacks.VMStart = on_vm_start;
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  callbacks.ThreadEnd = on_thread_end;
  agent.jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (jvmtiEvent event :
       {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH}) {
    agent.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  return {};
}

jint describe(JNIEnv* jni, jclass type, jobject example) {
  char* signature = nullptr;
  if (g_mode->agent.jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return 0;
  JvmtiMemory release(g_mode->agent.jvmti, signature);
  auto info = g_mode->sizes.describe(jni, type, signature, example);
  if (!info) return 0;
  std::lock_guard lock(g_mode->describing);
  if (const jint known = jni->GetIntField(type, g_mode->class_id)) return known;
  const online::ClassInfo size = *info;
  const online::ClassId id = g_mode->classes.add(*std::move(info));
  if (!id.valid()) return 0;
  if (g_mode->direct && !g_mode->direct->add_class(id, size)) return 0;
  jni->SetIntField(type, g_mode->class_id, static_cast<jint>(id.value));
  return static_cast<jint>(id.value);
}

}  // namespace

base::Status start_analysis(Agent& agent) {
  auto mode = std::make_unique<Mode>(agent);
  auto locked = lock_output(*mode);
  if (!locked) return locked.error();
  if (!*locked) return {};
  if (base::Status made = make_analysis(*mode); !made) return made;
  g_mode = mode.release();
  return hook(agent);
}

// ---- the native methods of ContrafactAnalysisEvents; null arguments have no effect

NATIVE jint JNICALL Java_java_lang_ContrafactAnalysisEvents_modeOf(JNIEnv*, jclass) {
  constexpr jint kDeferred = 1, kDirect = 2, kContexts = 3, kDirectContexts = 4;  // ContrafactAnalysis.java
  if (online::wants_contexts(g_mode->analysis->methods)) return g_mode->direct ? kDirectContexts : kContexts;
  return g_mode->direct ? kDirect : kDeferred;
}

NATIVE jboolean JNICALL Java_java_lang_ContrafactAnalysisEvents_refill(JNIEnv* jni, jclass, jthread carrier) {
  if (!carrier || jni->GetLongField(carrier, g_mode->end) == kEnded) return JNI_FALSE;
  if (g_mode->direct) {
    jni->SetLongField(carrier, g_mode->next, reinterpret_cast<jlong>(g_mode->direct->next()));
    return JNI_TRUE;
  }
  if (!t_client) t_client = g_mode->processing->attach();
  const contrafact_buffer* buffer = t_client ? t_client->swap() : nullptr;
  if (!buffer) return JNI_FALSE;
  const auto words = static_cast<jlong>(buffer->column[0]);
  constexpr jlong kWordBytes = sizeof(uint64_t);
  jni->SetLongField(carrier, g_mode->next, words + kWordBytes * buffer->committed);
  jni->SetLongField(carrier, g_mode->end, words + kWordBytes * buffer->capacity);
  return JNI_TRUE;
}

// ContrafactDirect's: where it finds the sizes of classes, 0 if events are deferred; and the events that do not fit its
// tables.
NATIVE jlong JNICALL Java_java_lang_ContrafactDirect_classes(JNIEnv*, jclass) {
  return g_mode->direct ? reinterpret_cast<jlong>(g_mode->direct->classes()) : 0;
}

NATIVE void JNICALL Java_java_lang_ContrafactDirect_call(JNIEnv*, jclass, jlong shard, jint caller, jint callee) {
  if (shard == 0) return;
  static_cast<online::SharedCounts*>(g_mode->direct)
      ->call(*reinterpret_cast<online::SharedCounts::Shard*>(shard), static_cast<uint32_t>(caller),
             static_cast<uint32_t>(callee));
}

NATIVE void JNICALL Java_java_lang_ContrafactDirect_allocate(JNIEnv*, jclass, jlong shard, jint method, jlong bytes) {
  if (shard == 0) return;
  static_cast<online::SharedCounts*>(g_mode->direct)
      ->allocate(*reinterpret_cast<online::SharedCounts::Shard*>(shard), static_cast<uint32_t>(method),
                 {1, static_cast<uint64_t>(bytes)});
}

// ContrafactDirectContexts's: the events that do not fit its tables.
NATIVE void JNICALL Java_java_lang_ContrafactDirectContexts_call(JNIEnv*, jclass, jlong shard, jlong parent,
                                                                 jlong context, jint method) {
  if (shard == 0) return;
  static_cast<online::SharedContexts*>(g_mode->direct)
      ->call(*reinterpret_cast<online::SharedContexts::Shard*>(shard), static_cast<uint64_t>(parent),
             static_cast<uint64_t>(context), static_cast<uint32_t>(method));
}

NATIVE void JNICALL Java_java_lang_ContrafactDirectContexts_allocate(JNIEnv*, jclass, jlong shard, jlong context,
                                                                     jlong bytes) {
  if (shard == 0) return;
  static_cast<online::SharedContexts*>(g_mode->direct)
      ->allocate(*reinterpret_cast<online::SharedContexts::Shard*>(shard), static_cast<uint64_t>(context),
                 {1, static_cast<uint64_t>(bytes)});
}

NATIVE jint JNICALL Java_java_lang_ContrafactAnalysisEvents_describe(JNIEnv* jni, jclass, jclass type,
                                                                     jobject example) {
  if (!type) return 0;
  const jint id = describe(jni, type, example);
  if (id == 0) ++g_mode->undescribed;
  return id;
}

}  // namespace contrafact::agent_jvm
