// A tiny assembler: a sequence of instructions that the edits insert, any number of times.
//
//   Sequence entry(file.pool());
//   entry.aload(0).invokestatic("java/lang/Probe", "enter", "(Ljava/lang/Object;)V");
//
// Branches stay within the sequence, and their targets need no frame from the caller: the types are inferred when the
// method is encoded, from the first jump there. Hence all ways to a label must agree on the types of the stack and of
// the locals that are used later. Every label must be reachable.
//
// Not thread-safe. A sequence may be used for methods of the class whose pool it was made with only. An error (the pool
// is full) is kept until the sequence is inserted, which then fails.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "classfile/code.h"

namespace contrafact::classfile {

class Sequence {
 public:
  struct Label {
    uint32_t number = 0;
  };

  explicit Sequence(ConstantPool& pool) : pool_(&pool) {}

  // Instructions without operands. Use the named functions for all others.
  Sequence& op(Opcode opcode);
  Sequence& dup() { return op(kDup); }
  Sequence& dup2() { return op(kDup2); }
  Sequence& pop() { return op(kPop); }
  Sequence& pop2() { return op(kPop2); }
  Sequence& swap() { return op(kSwap); }
  Sequence& aconst_null() { return op(kAconstNull); }

  Sequence& iconst(int32_t value);
  Sequence& lconst(int64_t value);
  Sequence& ldc_string(std::string_view text);
  Sequence& ldc_class(std::string_view internal_name);  // needs class version 49

  Sequence& aload(uint32_t slot) { return local(kAload, slot); }
  Sequence& iload(uint32_t slot) { return local(kIload, slot); }
  Sequence& lload(uint32_t slot) { return local(kLload, slot); }
  Sequence& astore(uint32_t slot) { return local(kAstore, slot); }
  Sequence& istore(uint32_t slot) { return local(kIstore, slot); }
  Sequence& lstore(uint32_t slot) { return local(kLstore, slot); }
  // Of a value of the given type.
  Sequence& load(const TypeDescriptor& type, uint32_t slot);
  Sequence& store(const TypeDescriptor& type, uint32_t slot);

  Sequence& getfield(std::string_view owner, std::string_view name, std::string_view type) {
    return field(kGetfield, owner, name, type);
  }
  Sequence& putfield(std::string_view owner, std::string_view name, std::string_view type) {
    return field(kPutfield, owner, name, type);
  }
  Sequence& getstatic(std::string_view owner, std::string_view name, std::string_view type) {
    return field(kGetstatic, owner, name, type);
  }
  Sequence& putstatic(std::string_view owner, std::string_view name, std::string_view type) {
    return field(kPutstatic, owner, name, type);
  }

  // `in_interface`: the owner is an interface.
  Sequence& invokestatic(std::string_view owner, std::string_view name, std::string_view descriptor,
                         bool in_interface = false) {
    return invoke(kInvokestatic, owner, name, descriptor, in_interface);
  }
  Sequence& invokevirtual(std::string_view owner, std::string_view name, std::string_view descriptor) {
    return invoke(kInvokevirtual, owner, name, descriptor, false);
  }
  Sequence& invokespecial(std::string_view owner, std::string_view name, std::string_view descriptor,
                          bool in_interface = false) {
    return invoke(kInvokespecial, owner, name, descriptor, in_interface);
  }
  Sequence& invokeinterface(std::string_view owner, std::string_view name, std::string_view descriptor) {
    return invoke(kInvokeinterface, owner, name, descriptor, true);
  }

  Sequence& new_object(std::string_view internal_name);
  Sequence& checkcast(std::string_view internal_name) { return with_class(kCheckcast, internal_name); }
  Sequence& instance_of(std::string_view internal_name) { return with_class(kInstanceof, internal_name); }

  Label new_label() {
    unbound_labels_++;
    return {label_count_++};
  }
  // REQUIRES: not bound before; every label is bound once, before the sequence is used
  Sequence& bind(Label label);
  // REQUIRES: a branch opcode with a 16-bit offset, not jsr
  Sequence& branch(Opcode opcode, Label target);
  Sequence& ifeq(Label target) { return branch(kIfeq, target); }
  Sequence& ifne(Label target) { return branch(kIfne, target); }
  Sequence& ifnull(Label target) { return branch(kIfnull, target); }
  Sequence& ifnonnull(Label target) { return branch(kIfnonnull, target); }
  Sequence& goto_(Label target) { return branch(kGoto, target); }
  // Leaves the method with a value of this type, or with none for V.
  Sequence& return_value(const TypeDescriptor& type);

  bool empty() const { return nodes_.empty(); }
  // The depth that the operand stack reaches above where the sequence begins, in slots.
  uint32_t stack_growth() const { return static_cast<uint32_t>(deepest_); }

  // Appends the sequence to `nodes` with fresh labels; its bytes go to `code`. Raises code.max_locals as needed, not
  // max_stack, which depends on the place.
  base::Status append_to(Code& code, std::vector<Node>& nodes) const;

 private:
  Sequence& emit(std::initializer_list<uint32_t> bytes, int pops, int pushes);
  Sequence& local(Opcode opcode, uint32_t slot);
  Sequence& field(Opcode opcode, std::string_view owner, std::string_view name, std::string_view type);
  Sequence& invoke(Opcode opcode, std::string_view owner, std::string_view name, std::string_view descriptor,
                   bool in_interface);
  Sequence& with_class(Opcode opcode, std::string_view internal_name);
  uint16_t checked(uint16_t constant);
  void adjust_depth(int pops, int pushes);

  ConstantPool* pool_;
  std::vector<uint8_t> bytes_;
  std::vector<Node> nodes_;  // with labels and offsets of the sequence's own
  uint32_t label_count_ = 0;
  uint32_t unbound_labels_ = 0;
  uint32_t locals_ = 0;  // one more than the greatest slot used
  int depth_ = 0;        // against the start; may go below 0
  int deepest_ = 0;
  const char* error_ = nullptr;  // what went wrong while it was made
};

// The content of a Code attribute for a new method made of `body` alone: see ClassFile::add_method.
base::Result<std::vector<uint8_t>> assemble_method(ClassFile& file, uint16_t access, std::string_view name,
                                                   std::string_view descriptor, const Sequence& body);

}  // namespace contrafact::classfile
