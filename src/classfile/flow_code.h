// Writes the code that propagate_taints (flows.h) adds: loads, stores and unions of taints, calls of the tracker, and exception
// ranges around code that must not throw. Where the method is only looked through, it notes which locals' taints are needed.
//
// Not thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code.h"
#include "classfile/flow_state.h"
#include "classfile/sequence.h"

namespace contrafact::classfile {

// What is added around one instruction.
struct Beside {
  explicit Beside(ConstantPool& pool) : before(pool), after(pool), guarded(pool) {}
  bool empty() const { return before.empty() && after.empty() && guarded.empty(); }

  Sequence before, after;
  Sequence guarded;                       // comes last; what it throws is dropped
  std::vector<VerificationType> spilled;  // the operand stack meanwhile
};

class FlowCode {
 public:
  FlowCode(Code& code, ClassFile& file, std::string_view tracker);

  // From now on, code is written. Until then, nothing is.
  void begin_writing(bool asks_depth, bool asks_inputs);
  bool writing() const { return writing_; }

  Shadow shadow_of_local(uint32_t local) const { return local; }
  Shadow shadow_of_stack(size_t position) const { return locals_ + static_cast<Shadow>(position); }
  bool is_of_local(Shadow shadow) const { return shadow < locals_; }
  uint32_t depth_local() const { return depth_local_; }
  uint32_t inputs_local() const { return inputs_local_; }

  void load(Sequence& sequence, const Taint& taint);
  void store(Sequence& sequence, Shadow shadow);
  void number(Sequence& sequence, int32_t value) const {
    if (writing_) sequence.iconst(value);
  }
  void op(Sequence& sequence, Opcode opcode) const {
    if (writing_) sequence.op(opcode);
  }
  void call(Sequence& sequence, std::string_view name, std::string_view descriptor) const {
    if (writing_) sequence.invokestatic(tracker_, name, descriptor);
  }

  // The variables that hold something from the method's entry on get 0.
  void clear_variables(Sequence& entry, const std::vector<bool>& except) const;
  // The variable of this stack position is part of the frame at the label.
  void define_at(LabelId label, Shadow shadow);

  void put(const Node& node) { out_.push_back(node); }
  void append(const Sequence& sequence);
  void append_guarded(const Sequence& sequence, const std::vector<VerificationType>& stack);
  // At an exception handler's beginning.
  void append_guarded_at_handler(const Sequence& before, const Sequence& sequence);

  // Puts what was written in the place of the method's nodes.
  base::Status finish();

 private:
  uint32_t variable(Shadow shadow);
  uint32_t spill_local(size_t position);
  void guard(const Sequence& sequence);

  Code& code_;
  ClassFile& file_;
  const std::string_view tracker_;
  const Shadow locals_;
  bool writing_ = false;
  std::vector<bool> needed_;         // by local: its taint is loaded or stored somewhere
  std::vector<uint32_t> variables_;  // by shadow; kNone if there is none yet
  std::vector<uint32_t> spill_;      // by position of the operand stack
  uint32_t depth_local_ = 0, inputs_local_ = 0;
  std::vector<uint32_t> defined_;  // int variables that are part of every frame
  std::vector<Node> out_, handlers_;
  std::vector<ExceptionEntry> guards_;
  base::Status status_;
};

}  // namespace contrafact::classfile
