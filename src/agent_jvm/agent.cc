// The agent's entry and its JVMTI callbacks.
//
// What happens when: Agent_OnLoad checks the JVM, starts the recorder and hooks class loading, so that every class from
// Object on gets its probes; VMStart, the early one, defines the injected classes; VMInit binds the injected classes
// and switches them on; VMDeath switches them off and drains.
#include <jvmti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/analysis_mode.h"
#include "agent_jvm/code_sources.h"
#include "agent_jvm/contexts.h"
#include "agent_jvm/endpoints.h"
#include "agent_jvm/executor_locals.h"
#include "agent_jvm/flow.h"
#include "agent_jvm/injected_classes.h"
#include "agent_jvm/lock_makers.h"
#include "agent_jvm/locks.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/natives.h"
#include "agent_jvm/pools.h"
#include "agent_jvm/probes.h"
#include "agent_jvm/sets.h"
#include "agent_jvm/threads.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/own_descriptors.h"
#include "recorder/awake_report.h"

namespace contrafact::agent_jvm {

void say(std::string_view line) {
  std::fprintf(stderr, "contrafact: %.*s\n", static_cast<int>(line.size()), line.data());
}

std::string text_of(JNIEnv* jni, jstring text) {
  if (!text) return {};
  const char* chars = jni->GetStringUTFChars(text, nullptr);
  if (!chars) return {};
  std::string out = chars;
  jni->ReleaseStringUTFChars(text, chars);
  return out;
}

namespace {

constexpr int kJdkMin = 17;
constexpr int kJdkMax = 25;
// jvmtiCapabilities::can_support_virtual_threads, which headers before JDK 21 do not name: the bit behind
// can_generate_sampled_object_alloc_events.
constexpr int kVirtualThreadsBit = 44;

Agent* g_agent = nullptr;  // JVMTI callbacks have no other way to it; never destroyed

void JNICALL on_class_file(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject, const char* name, jobject domain,
                           jint length, const unsigned char* bytes, jint* new_length, unsigned char** new_bytes) {
  if (redefined) g_agent->contexts->classes_redefined();
  if (!name) return;  // a redefined class gets its probes again
  if (g_agent->live) g_agent->sources->note_if_main(jni, name, domain);
  g_agent->executor_locals->note(name, {bytes, static_cast<size_t>(length)});
  auto edited = g_agent->probes->instrument(name, {bytes, static_cast<size_t>(length)});
  if (!edited) return;
  unsigned char* memory = nullptr;
  if (jvmti->Allocate(static_cast<jlong>(edited->size()), &memory) != JVMTI_ERROR_NONE) return;
  std::memcpy(memory, edited->data(), edited->size());
  *new_bytes = memory;
  *new_length = static_cast<jint>(edited->size());
}

void set_flag(JNIEnv* jni, const char* class_name, const char* name, bool value) {
  jclass type = jni->FindClass(class_name);
  jfieldID field = type ? jni->GetStaticFieldID(type, name, "Z") : nullptr;
  if (field) jni->SetStaticBooleanField(type, field, value ? JNI_TRUE : JNI_FALSE);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

void set_live(JNIEnv* jni, bool live) {
  g_agent->live = live;
  set_flag(jni, kProbesClass, "live", live);
}

// Clears the pending exception: what it says, or what its first cause does.
std::string take_exception(JNIEnv* jni) {
  jthrowable thrown = jni->ExceptionOccurred();
  jni->ExceptionClear();
  if (!thrown) return "";
  jclass type = jni->FindClass("java/lang/Throwable");
  jmethodID to_string = type ? jni->GetMethodID(type, "toString", "()Ljava/lang/String;") : nullptr;
  jmethodID cause_of = to_string ? jni->GetMethodID(type, "getCause", "()Ljava/lang/Throwable;") : nullptr;
  constexpr int kCausesMax = 8;
  for (int i = 0; cause_of && i < kCausesMax; ++i) {
    auto* cause = static_cast<jthrowable>(jni->CallObjectMethod(thrown, cause_of));
    if (jni->ExceptionCheck() || !cause) break;
    thrown = cause;
  }
  auto* said = cause_of ? static_cast<jstring>(jni->CallObjectMethod(thrown, to_string)) : nullptr;
  const std::string text = jni->ExceptionCheck() ? "" : text_of(jni, said);
  jni->ExceptionClear();
  return text;
}

// False, with the reason, if the injected classes do not work on this JDK.
bool prepare_injected(JNIEnv* jni, std::string& why) {
  jclass type = jni->FindClass(kProbesClass);
  jmethodID method = type ? jni->GetStaticMethodID(type, "prepare", "()V") : nullptr;
  if (method) jni->CallStaticVoidMethod(type, method);
  if (!jni->ExceptionCheck()) return method != nullptr;
  why = take_exception(jni);
  return false;
}

void enable(jvmtiEvent event) {
  g_agent->jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
}

// Before the first Java code runs. Every class that is loaded from here on may call the injected ones.
void JNICALL on_vm_start(jvmtiEnv*, JNIEnv* jni) {
  std::string failed;
  if (define_injected_classes(jni, failed)) return;
  say("the JVM does not take the injected class " + failed + "; the program cannot be run with this agent");
  std::_Exit(1);
}

void JNICALL on_vm_init(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  std::string why;
  if (!bind_natives(jni, *g_agent) || !g_agent->threads->resolve(jni) || !prepare_injected(jni, why)) {
    say("the injected classes do not fit this JVM (" + property(g_agent->jvmti, "java.vm.version") +
        "), so it cannot be recorded" + (why.empty() ? "" : ": " + why));
    if (g_agent->options.strict) std::_Exit(1);
    return;
  }
  g_agent->sources->resolve(jni);
  g_agent->contexts->resolve(jni, thread);
  g_agent->locks->resolve(g_agent->vm, jni, thread, g_agent->jdk);
  g_agent->threads->attach(jni, thread);
  set_live(jni, true);
  if (g_agent->flow) set_flag(jni, kFlowClass, "wanted", true);
  if (g_agent->sets) set_flag(jni, kSetsClass, "wanted", true);
  for (jvmtiEvent event :
       {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
        JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED,
        JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH}) {
    enable(event);
  }
  // In the file before the program's first line: however soon it is killed, `record` knows that it began.
  g_agent->recorder->add_fact("jvm.up", "yes");
  g_agent->recorder->flush();
}

void add_context_facts() {
  const ContextTable::Facts facts = g_agent->contexts->facts();
  if (!facts.walk_missing.empty()) g_agent->recorder->add_fact("context.walk_missing", facts.walk_missing);
  if (!g_agent->options.compare_contexts) return;
  g_agent->recorder->add_fact("context.compared", std::to_string(facts.compared));
  g_agent->recorder->add_fact("context.different", std::to_string(facts.different));
}

void add_lock_facts() {
  const int64_t without_row = g_agent->locks->without_row();
  if (without_row > 0) g_agent->recorder->add_fact("locks.by_class", std::to_string(without_row));
}

void add_pool_facts() {
  const int64_t unrecorded = g_agent->pools->unrecorded_semaphores();
  if (unrecorded > 0) g_agent->recorder->add_fact("semaphores.untold", std::to_string(unrecorded));
}

void add_reuse_fact(JNIEnv* jni) {
  jclass type = jni->FindClass("java/lang/ContrafactContexts");
  jfieldID field = type ? jni->GetStaticFieldID(type, "reused", "J") : nullptr;
  if (field) g_agent->recorder->add_fact("context.reused", std::to_string(jni->GetStaticLongField(type, field)));
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

// docs/format.md: `recording.ns.KIND`.
void add_cost_facts(JNIEnv* jni) {
  jclass type = jni->FindClass("java/lang/ContrafactCosts");
  jmethodID cost_of = type ? jni->GetStaticMethodID(type, "of", "(I)I") : nullptr;
  for (const format::EventSchema& schema : format::kEventSchemas) {
    const jint ns = cost_of ? jni->CallStaticIntMethod(type, cost_of, static_cast<jint>(schema.kind)) : -1;
    if (jni->ExceptionCheck()) break;
    if (ns >= 0) g_agent->recorder->add_fact("recording.ns." + std::string(schema.name), std::to_string(ns));
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv* jni) {
  if (!g_agent->live) return;
  set_live(jni, false);
  add_reuse_fact(jni);
  add_context_facts();
  add_cost_facts(jni);
  add_pool_facts();
  add_lock_facts();
  g_agent->pinned.report(*g_agent->recorder);
  g_agent->probes->report();
  if (g_agent->sets) g_agent->sets->report();
  if (g_agent->flow) g_agent->flow->report();
  g_agent->recorder->stop("exit");
}

// AsyncGetCallTrace walks no stack unless somebody listens for this.
void JNICALL on_class_load(jvmtiEnv*, JNIEnv*, jthread, jclass) {}
void JNICALL on_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (g_agent->live) g_agent->threads->started(jni, thread);
}
void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (g_agent->live) g_agent->threads->ended(jni, thread);
}
void JNICALL on_monitor_enter(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject monitor) {
  if (!g_agent->live || !g_agent->threads->block_begin(jni, thread, format::BlockReason::monitor)) return;
  const auto id_of = [&](jthread owner) { return g_agent->threads->known(jni, owner); };
  g_agent->threads->blocked_on(jni, thread, g_agent->locks->contended(jni, monitor, id_of));
}
void JNICALL on_monitor_entered(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject) {
  if (g_agent->live) g_agent->threads->block_end(jni, thread, format::BlockReason::monitor);
}
void JNICALL on_monitor_wait(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject monitor, jlong) {
  if (!g_agent->live || !g_agent->threads->wait_begin(jni, thread, monitor)) return;
  g_agent->threads->blocked_on(jni, thread, g_agent->locks->waiting(jni, monitor));
}
void JNICALL on_monitor_waited(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject, jboolean timed_out) {
  if (g_agent->live) g_agent->threads->wait_end(jni, thread, timed_out == JNI_TRUE);
}
// At a safepoint, one at a time: one client will do.
void JNICALL on_gc_start(jvmtiEnv*) {
  if (g_agent->live) recorder::Recorder::append(g_agent->pauses, format::EventKind::pause_begin, base::monotonic_ns());
}
void JNICALL on_gc_finish(jvmtiEnv*) {
  if (g_agent->live) recorder::Recorder::append(g_agent->pauses, format::EventKind::pause_end, base::monotonic_ns());
}

base::Status check_jvm(Agent& agent) {
  const std::string name = property(agent.jvmti, "java.vm.name");
  const std::string version = property(agent.jvmti, "java.vm.specification.version");
  agent.jdk = std::atoi(version.c_str());
  const bool hotspot = name.find("HotSpot") != std::string::npos || name.find("OpenJDK") != std::string::npos;
  if (!hotspot || agent.jdk < kJdkMin || agent.jdk > kJdkMax) {
    return base::Error{"cannot record '" + name + "' " + version + ": supported are HotSpot and OpenJDK " +
                       std::to_string(kJdkMin) + " to " + std::to_string(kJdkMax)};
  }
  return {};
}

// Runs when a thread first asks for a ThreadLocal's value, and makes the thread's own. A larger pool makes more of
// them.
constexpr std::string_view kOwnValues = "java.lang.ThreadLocal.setInitialValue";

base::Status read_config(Agent& agent) {
  if (!agent.options.config.empty()) {
    auto text = base::read_file(agent.options.config);
    if (!text) return text.error();
    const std::string_view lines(reinterpret_cast<const char*>(text->data()), text->size());
    if (base::Status status = agent.config.add_lines(lines); !status) {
      return base::Error{agent.options.config + ": " + status.error().message};
    }
  }
  for (const std::string& pattern : agent.options.include) agent.config.add_include(pattern);
  for (const std::string& pattern : agent.options.exclude) agent.config.add_exclude(pattern);
  for (const std::string& pattern : agent.options.classes) agent.classes.add_include(pattern);
  return {};
}

base::Status add_capabilities(Agent& agent) {
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = 1;
  wanted.can_generate_early_class_hook_events = 1;
  wanted.can_generate_early_vmstart = 1;
  wanted.can_generate_monitor_events = 1;
  wanted.can_get_monitor_info = 1;
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_get_line_numbers = 1;
  wanted.can_get_source_file_name = 1;
  if (agent.jdk >= kJdkVirtualThreads) {
    reinterpret_cast<unsigned char*>(&wanted)[kVirtualThreadsBit / 8] |= 1u << (kVirtualThreadsBit % 8);
  }
  if (agent.jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return base::Error{"the JVM does not let an agent watch classes from the start; is another agent loaded?"};
  }
  return {};
}

// For the drainer, which has descriptors of its own where that can be.
void say_by_process(std::string_view line) {
  const int error = base::borrow_from_process(STDERR_FILENO);
  if (error < 0) return say(line);
  dprintf(error, "contrafact: %.*s\n", static_cast<int>(line.size()), line.data());
  close(error);
}

base::Status start_recorder(Agent& agent) {
  recorder::Options options;
  options.output_path = agent.options.output;
  options.keep_existing = agent.options.keep;
  options.memory_bytes_max = agent.options.memory_bytes_max;
  options.cpu_switches = agent.options.cpu_switches;
  options.command_arguments = agent.options.command;
  options.diagnostics = say_by_process;
  options.facts = {{"jvm.name", property(agent.jvmti, "java.vm.name")},
                   {"jvm.version", property(agent.jvmti, "java.vm.version")},
                   {"jvm.jdk", std::to_string(agent.jdk)},
                   {"locks.waits", "yes"},
                   {"context.depth_max", std::to_string(agent.options.context_depth_max)}};
  if (agent.options.warm) options.facts.push_back({"jvm.warm", "yes"});
  if (!agent.options.awake.empty()) {
    options.awake = recorder::AwakeReport::open(agent.options.awake);
    options.idle_cores = options.awake != nullptr;  // else what keeps them awake would be taken for other programs
  }
  auto started = recorder::Recorder::start(std::move(options));
  if (!started) return started.error();
  agent.recorder = std::move(*started);
  format::ThreadRow row;
  row.name = agent.recorder->intern("garbage collector");
  agent.pauses = agent.recorder->attach(row);
  agent.recorder->note_unattached(agent.pauses);
  return {};
}

base::Status hook(Agent& agent) {
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassFileLoadHook = on_class_file;
  callbacks.VMStart = on_vm_start;
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  callbacks.ClassLoad = on_class_load;
  callbacks.ThreadStart = on_thread_start;
  callbacks.ThreadEnd = on_thread_end;
  callbacks.MonitorContendedEnter = on_monitor_enter;
  callbacks.MonitorContendedEntered = on_monitor_entered;
  callbacks.MonitorWait = on_monitor_wait;
  callbacks.MonitorWaited = on_monitor_waited;
  callbacks.GarbageCollectionStart = on_gc_start;
  callbacks.GarbageCollectionFinish = on_gc_finish;
  agent.jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
  enable(JVMTI_EVENT_VM_START);
  enable(JVMTI_EVENT_VM_INIT);
  enable(JVMTI_EVENT_VM_DEATH);
  return {};
}

base::Status load(Agent& agent) {
  using Step = base::Status (*)(Agent&);
  for (Step step : {Step(check_jvm), Step(read_config)}) {
    if (base::Status status = step(agent); !status) return status;
  }
  if (!agent.options.analysis.empty()) return start_analysis(agent);
  agent.config.add_include(std::string(kOwnValues));
  for (Step step : {Step(add_capabilities), Step(start_recorder)}) {
    if (base::Status status = step(agent); !status) return status;
  }
  if (!agent.options.sets.empty()) {
    if (agent.options.flow) agent.flow = std::make_unique<Flow>(agent.options.memory_bytes_max, *agent.recorder);
    auto sets = Sets::make(agent.options.sets, agent.flow != nullptr, *agent.recorder);
    if (!sets) return sets.error();
    agent.sets = *std::move(sets);
  }
  agent.sources = std::make_unique<CodeSources>(agent.jvmti, *agent.recorder);
  agent.executor_locals = std::make_unique<ExecutorLocals>();
  agent.methods =
      std::make_unique<MethodTable>(agent.jvmti, agent.vm, *agent.recorder, *agent.sources, *agent.executor_locals);
  agent.contexts = std::make_unique<ContextTable>(agent.jvmti, agent.vm, *agent.methods, *agent.recorder,
                                                  agent.options.context_depth_max, agent.options.compare_contexts);
  agent.pools = std::make_unique<Pools>(agent.jvmti, *agent.recorder, agent.config);
  agent.endpoints = std::make_unique<Endpoints>(*agent.recorder);
  agent.lock_makers = std::make_unique<LockMakers>();
  agent.locks = std::make_unique<Locks>(agent.jvmti, *agent.recorder, *agent.contexts, *agent.lock_makers);
  agent.threads = std::make_unique<Threads>(agent);
  agent.probes = std::make_unique<Probes>(agent);
  return hook(agent);
}

}  // namespace

std::string property(jvmtiEnv* jvmti, const char* name) {
  char* value = nullptr;
  if (jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE || !value) return {};
  JvmtiMemory release(jvmti, value);
  return value;
}
}  // namespace contrafact::agent_jvm

// With strict=1 a program that cannot be recorded is not started either; otherwise it runs unrecorded.
extern "C" __attribute__((visibility("default"))) jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void*) {
  using namespace contrafact;
  using namespace contrafact::agent_jvm;
  auto options = parse_options(text ? text : "");
  if (!options) {
    say(options.error().message);
    return JNI_ERR;
  }
  auto* agent = new Agent;  // never deleted: threads may use it until the process is gone
  agent->vm = vm;
  agent->options = *options;
  g_agent = agent;
  if (vm->GetEnv(reinterpret_cast<void**>(&agent->jvmti), JVMTI_VERSION_11) != JNI_OK) {
    say("this JVM has no tool interface of version 11");
    return agent->options.strict ? JNI_ERR : JNI_OK;
  }
  if (base::Status status = load(*agent); !status) {
    say(status.error().message);
    return agent->options.strict ? JNI_ERR : JNI_OK;
  }
  return JNI_OK;
}

extern "C" __attribute__((visibility("default"))) void JNICALL Agent_OnUnload(JavaVM*) {}
