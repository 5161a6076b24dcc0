// The classes of java/, as they are in this library, and how they get into the JVM: defined in the boot loader before
// any Java code runs, so that a program needs no option for them and class-data sharing of the module system is not
// lost.
#pragma once

#include <jni.h>

#include <string>

namespace contrafact::agent_jvm {

// In the early start phase (VMStart). False: `failed` names the class that the JVM did not take.
bool define_injected_classes(JNIEnv* jni, std::string& failed);
// The same for those of the analysis mode.
bool define_analysis_classes(JNIEnv* jni, std::string& failed);

}  // namespace contrafact::agent_jvm
