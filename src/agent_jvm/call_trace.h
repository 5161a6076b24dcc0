// HotSpot's AsyncGetCallTrace, called by a thread for its own stack: several times cheaper than JVMTI's GetStackTrace,
// but it promises less. Frames may be missing at the end, and methods that nobody asked about have no id. So its result
// serves only as a key for the stack that GetStackTrace gives.
//
// Thread-safe.
#pragma once

#include <jni.h>

#include <cstdint>

namespace contrafact::agent_jvm {

// Layout of the JVM's own.
struct CallFrame {
  jint bci;  // negative: none, the method is native
  jmethodID method;
};

class CallTrace {
 public:
  // Looks for the function in the library that `vm` came from.
  explicit CallTrace(JavaVM* vm);

  // The innermost frames of the current thread, at most `wanted`. Returns how many, 0 or less if it cannot walk. Leaves
  // the padding of `frames` alone.
  jint walk(JNIEnv* jni, CallFrame* frames, jint wanted) const;

 private:
  struct Trace {
    JNIEnv* env;
    jint count;
    CallFrame* frames;
  };
  using Function = void (*)(Trace*, jint depth, void* ucontext);

  Function function_ = nullptr;
};

}  // namespace contrafact::agent_jvm
