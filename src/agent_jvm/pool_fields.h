// The name that the program's source gives an executor, where it is kept in a field of a class on the current stack.
// Reads fields only: no Java code runs.
#pragma once

#include <jvmti.h>

#include <string>

namespace contrafact::agent_jvm {

// "shop.Feed.POOL"; empty if no class of the program among the innermost frames has such a field. A pool that the JDK's
// Executors wrapped is known by its wrapper.
std::string static_field_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool);

// "shop.Feed.pool" of the innermost class of the program: its one instance field whose type is an executor's and that
// the pool fits into; empty if it has none or several. Whether an object's field really holds this pool is not checked:
// there is no receiver at hand.
std::string only_instance_field_for(jvmtiEnv* jvmti, JNIEnv* jni, jobject pool);

}  // namespace contrafact::agent_jvm
