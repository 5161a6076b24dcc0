#include "agent_jvm/frame_walk.h"

#include <dlfcn.h>

#include <cstring>

#include "agent_jvm/vm_structs.h"

namespace contrafact::agent_jvm {
namespace {

constexpr size_t kJavaThreadBytesMax = 1 << 14;     // its JNIEnv lies within
constexpr size_t kStackBytesMax = size_t{1} << 30;  // a JVM's limit of -Xss, too
constexpr uint32_t kFrameWordsMax = 1 << 16;
constexpr unsigned char kSegmentFree = 0xff;

template <typename Value>
Value field(const void* object, size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

// The library that the JVM's functions come from.
void* library_of(JavaVM* vm) {
  Dl_info library{};
  if (!dladdr(reinterpret_cast<void*>(vm->functions->GetEnv), &library) || !library.dli_fname) return nullptr;
  return dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

std::string FrameWalk::resolve(JavaVM* vm, JNIEnv* jni, jobject thread) {
#if !defined(__x86_64__)
  return "an x86-64 processor";
#endif
  void* library = library_of(vm);
  if (!library) return "the JVM's library";
  VmStructs vm_structs(library);
  read_offsets(vm_structs);
  const bool complete = vm_structs.missing().empty() && find_code_areas(vm_structs);
  dlclose(library);  // the JVM keeps it
  if (!vm_structs.missing().empty()) return vm_structs.missing();
  if (!complete) return "the code cache";

  jclass type = jni->FindClass("java/lang/Thread");
  jfieldID java_thread = type ? jni->GetFieldID(type, "eetop", "J") : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (!java_thread) return "java.lang.Thread.eetop";
  at_.java_thread = reinterpret_cast<uintptr_t>(jni) - static_cast<uintptr_t>(jni->GetLongField(thread, java_thread));
  if (at_.java_thread > kJavaThreadBytesMax) return "JavaThread's environment";
  resolved_ = true;
  return {};
}

void FrameWalk::read_offsets(VmStructs& vm) {
  at_.anchor = vm.offset("JavaThread", "_anchor");
  at_.last_sp = vm.offset("JavaFrameAnchor", "_last_Java_sp");
  at_.last_pc = vm.offset("JavaFrameAnchor", "_last_Java_pc");
  at_.last_fp = vm.offset("JavaFrameAnchor", "_last_Java_fp");
  at_.stack_base = vm.offset("JavaThread", "_stack_base");
  at_.stack_size = vm.offset("JavaThread", "_stack_size");
  at_.wrapper_anchor = vm.offset("JavaCallWrapper", "_anchor");
  at_.heap_memory = vm.offset("CodeHeap", "_memory");
  at_.heap_segments = vm.offset("CodeHeap", "_segmap");
  at_.heap_segment_shift = vm.offset("CodeHeap", "_log2_segment_size");
  at_.space_low = vm.offset("VirtualSpace", "_low");
  at_.space_high = vm.offset("VirtualSpace", "_high");
  at_.block_used = vm.offset("HeapBlock", "_header") + vm.offset("HeapBlock::Header", "_used");
  at_.block_header = vm.size_of("HeapBlock");
  at_.blob_name = vm.offset("CodeBlob", "_name");
  at_.blob_size = vm.offset("CodeBlob", "_size");
  at_.blob_frame_size = vm.offset("CodeBlob", "_frame_size");
  at_.stub_section = vm.offset("nmethod", "_stub_offset");
  at_.compile_id = vm.offset("nmethod", "_compile_id");
  at_.entry_wrapper = vm.constant("frame::entry_frame_call_wrapper_offset");
}

bool FrameWalk::find_code_areas(VmStructs& vm) {
  const void* heaps = vm.address("CodeCache", "_heaps");
  const size_t array_length = vm.offset("GrowableArrayBase", "_len");
  const size_t array_data = vm.offset("GrowableArray<int>", "_data");
  const void* interpreter = vm.address("AbstractInterpreter", "_code");
  const size_t stub_buffer = vm.offset("StubQueue", "_stub_buffer");
  const size_t stub_limit = vm.offset("StubQueue", "_buffer_limit");
  const void* call_stub_return = vm.address("StubRoutines", "_call_stub_return_address");
  if (!vm.missing().empty()) return false;
  const void* const array = field<const void*>(heaps, 0);
  const void* const stubs = field<const void*>(interpreter, 0);
  if (!array || !stubs) return false;
  heaps_ = field<const char* const*>(array, array_data);
  heap_count_ = field<int>(array, array_length);
  interpreter_begin_ = field<uintptr_t>(stubs, stub_buffer);
  interpreter_end_ = interpreter_begin_ + static_cast<uintptr_t>(field<int>(stubs, stub_limit));
  call_stub_return_ = field<uintptr_t>(call_stub_return, 0);
  return true;
}

bool FrameWalk::begin(JNIEnv* jni, Position& position) const {
  if (!resolved_) return false;
  const char* thread = reinterpret_cast<const char*>(jni) - at_.java_thread;
  const char* anchor = thread + at_.anchor;
  position.base = field<const uintptr_t*>(thread, at_.stack_base);
  position.sp = field<const uintptr_t*>(anchor, at_.last_sp);
  position.fp = field<const uintptr_t*>(anchor, at_.last_fp);
  position.pc = field<uintptr_t>(anchor, at_.last_pc);
  const auto* here = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  const size_t stack_bytes = field<size_t>(thread, at_.stack_size);
  if (!is_aligned(position.sp) || !is_aligned(position.base) || position.sp <= here || position.sp >= position.base ||
      stack_bytes > kStackBytesMax || static_cast<size_t>(position.base - here) * sizeof(uintptr_t) > stack_bytes) {
    return false;
  }
  if (position.pc == 0) position.pc = position.sp[-1];
  return true;
}

// A frame through which the JVM called Java code. It keeps where the Java code below had stopped.
bool FrameWalk::leave_entry(Position& position, bool& is_bottom) const {
  if (!has_frame_pointer(position, -at_.entry_wrapper)) return false;
  const auto* wrapper = reinterpret_cast<const uintptr_t*>(position.fp[at_.entry_wrapper]);
  if (!is_aligned(wrapper) || wrapper <= position.fp ||
      wrapper + (at_.wrapper_anchor + at_.last_fp) / sizeof(uintptr_t) >= position.base) {
    return false;
  }
  const char* anchor = reinterpret_cast<const char*>(wrapper) + at_.wrapper_anchor;
  const auto* sp = field<const uintptr_t*>(anchor, at_.last_sp);
  is_bottom = sp == nullptr;
  if (is_bottom) return true;
  if (!is_aligned(sp) || sp <= position.fp || sp >= position.base) return false;
  position.sp = sp;
  position.fp = field<const uintptr_t*>(anchor, at_.last_fp);
  position.pc = field<uintptr_t>(anchor, at_.last_pc);
  if (position.pc == 0) position.pc = sp[-1];
  return true;
}

// A heap is cut into segments. Each byte of its map says how many segments to go back towards the beginning of the
// block that the segment is part of. The code at `pc` is on the stack, so its block stays what it is.
const char* FrameWalk::find_blob(uintptr_t pc) const {
  for (int i = 0; i < heap_count_; ++i) {
    const char* heap = heaps_[i];
    const char* memory = heap + at_.heap_memory;
    const uintptr_t low = field<uintptr_t>(memory, at_.space_low);
    if (pc < low || pc >= field<uintptr_t>(memory, at_.space_high)) continue;
    const auto* map = field<const unsigned char*>(heap + at_.heap_segments, at_.space_low);
    const int shift = field<int>(heap, at_.heap_segment_shift);
    uintptr_t segment = (pc - low) >> shift;
    while (map[segment] != 0) {
      if (map[segment] == kSegmentFree || map[segment] > segment) return nullptr;
      segment -= map[segment];
    }
    const char* block = reinterpret_cast<const char*>(low + (segment << shift));
    return field<bool>(block, at_.block_used) ? block + at_.block_header : nullptr;
  }
  return nullptr;
}

bool FrameWalk::find_code(uintptr_t pc, Code& code) const {
  const char* blob = find_blob(pc);
  if (!blob) return false;
  const uintptr_t offset = pc - reinterpret_cast<uintptr_t>(blob);
  if (offset >= static_cast<uintptr_t>(field<int>(blob, at_.blob_size))) return false;
  const char* name = field<const char*>(blob, at_.blob_name);
  if (!name || (std::strcmp(name, "nmethod") != 0 && std::strcmp(name, "native nmethod") != 0)) return false;
  // Behind the method's own code lie its stubs. A frame that is to be deoptimised returns to one of them.
  if (offset >= static_cast<uintptr_t>(field<int>(blob, at_.stub_section))) return false;
  const int frame_words = field<int>(blob, at_.blob_frame_size);
  if (frame_words < 2 || frame_words > static_cast<int>(kFrameWordsMax)) return false;
  code.compile_id_at = reinterpret_cast<const int32_t*>(blob + at_.compile_id);
  code.compile_id = *code.compile_id_at;
  code.frame_words = static_cast<uint32_t>(frame_words);
  return code.compile_id > 0;  // other compilers than the JVM's own may give none
}

}  // namespace contrafact::agent_jvm
