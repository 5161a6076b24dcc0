// Stack-map frames: for the verifier, the types of locals and operand stack at a point of the code.
//
// Frames are held expanded and by slot (a long takes its own slot and one kSecondHalf), so that a local can be looked
// up by its number; the compressed delta encoding of JVMS 4.7.4 exists only while reading and writing.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strong_id.h"
#include "classfile/bytes.h"
#include "classfile/constant_pool.h"
#include "classfile/descriptor.h"

namespace contrafact::classfile {

// A position in a method's code that moves along with it; see code.h.
using LabelId = base::StrongId<struct LabelTag>;

struct VerificationType {
  // Up to kUninitialized the numbers of the format.
  enum Tag : uint8_t {
    kTop = 0,
    kInteger = 1,
    kFloat = 2,
    kDouble = 3,
    kLong = 4,
    kNull = 5,
    kUninitializedThis = 6,
    kObject = 7,
    kUninitialized = 8,
    kSecondHalf = 9,      // of the long or double in the slot before
    kReturnAddress = 10,  // of a jsr: in old classes only, never in a frame
  };

  Tag tag = kTop;
  uint16_t class_index = 0;     // kObject: its constant, or 0 if it has none yet
  LabelId new_site;             // kUninitialized: before the `new` that made it
  std::string_view class_name;  // kObject: internal form

  static VerificationType object(std::string_view name) { return {kObject, 0, LabelId(), name}; }
  bool is_wide() const { return tag == kLong || tag == kDouble; }
  bool operator==(const VerificationType& other) const {
    return tag == other.tag && new_site == other.new_site && class_name == other.class_name;
  }
};

struct Frame {
  std::vector<VerificationType> locals;
  std::vector<VerificationType> stack;

  bool operator==(const Frame&) const = default;
  // flagThisUninit of JVMS 4.10.1.4: a constructor that has not called another one yet.
  bool this_uninitialized() const;
};

// A type that is stored to a local variable and loaded from it by the same instructions as a value of this one.
TypeDescriptor stored_like(const VerificationType& type);
// Appends what a value of this type occupies: one slot, two, or none for V.
void push_type(std::vector<VerificationType>& slots, const TypeDescriptor& type);
// Sets locals[slot] and its second half, growing `locals` with kTop as needed; destroys longs that it cuts in two.
void set_local(std::vector<VerificationType>& locals, size_t slot, const VerificationType& type);

// The frame on entry to a method. `initialized_this` is for java/lang/Object's constructor, which has nothing to call.
Frame entry_frame(std::string_view class_name, bool is_static, bool this_uninitialized,
                  const MethodDescriptor& descriptor);

struct FrameAt {
  uint32_t pc = 0;
  Frame frame;
};

// Decodes the content of a StackMapTable. `label_at` yields the label of the instruction at a pc, or none() if there is
// no instruction. Refuses more than `max_locals` local slots or `max_stack` stack slots in a frame.
base::Result<std::vector<FrameAt>> read_frames(Bytes content, const ConstantPool& pool, const Frame& entry,
                                               uint32_t max_stack, uint32_t max_locals,
                                               const std::function<LabelId(uint32_t)>& label_at);

// Encodes frames in order of pc, as compactly as the format allows; `pc_of` yields where a `new` now is. Adds class
// constants as needed.
// REQUIRES: pcs increase
base::Result<std::vector<uint8_t>> write_frames(const std::vector<FrameAt>& frames, const Frame& entry,
                                                ConstantPool& pool, const std::function<uint32_t(LabelId)>& pc_of);

}  // namespace contrafact::classfile
