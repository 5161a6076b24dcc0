// How much room objects take in this JVM's heap, exactly: measured on examples, since it depends on the JDK and on
// flags (compressed pointers, compact headers, alignment).
//
// Thread-safe after learn().
#pragma once

#include <jvmti.h>

#include <optional>

#include "base/result.h"
#include "online/names.h"

namespace contrafact::agent_jvm {

class HeapSizes {
 public:
  explicit HeapSizes(jvmtiEnv* jvmti) : jvmti_(jvmti) {}

  // Measures arrays of every kind of element. Once, when the JVM is initialized.
  base::Status learn(JNIEnv* jni);

  // Of a class with this signature ("Lshop/Feed;", "[I"). `example`: an object of it; without one, one is made, without
  // any of its code being run. Nothing if the JVM has no memory for it.
  std::optional<online::ClassInfo> describe(JNIEnv* jni, jclass type, std::string_view signature,
                                            jobject example) const;

 private:
  struct ArrayLayout {
    uint64_t header_bytes = 0;
    uint32_t element_bytes = 0;
  };
  std::optional<uint64_t> size_of(jobject object) const;
  std::optional<uint64_t> array_bytes(JNIEnv* jni, char element, jint length) const;
  bool learn(JNIEnv* jni, char element);

  jvmtiEnv* jvmti_;
  uint32_t align_bytes_ = 0;
  ArrayLayout arrays_[128];  // by the signature of the element; '[' as 'L'
};

// "Lshop/api/Feed;" -> "shop.api.Feed", "[[I" -> "int[][]"
std::string source_name(std::string_view signature);

}  // namespace contrafact::agent_jvm
