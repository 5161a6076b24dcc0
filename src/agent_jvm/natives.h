// The native methods of the injected classes.
#pragma once

#include <jni.h>

namespace contrafact::agent_jvm {

struct Agent;

// Binds them. False: the injected classes are not there, or not the ones that belong to this agent.
bool register_natives(JNIEnv* jni, Agent& agent);

}  // namespace contrafact::agent_jvm
