// Where the program's classes were loaded from, as facts of the recording: they show whose code a place is
// (model/code_owners.h). Only fields are read: no Java code runs.
//
// Thread-safe (one lock; slow paths only).
#pragma once

#include <jvmti.h>

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class CodeSources {
 public:
  CodeSources(jvmtiEnv* jvmti, recorder::Recorder& recorder) : jvmti_(jvmti), recorder_(recorder) {}

  // When Java code can run. The main class, or the jar that was started, becomes a fact.
  void resolve(JNIEnv* jni);
  // Of a class with the name "shop.api.Feed". Nothing is noted of the JDK's classes, nor of those made at run time.
  void note(JNIEnv* jni, jclass type, std::string_view class_name);
  // The same when the class is being loaded, if it is the main class ("shop/Main"), whose methods may never be met.
  void note_if_main(JNIEnv* jni, std::string_view internal_name, jobject protection_domain) {
    if (internal_name == main_class_) note_domain(jni, protection_domain, main_name_);
  }

 private:
  void note_domain(JNIEnv* jni, jobject domain, std::string_view class_name);
  std::string source_of(JNIEnv* jni, jobject domain) const;
  std::string text_field(JNIEnv* jni, jobject object, jfieldID field) const;

  jvmtiEnv* jvmti_;
  recorder::Recorder& recorder_;
  std::string main_class_, main_name_;  // "shop/Main", "shop.Main"; empty: not known, or a jar
  jmethodID domain_native_ = nullptr;   // Class.getProtectionDomain0, a native method, before JDK 25
  jfieldID domain_ = nullptr;           // Class.protectionDomain, from JDK 25 on
  jfieldID code_source_ = nullptr, location_ = nullptr;
  jfieldID protocol_ = nullptr, host_ = nullptr, file_ = nullptr;

  std::mutex mutex_;
  std::unordered_set<std::string> noted_;                    // classes
  std::unordered_map<std::string, std::string> of_package_;  // its first class's source
};

}  // namespace contrafact::agent_jvm
