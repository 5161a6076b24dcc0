#include "agent_jvm/heap_sizes.h"

#include <algorithm>
#include <string_view>

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kElements = "ZBCSIJFDL";
// Longer than any alignment (256, by -XX:ObjectAlignmentInBytes), and a multiple of it.
constexpr jint kLength = 1024;

jobject new_array(JNIEnv* jni, char element, jint length) {
  switch (element) {
    case 'Z':
      return jni->NewBooleanArray(length);
    case 'B':
      return jni->NewByteArray(length);
    case 'C':
      return jni->NewCharArray(length);
    case 'S':
      return jni->NewShortArray(length);
    case 'I':
      return jni->NewIntArray(length);
    case 'J':
      return jni->NewLongArray(length);
    case 'F':
      return jni->NewFloatArray(length);
    case 'D':
      return jni->NewDoubleArray(length);
    default: {
      jclass object = jni->FindClass("java/lang/Object");
      return object ? jni->NewObjectArray(length, object, nullptr) : nullptr;
    }
  }
}

std::string_view primitive_name(char signature) {
  constexpr std::string_view kNames[] = {"boolean", "byte", "char", "short", "int", "long", "float", "double"};
  const size_t place = kElements.find(signature);
  return place < std::size(kNames) ? kNames[place] : std::string_view("?");
}

}  // namespace

std::string source_name(std::string_view signature) {
  const size_t dimensions = std::min(signature.find_first_not_of('['), signature.size());
  std::string_view element = signature.substr(dimensions);
  std::string name;
  if (element.starts_with('L') && element.ends_with(';')) {
    name = element.substr(1, element.size() - 2);
    std::replace(name.begin(), name.end(), '/', '.');
  } else {
    name = primitive_name(element.empty() ? '?' : element[0]);
  }
  for (size_t i = 0; i < dimensions; ++i) name += "[]";
  return name;
}

std::optional<uint64_t> HeapSizes::size_of(jobject object) const {
  jlong bytes = 0;
  if (!object || jvmti_->GetObjectSize(object, &bytes) != JVMTI_ERROR_NONE) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::optional<uint64_t> HeapSizes::array_bytes(JNIEnv* jni, char element, jint length) const {
  jobject array = new_array(jni, element, length);
  const auto bytes = size_of(array);
  if (array) jni->DeleteLocalRef(array);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return bytes;
}

// An array of n elements takes header + n * element bytes, rounded up. Where the size first grows, at n = grows, header
// + (n - 1) * element is at most the size of the empty array, and less than one element below it; since alignment is a
// multiple of the element's size, every header in that range gives the same sizes.
bool HeapSizes::learn(JNIEnv* jni, char element) {
  const auto empty = array_bytes(jni, element, 0);
  const auto full = array_bytes(jni, element, kLength);
  if (!empty || !full || *full <= *empty) return false;
  ArrayLayout layout;
  layout.element_bytes = static_cast<uint32_t>((*full - *empty) / kLength);
  jint grows = 1;
  while (grows < kLength && array_bytes(jni, element, grows) == empty) ++grows;
  layout.header_bytes = *empty - static_cast<uint64_t>(grows - 1) * layout.element_bytes;
  arrays_[static_cast<size_t>(element)] = layout;
  return true;
}

base::Status HeapSizes::learn(JNIEnv* jni) {
  // Two neighbouring sizes of byte arrays differ by the alignment.
  const auto empty = array_bytes(jni, 'B', 0);
  jint length = 1;
  auto next = empty;
  while (length < kLength && next == empty) next = array_bytes(jni, 'B', length++);
  if (empty && next) align_bytes_ = static_cast<uint32_t>(*next - *empty);
  bool good = align_bytes_ != 0 && (align_bytes_ & (align_bytes_ - 1)) == 0;
  for (const char element : kElements) good = good && learn(jni, element);
  if (!good) return base::Error{"this JVM does not tell the sizes of its arrays"};
  return {};
}

std::optional<online::ClassInfo> HeapSizes::describe(JNIEnv* jni, jclass type, std::string_view signature,
                                                     jobject example) const {
  online::ClassInfo info;
  info.name = source_name(signature);
  if (signature.starts_with('[')) {
    const char element = signature[1] == '[' ? 'L' : signature[1];
    const ArrayLayout& layout = arrays_[static_cast<size_t>(element)];
    info.base_bytes = layout.header_bytes;
    info.element_bytes = layout.element_bytes;
    info.align_bytes = align_bytes_;
    return info;
  }
  jobject made = example ? nullptr : jni->AllocObject(type);
  const auto bytes = size_of(example ? example : made);
  if (made) jni->DeleteLocalRef(made);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (!bytes) return std::nullopt;
  info.base_bytes = *bytes;
  return info;
}

}  // namespace contrafact::agent_jvm
