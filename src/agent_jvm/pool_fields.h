// The name that the program's source gives an executor, where it is kept in a static field of a class on the current
// stack. Reads fields only: no Java code runs.
#pragma once

#include <jvmti.h>

#include <string>

namespace contrafact::agent_jvm {

// "shop.Feed.POOL"; empty if no class of the program among the innermost frames has such a field. A pool that the JDK's
// Executors wrapped is known by its wrapper.
std::string static_field_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool);

}  // namespace contrafact::agent_jvm
