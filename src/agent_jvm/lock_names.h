// Kinds and names of locks: the kind of an object that threads wait at, and its name in the program's source.
//
// Thread-safe after resolve(). Runs no Java code.
#pragma once

#include <jvmti.h>

#include <array>
#include <string>
#include <string_view>

#include "format/event.h"

namespace contrafact::agent_jvm {

struct LockName {
  format::LockKind kind = format::LockKind::synchronizer;
  std::string name;
};

class LockNames {
 public:
  explicit LockNames(jvmtiEnv* jvmti) : jvmti_(jvmti) {}

  // Finds the fields in which the JDK's locks keep their synchronizer. When Java code can run.
  void resolve(JNIEnv* jni);

  // Of an object that the current thread waits for. With `find_field` its field is looked for: slow.
  LockName of_monitor(JNIEnv* jni, jobject object, bool find_field) const;
  // `has_owner`: somebody holds it, alone.
  LockName of_synchronizer(JNIEnv* jni, jobject object, bool has_owner, bool find_field) const;

 private:
  // A class of the JDK's whose objects keep their synchronizer in a field.
  struct Keeper {
    jclass type = nullptr;  // global reference
    jfieldID synchronizer = nullptr;
  };
  static constexpr size_t kKeepers = 6;

  std::string signature_of(JNIEnv* jni, jobject object) const;
  bool is_of_jdk(JNIEnv* jni, jobject object) const;
  bool is_or_keeps(JNIEnv* jni, jobject value, jobject synchronizer) const;

  jvmtiEnv* jvmti_;
  std::array<Keeper, kKeepers> keepers_;
  jclass class_type_ = nullptr;  // java.lang.Class
};

// Of the outermost class that a class of the JDK's is nested in: "java.util.concurrent.locks.ReentrantLock" for its Sync.
std::string_view outer_name(std::string_view class_name);
// By the class's binary name.
format::LockKind synchronizer_kind(std::string_view class_name, bool has_owner);

}  // namespace contrafact::agent_jvm
