// What all parts of the agent share, made once in Agent_OnLoad and never destroyed: the process may use it until its
// very end. Threads: `live` is atomic, the rest is set before the first callback that reads it.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "agent_jvm/options.h"
#include "agent_jvm/pinned.h"
#include "agent_jvm/trace_config.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class CodeSources;
class Endpoints;
class ExecutorLocals;
class Flow;
class MethodTable;
class ContextTable;
class LockMakers;
class Locks;
class Pools;
class Sets;
class Threads;
class Probes;

struct Agent {
  JavaVM* vm = nullptr;
  jvmtiEnv* jvmti = nullptr;
  int jdk = 0;  // feature release: 17, 21, ...
  Options options;
  TraceConfig config;
  TraceConfig classes;  // whose critical sections are recorded
  std::unique_ptr<recorder::Recorder> recorder;
  std::unique_ptr<CodeSources> sources;
  std::unique_ptr<ExecutorLocals> executor_locals;
  std::unique_ptr<MethodTable> methods;
  std::unique_ptr<ContextTable> contexts;
  std::unique_ptr<Pools> pools;
  std::unique_ptr<Endpoints> endpoints;
  std::unique_ptr<LockMakers> lock_makers;
  std::unique_ptr<Locks> locks;
  std::unique_ptr<Flow> flow;  // null: not asked for, as sets
  std::unique_ptr<Sets> sets;
  std::unique_ptr<Threads> threads;
  PinnedBlocks pinned;
  std::unique_ptr<Probes> probes;
  recorder::Client* pauses = nullptr;  // stream of the garbage collections
  std::atomic<bool> live{false};       // between VMInit and VMDeath
};

// Feature release of the first JDK with virtual threads in its final form.
constexpr int kJdkVirtualThreads = 21;

// The injected classes.
constexpr char kEventsClass[] = "java/lang/ContrafactEvents";
constexpr char kProbesClass[] = "java/lang/ContrafactProbes";
constexpr char kLocksClass[] = "java/lang/ContrafactLocks";
constexpr char kEndpointsClass[] = "java/lang/ContrafactEndpoints";
constexpr char kExecutorsClass[] = "java/lang/ContrafactExecutors";
constexpr char kSectionsClass[] = "java/lang/ContrafactSections";
constexpr char kSetsClass[] = "java/lang/ContrafactSets";
constexpr char kFlowClass[] = "java/lang/ContrafactFlow";
constexpr char kOutsideClass[] = "java/lang/ContrafactOutside";
constexpr char kQueuesClass[] = "java/lang/ContrafactQueues";
constexpr char kResourcesClass[] = "java/lang/ContrafactResources";
constexpr char kSemaphoresClass[] = "java/lang/ContrafactSemaphores";
constexpr char kSocketsClass[] = "java/lang/ContrafactSockets";
constexpr char kStagesClass[] = "java/lang/ContrafactStages";
constexpr char kThreadsClass[] = "java/lang/ContrafactThreads";

// A Java string in UTF-8; empty for null.
std::string text_of(JNIEnv* jni, jstring text);

// One line on standard error.
void say(std::string_view line);

// jvmti->Deallocate at the end of a scope.
class JvmtiMemory {
 public:
  JvmtiMemory(jvmtiEnv* jvmti, void* memory) : jvmti_(jvmti), memory_(memory) {}
  ~JvmtiMemory() {
    if (memory_) jvmti_->Deallocate(static_cast<unsigned char*>(memory_));
  }
  JvmtiMemory(const JvmtiMemory&) = delete;
  JvmtiMemory& operator=(const JvmtiMemory&) = delete;

 private:
  jvmtiEnv* jvmti_;
  void* memory_;
};

// Of the virtual machine; empty when it has none of that name.
std::string property(jvmtiEnv* jvmti, const char* name);

}  // namespace contrafact::agent_jvm
