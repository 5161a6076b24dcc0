#include "agent_jvm/call_trace.h"

#include <dlfcn.h>

namespace contrafact::agent_jvm {

CallTrace::CallTrace(JavaVM* vm) {
  Dl_info library{};
  if (!dladdr(reinterpret_cast<void*>(vm->functions->GetEnv), &library) || !library.dli_fname) return;
  void* handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return;
  function_ = reinterpret_cast<Function>(dlsym(handle, "AsyncGetCallTrace"));
  dlclose(handle);  // the JVM keeps it
}

jint CallTrace::walk(JNIEnv* jni, CallFrame* frames, jint wanted) const {
  if (!function_) return 0;
  Trace trace{jni, 0, frames};
  // No registers are needed: a thread in a native method or a callback has left its last Java frame with the JVM.
  function_(&trace, wanted, nullptr);
  return trace.count;
}

}  // namespace contrafact::agent_jvm
