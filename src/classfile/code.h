// The body of one method in a form that can be edited: a list of instructions and labels.
//
// A label is a position between instructions; branches, exception ranges, line numbers, local variables and stack-map
// frames refer to labels only, so that inserting code moves them all. What jumps to an instruction enters at the label
// before it. Hence code inserted before that label runs only when control falls into it, code inserted between label
// and instruction also runs when something jumps there.
//
// Plain data, edited by instrument.cc; not thread-safe. Invariants:
// 1. Every label that is referred to is in `nodes` exactly once, in front of the end label or is the end label.
// 2. A label stands directly before every `new`: it names the objects made there that are not initialized yet.
// 3. Code views the ClassFile that it was parsed from (its bytes and its pool), which must outlive it.
// 4. Nothing reaches the class before encode() has succeeded and ClassFile::replace_code was called: a method for which
//    an edit fails is left as it was.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "classfile/bytecode.h"
#include "classfile/class_file.h"
#include "classfile/descriptor.h"
#include "classfile/frames.h"

namespace contrafact::classfile {

inline constexpr uint32_t kMaxCodeBytes = 65535;  // of one method, JVMS 4.7.3
inline constexpr uint32_t kHugeCodeBytes = 8000;  // HotSpot's HugeMethodLimit: it never compiles a longer method

struct Node {
  enum Kind : uint8_t { kLabel, kPlain, kBranch, kSwitch };
  static constexpr uint32_t kInserted = UINT32_MAX;

  Kind kind = kLabel;
  uint8_t opcode = 0;       // not for kLabel; for a wide instruction kWide
  LabelId label;            // kLabel: itself; kBranch: the target
  uint32_t offset = 0;      // kPlain: in Code::bytes; kSwitch: in Code::switches
  uint32_t length = 0;      // kPlain: in bytes
  uint32_t pc = kInserted;  // where it was in the original code
  bool is_instruction() const { return kind != kLabel; }
  bool is_original() const { return pc != kInserted; }
};

struct SwitchTable {
  LabelId default_target;
  int32_t low = 0;            // tableswitch
  std::vector<int32_t> keys;  // lookupswitch
  std::vector<LabelId> targets;
};

struct ExceptionEntry {
  LabelId start;
  LabelId end;
  LabelId handler;
  uint16_t catch_type = 0;  // a Class constant, or 0 for everything
};

struct LineEntry {
  LabelId start;
  uint16_t line = 0;
};

// Of a LocalVariableTable or LocalVariableTypeTable.
struct LocalEntry {
  LabelId start;
  LabelId end;
  uint16_t name = 0;
  uint16_t type = 0;
  uint16_t slot = 0;
};

struct CodeAttribute {
  enum Kind : uint8_t { kRaw, kLines, kLocals, kFrames };

  Kind kind = kRaw;
  uint16_t name_index = 0;
  Bytes raw;                       // kRaw: kept as it is
  std::vector<LineEntry> lines;    // kLines
  std::vector<LocalEntry> locals;  // kLocals
};

// What a rewritten body does not have any more, or has in another form.
struct CodeNotes {
  uint32_t attributes_dropped = 0;     // those that hold code offsets in ways we do not follow (type annotations,
                                       // StackMap): no JVM reads them from a Code attribute
  uint32_t debug_entries_dropped = 0;  // lines and local variables that pointed between instructions
  uint32_t branches_widened = 0;
};

struct Code {
  // Decodes a method's original body. Errors: no code (abstract, native), or malformed, with the place.
  static base::Result<Code> parse(const ClassFile& file, const Member& method);
  // The body of a method that does not exist yet, without any instruction.
  static base::Result<Code> empty(const ClassFile& file, uint16_t access, std::string_view name,
                                  std::string_view descriptor);

  // Content of the Code attribute. Fixes all offsets, widens branches that became too long, and gives frames to
  // inserted labels that need one. Errors: longer than 65,535 bytes, the pool is full, types that cannot be inferred.
  base::Result<std::vector<uint8_t>> encode(ConstantPool& pool);

  LabelId new_label() { return LabelId(label_count++); }
  // A local variable that the method does not use yet, defined in every frame from now on with this type: store to it
  // at entry, before the first label, and read it anywhere. Any kind of type; prefer java/lang/Object to other classes,
  // since the verifier may have to load them. At most one per value; the slot number is returned.
  uint32_t new_local(std::string_view descriptor);
  Bytes bytes_of(const Node& node) const { return Bytes(bytes).subspan(node.offset, node.length); }
  // The opcode below a wide prefix, or the opcode.
  uint8_t effective_opcode(const Node& node) const {
    return node.opcode == kWide ? bytes[node.offset + 1] : node.opcode;
  }
  bool this_starts_uninitialized() const { return entry.this_uninitialized(); }
  void raise_max_stack(uint32_t depth) { max_stack = depth > max_stack ? depth : max_stack; }

  std::string_view class_name;
  std::string_view method_name;
  uint16_t major_version = 0;
  uint16_t access = 0;
  MethodDescriptor descriptor;
  Frame entry;  // types on entry, as the descriptor gives them

  uint32_t max_stack = 0;
  uint32_t max_locals = 0;
  uint32_t original_max_stack = 0;
  std::vector<uint8_t> bytes;  // of plain instructions
  std::vector<Node> nodes;
  std::vector<SwitchTable> switches;
  uint32_t label_count = 0;
  std::unordered_map<LabelId, Frame> frames;  // explicit ones: the method's own, and those given by an edit
  bool has_frames = false;                    // the verifier wants frames of this method
  bool has_jsr = false;
  std::vector<ExceptionEntry> exceptions;
  std::vector<CodeAttribute> attributes;
  CodeNotes notes;
  std::deque<std::string> names;  // type names that are in no constant pool yet; frames view them
};

// Whether HotSpot would compile the first body and not the second one, which is too long. Both are contents of Code
// attributes: Member::code and what Code::encode() yields.
bool becomes_huge(Bytes original, Bytes edited);

}  // namespace contrafact::classfile
