#include "agent_jvm/injected_classes.h"

#include <cstddef>
#include <span>

// clang-format off
#define EMBED(symbol, file)                                                  \
  asm(".pushsection .rodata\n"                                               \
      ".global contrafact_class_" #symbol "\n"                               \
      ".global contrafact_class_end_" #symbol "\n"                           \
      "contrafact_class_" #symbol ":\n"                                      \
      ".incbin \"" CONTRAFACT_CLASSES "/java/lang/" file ".class\"\n"        \
      "contrafact_class_end_" #symbol ":\n"                                  \
      ".popsection\n");                                                      \
  extern "C" __attribute__((visibility("hidden"))) const unsigned char contrafact_class_##symbol[]; \
  extern "C" __attribute__((visibility("hidden"))) const unsigned char contrafact_class_end_##symbol[];
// clang-format on

EMBED(analysis, "ContrafactAnalysis")
EMBED(analysis_events, "ContrafactAnalysisEvents")
EMBED(direct, "ContrafactDirect")
EMBED(direct_contexts, "ContrafactDirectContexts")
EMBED(contexts, "ContrafactContexts")
EMBED(costs, "ContrafactCosts")
EMBED(endpoints, "ContrafactEndpoints")
EMBED(events, "ContrafactEvents")
EMBED(executors, "ContrafactExecutors")
EMBED(flow, "ContrafactFlow")
EMBED(locks, "ContrafactLocks")
EMBED(outside, "ContrafactOutside")
EMBED(probes, "ContrafactProbes")
EMBED(queued, "ContrafactQueued")
EMBED(queued_node, "ContrafactQueued$Node")
EMBED(queues, "ContrafactQueues")
EMBED(queues_held, "ContrafactQueues$Held")
EMBED(queues_use, "ContrafactQueues$Use")
EMBED(resources, "ContrafactResources")
EMBED(sections, "ContrafactSections")
EMBED(semaphores, "ContrafactSemaphores")
EMBED(set_log, "ContrafactSetLog")
EMBED(sets, "ContrafactSets")
EMBED(sockets, "ContrafactSockets")
EMBED(stages, "ContrafactStages")
EMBED(taints, "ContrafactTaints")
EMBED(tasks, "ContrafactTasks")
EMBED(threads, "ContrafactThreads")

namespace contrafact::agent_jvm {
namespace {

struct Injected {
  const char* name;
  const unsigned char* begin;
  const unsigned char* end;
};

// A superclass before its subclasses; nothing else about the order matters, since defining does not link.
const Injected kInjected[] = {
    {"java/lang/ContrafactEvents", contrafact_class_events, contrafact_class_end_events},
    {"java/lang/ContrafactTasks", contrafact_class_tasks, contrafact_class_end_tasks},
    {"java/lang/ContrafactQueued$Node", contrafact_class_queued_node, contrafact_class_end_queued_node},
    {"java/lang/ContrafactQueued", contrafact_class_queued, contrafact_class_end_queued},
    {"java/lang/ContrafactContexts", contrafact_class_contexts, contrafact_class_end_contexts},
    {"java/lang/ContrafactCosts", contrafact_class_costs, contrafact_class_end_costs},
    {"java/lang/ContrafactProbes", contrafact_class_probes, contrafact_class_end_probes},
    {"java/lang/ContrafactExecutors", contrafact_class_executors, contrafact_class_end_executors},
    {"java/lang/ContrafactLocks", contrafact_class_locks, contrafact_class_end_locks},
    {"java/lang/ContrafactSections", contrafact_class_sections, contrafact_class_end_sections},
    {"java/lang/ContrafactSemaphores", contrafact_class_semaphores, contrafact_class_end_semaphores},
    {"java/lang/ContrafactResources", contrafact_class_resources, contrafact_class_end_resources},
    {"java/lang/ContrafactQueues$Use", contrafact_class_queues_use, contrafact_class_end_queues_use},
    {"java/lang/ContrafactQueues$Held", contrafact_class_queues_held, contrafact_class_end_queues_held},
    {"java/lang/ContrafactQueues", contrafact_class_queues, contrafact_class_end_queues},
    {"java/lang/ContrafactSockets", contrafact_class_sockets, contrafact_class_end_sockets},
    {"java/lang/ContrafactEndpoints", contrafact_class_endpoints, contrafact_class_end_endpoints},
    {"java/lang/ContrafactSetLog", contrafact_class_set_log, contrafact_class_end_set_log},
    {"java/lang/ContrafactSets", contrafact_class_sets, contrafact_class_end_sets},
    {"java/lang/ContrafactTaints", contrafact_class_taints, contrafact_class_end_taints},
    {"java/lang/ContrafactOutside", contrafact_class_outside, contrafact_class_end_outside},
    {"java/lang/ContrafactFlow", contrafact_class_flow, contrafact_class_end_flow},
    {"java/lang/ContrafactStages", contrafact_class_stages, contrafact_class_end_stages},
    {"java/lang/ContrafactThreads", contrafact_class_threads, contrafact_class_end_threads},
};

const Injected kForAnalyses[] = {
    {"java/lang/ContrafactAnalysisEvents", contrafact_class_analysis_events, contrafact_class_end_analysis_events},
    {"java/lang/ContrafactDirect", contrafact_class_direct, contrafact_class_end_direct},
    {"java/lang/ContrafactDirectContexts", contrafact_class_direct_contexts, contrafact_class_end_direct_contexts},
    {"java/lang/ContrafactAnalysis", contrafact_class_analysis, contrafact_class_end_analysis},
};

bool define(JNIEnv* jni, std::span<const Injected> classes, std::string& failed) {
  for (const Injected& injected : classes) {
    const auto length = static_cast<jsize>(injected.end - injected.begin);
    jclass defined = jni->DefineClass(injected.name, nullptr, reinterpret_cast<const jbyte*>(injected.begin), length);
    if (!defined) {
      jni->ExceptionClear();
      failed = injected.name;
      return false;
    }
    jni->DeleteLocalRef(defined);
  }
  return true;
}

}  // namespace

bool define_injected_classes(JNIEnv* jni, std::string& failed) {
  return define(jni, kInjected, failed);
}

bool define_analysis_classes(JNIEnv* jni, std::string& failed) {
  return define(jni, kForAnalyses, failed);
}

}  // namespace contrafact::agent_jvm
