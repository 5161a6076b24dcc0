// Rows of the trace's method table for the methods of the running program, and what the contexts need to know of them.
//
// Thread-safe (one lock; slow paths only).
#pragma once

#include <jvmti.h>

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent_jvm/code_sources.h"
#include "agent_jvm/executor_locals.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

struct MethodInfo {
  format::MethodId id;
  bool skip = false;        // injected code, or a class the JDK hides: never in a context
  bool boundary = false;    // runs the body of a task: a context ends here, its callers belong to another task
  bool of_library = false;  // of java.util.concurrent or Thread: does not count as the program's frame
  // The JVM may unload the class, and its memory may come to hold another method.
  bool may_be_unloaded = true;
  std::vector<jvmtiLineNumberEntry> lines;

  uint32_t line_at(jlocation location) const;
  uint32_t first_line() const;  // of the source
  // The frame of a first body whose second one runs: the method is on the stack twice (classfile/second_body.h).
  bool is_call_of_second_body(jlocation location) const;
};

class MethodTable {
 public:
  MethodTable(jvmtiEnv* jvmti, JavaVM* vm, recorder::Recorder& recorder, CodeSources& sources,
              ExecutorLocals& executor_locals)
      : jvmti_(jvmti), vm_(vm), recorder_(recorder), sources_(sources), executor_locals_(executor_locals) {}

  // Never fails: a method that cannot be asked about has an id of none and is skipped. The pointer stays valid.
  const MethodInfo* info(jmethodID method);

  // The row of a method of `type` or of the first of its superclasses that declares it; a synthetic bridge only where
  // there is nothing else. `descriptor` empty: any. A row without a line if there is no such method.
  format::MethodId find(JNIEnv* jni, jclass type, std::string_view name, std::string_view descriptor);

 private:
  MethodInfo describe(jmethodID method);
  bool is_of_lasting_loader(jclass type);
  jmethodID declared(jclass type, std::string_view name, std::string_view descriptor);
  format::MethodId row(std::string_view signature, std::string_view name, jclass type, uint32_t line);

  jvmtiEnv* jvmti_;
  JavaVM* vm_;
  recorder::Recorder& recorder_;
  CodeSources& sources_;
  ExecutorLocals& executor_locals_;
  std::mutex mutex_;
  std::unordered_map<jmethodID, std::unique_ptr<MethodInfo>> infos_;
};

// "Lshop/api/Feed;" -> "shop.api.Feed"
std::string dotted_name(std::string_view signature);

}  // namespace contrafact::agent_jvm
