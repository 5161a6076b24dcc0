// A walk over the physical frames of the current thread's own stack: compiled, interpreted and native methods as
// HotSpot lays them out on x86-64. It distinguishes frames; only JVMTI says what they are (contexts.h). An order of
// magnitude cheaper than asking the JVM, which turns every frame into methods and checks all it meets.
//
// Thread-safe after resolve(). Invariants:
//  1. Reads only the thread's own stack, the fields of its JavaThread and the headers in the code cache, whose memory
//     the JVM never gives back. What it reads of the stack lies between the last Java frame and the stack's base.
//  2. Each step goes towards the base, so a walk ends.
//  3. Whatever looks different from what is described here ends the walk without a result: a deoptimised frame, a stub,
//     the part of a virtual thread's stack that lies in the heap, a JVM that does not describe itself.
//  4. Two walks that met equal frames met the same methods at the same bytecodes. A compiled method is known by its
//     compilation's number, which is never used twice, and its return address; an interpreted one by the addresses of
//     the method and of the bytecode, which last until its class is unloaded or redefined.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace contrafact::agent_jvm {

class VmStructs;

class FrameWalk {
 public:
  struct Position {
    const uintptr_t* sp = nullptr;
    const uintptr_t* fp = nullptr;  // what the frame pointer holds; used only where it must be one
    uintptr_t pc = 0;
    const uintptr_t* base = nullptr;  // the stack's end
  };
  enum class Kind { unknown, compiled, interpreted, bottom };
  // What a frame is known by, of a compiled one together with its Code.
  struct Key {
    uintptr_t at = 0;      // the return address, or the address of the bytecode
    uintptr_t method = 0;  // interpreted
    bool operator==(const Key&) const = default;
  };
  // Of a compiled or native method.
  struct Code {
    const int32_t* compile_id_at = nullptr;
    int32_t compile_id = 0;
    uint32_t frame_words = 0;
    // Not if the memory holds another compilation by now.
    bool is_valid() const { return __atomic_load_n(compile_id_at, __ATOMIC_RELAXED) == compile_id; }
  };

  // Learns how this JVM lays out its data; `thread` is the current thread. Returns what is missing: then nothing is
  // ever walked. To be called once, when Java code can run.
  std::string resolve(JavaVM* vm, JNIEnv* jni, jobject thread);

  // The current thread's innermost Java frame. False: it cannot be walked.
  bool begin(JNIEnv* jni, Position& position) const;
  // The kind of the frame at `position`, which leaves frames that are no method's.
  Kind classify(Position& position) const;
  static Key key(Kind kind, const Position& position);
  // To the caller. False: the caller cannot be found.
  static bool leave_compiled(Position& position, uint32_t frame_words);
  static bool leave_interpreted(Position& position);
  // The compiled method that `pc` lies in, where it was called something from. False if there is none.
  bool find_code(uintptr_t pc, Code& code) const;

 private:
  struct Offsets {
    size_t java_thread = 0;  // from a JavaThread to its JNIEnv
    size_t anchor = 0, last_sp = 0, last_pc = 0, last_fp = 0;
    size_t stack_base = 0, stack_size = 0;
    size_t wrapper_anchor = 0;
    size_t heap_memory = 0, heap_segments = 0, heap_segment_shift = 0, space_low = 0, space_high = 0;
    size_t block_used = 0, block_header = 0;
    size_t blob_name = 0, blob_size = 0, blob_frame_size = 0;
    size_t stub_section = 0, compile_id = 0;
    ptrdiff_t entry_wrapper = 0;  // in words, from an entry frame's pointer
  };

  // An interpreted frame on x86-64, JDK 17 to 25, in words from its frame pointer (HotSpot's frame_x86.hpp; not
  // exported):
  //
  //   +1 return address | 0 caller's frame pointer | -1 caller's stack pointer | ... | -3 method | ... | -8 bytecode
  static constexpr ptrdiff_t kReturnAddress = 1;
  static constexpr ptrdiff_t kSenderSp = -1;
  static constexpr ptrdiff_t kMethod = -3;
  static constexpr ptrdiff_t kBytecode = -8;

  static bool is_aligned(const void* address) { return reinterpret_cast<uintptr_t>(address) % sizeof(uintptr_t) == 0; }
  // Whether the frame pointer can be one, with `below` words of its frame under it.
  static bool has_frame_pointer(const Position& position, ptrdiff_t below) {
    return is_aligned(position.fp) && position.fp >= position.sp + below &&
           position.fp < position.base - kReturnAddress;
  }
  void read_offsets(VmStructs& vm);
  bool find_code_areas(VmStructs& vm);
  const char* find_blob(uintptr_t pc) const;
  bool leave_entry(Position& position, bool& is_bottom) const;

  bool resolved_ = false;
  Offsets at_;
  uintptr_t interpreter_begin_ = 0, interpreter_end_ = 0;
  uintptr_t call_stub_return_ = 0;
  const char* const* heaps_ = nullptr;
  int heap_count_ = 0;
};

// The parts of each step, inline: a context takes a dozen steps.

inline FrameWalk::Kind FrameWalk::classify(Position& position) const {
  while (position.pc == call_stub_return_) [[unlikely]] {  // each turn goes towards the stack's base
    bool is_bottom = false;
    if (!leave_entry(position, is_bottom)) return Kind::unknown;
    if (is_bottom) return Kind::bottom;
  }
  if (position.pc < interpreter_begin_ || position.pc >= interpreter_end_) return Kind::compiled;
  return has_frame_pointer(position, -kBytecode) ? Kind::interpreted : Kind::unknown;
}

inline FrameWalk::Key FrameWalk::key(Kind kind, const Position& position) {
  if (kind == Kind::compiled) return {position.pc, 0};
  if (kind == Kind::interpreted) return {position.fp[kBytecode], position.fp[kMethod]};
  return {};
}

// The return address is the last word of a frame, the caller's frame pointer the one before.
inline bool FrameWalk::leave_compiled(Position& position, uint32_t frame_words) {
  if (position.base - position.sp <= static_cast<ptrdiff_t>(frame_words)) return false;
  position.sp += frame_words;
  position.pc = position.sp[-1];
  position.fp = reinterpret_cast<const uintptr_t*>(position.sp[-2]);
  return true;
}

inline bool FrameWalk::leave_interpreted(Position& position) {
  const auto* sp = reinterpret_cast<const uintptr_t*>(position.fp[kSenderSp]);
  if (!is_aligned(sp) || sp <= position.fp + kReturnAddress || sp >= position.base) return false;
  position.pc = position.fp[kReturnAddress];
  position.fp = reinterpret_cast<const uintptr_t*>(position.fp[0]);
  position.sp = sp;
  return true;
}

}  // namespace contrafact::agent_jvm
