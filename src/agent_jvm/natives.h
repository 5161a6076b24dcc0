// The native methods of the injected classes.
#pragma once

#include <jni.h>

namespace contrafact::agent_jvm {

struct Agent;

// Before any of them is called. False: the injected classes are not there.
bool bind_natives(JNIEnv* jni, Agent& agent);

}  // namespace contrafact::agent_jvm
