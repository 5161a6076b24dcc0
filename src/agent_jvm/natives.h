// The native methods of the injected classes.
#pragma once

#include <jvmti.h>

namespace contrafact::agent_jvm {

struct Agent;

// ContrafactBuffer.attach: gives the current carrier its first buffer, whose address it returns; 0: it can have none.
using Attach = jlong (*)(JNIEnv*, jthread carrier);
void bind_attach(Attach attach);

// Before any of the others is called. False: the injected classes are not there.
bool bind_natives(JNIEnv* jni, Agent& agent);

}  // namespace contrafact::agent_jvm
