#include "classfile/flow_sections.h"

#include <algorithm>

namespace contrafact::classfile {

namespace {

constexpr Opcode kSubtract = static_cast<Opcode>(100);  // isub
constexpr Opcode kIfNotLess = static_cast<Opcode>(162),
                 kIfNotGreater = static_cast<Opcode>(164);  // if_icmpge, if_icmple

}  // namespace

void FlowSections::begin_method(const std::vector<uint32_t>& inputs, Sequence& entry) {
  if (!out_.writing() || (!asks_depth_ && inputs.empty())) return;
  out_.call(entry, "depth", "()I");
  if (asks_depth_) {
    if (!inputs.empty()) entry.dup();
    entry.istore(out_.depth_local());
  }
  if (inputs.empty()) return;
  const Sequence::Label outside = entry.new_label();
  entry.branch(kIfle, outside);
  join_inputs(inputs, entry);
  entry.bind(outside);
}

void FlowSections::entered(size_t node, uint32_t locked, Beside& beside) {
  const std::vector<uint32_t> inputs = inputs_behind(node, locked);
  for (const uint32_t local : inputs) stack_.keep_on_stack(local, {}, beside.after);
  cross(inputs, {}, beside.guarded);
  for (const uint32_t local : inputs) stack_.set_tainted(local, true);
}

void FlowSections::left(size_t node, Beside& beside) {
  cross({}, outputs_at(node + 1), beside.guarded);
}

void FlowSections::called(size_t node, Sequence& after) {
  const std::vector<uint32_t> inputs = inputs_behind(node, 0);
  for (const uint32_t local : inputs) stack_.keep_on_stack(local, {}, after);
  cross(inputs, outputs_at(node + 1), after);
  for (const uint32_t local : inputs) stack_.set_tainted(local, true);
}

void FlowSections::caught(size_t node, Sequence& sequence) {
  cross({}, outputs_at(node), sequence);
}

// The locals that are live behind the node, without `this` and what holds the value of this number.
std::vector<uint32_t> FlowSections::inputs_behind(size_t node, uint32_t locked) const {
  std::vector<uint32_t> locals;
  for (const uint32_t local : graph_.read_locals()) {
    const bool is_this = local == 0 && keeps_this_;
    const bool is_locked = locked != 0 && stack_.value_of_local(local) == locked;
    if (!is_this && !is_locked && graph_.is_live(node + 1, local)) locals.push_back(local);
  }
  std::ranges::sort(locals);
  return locals;
}

// The taints that may not be empty, of what is live at the node and of what is on the stack.
std::vector<Taint> FlowSections::outputs_at(size_t node) const {
  std::vector<uint32_t> locals;
  for (const uint32_t local : graph_.read_locals()) {
    if (graph_.is_live(node, local) && stack_.tainted()[local]) locals.push_back(local);
  }
  std::ranges::sort(locals);
  std::vector<Taint> outputs;
  for (const uint32_t local : locals) outputs.push_back(stack_.taint_of_local(local));
  for (const StackSlot& slot : stack_.slots) {
    if (!slot.taint.empty()) outputs.push_back(slot.taint);
  }
  return outputs;
}

void FlowSections::join_inputs(const std::vector<uint32_t>& locals, Sequence& sequence) {
  if (locals.empty()) return;
  out_.call(sequence, "inputs", "()I");
  if (out_.writing()) sequence.istore(out_.inputs_local());
  for (const uint32_t local : locals) {
    const Shadow shadow = out_.shadow_of_local(local);
    if (out_.writing()) sequence.iload(out_.inputs_local());
    out_.load(sequence, Taint(shadow));
    out_.call(sequence, "joined", "(II)I");
    out_.store(sequence, shadow);
  }
}

void FlowSections::tell_outputs(const std::vector<Taint>& outputs, Sequence& sequence) {
  for (const Taint& output : outputs) {
    out_.load(sequence, output);
    out_.call(sequence, "output", "(I)V");
  }
}

// If the thread is in more sections than it was, the locals get what the last one's inputs get; if in fewer, the taints are told.
void FlowSections::cross(const std::vector<uint32_t>& inputs, const std::vector<Taint>& outputs, Sequence& sequence) {
  if (!out_.writing()) {
    join_inputs(inputs, sequence);
    tell_outputs(outputs, sequence);
    return;
  }
  out_.call(sequence, "depth", "()I");
  if (inputs.empty() && outputs.empty()) {
    sequence.istore(out_.depth_local());
    return;
  }
  // On the stack: how many there were, and how many there are.
  sequence.iload(out_.depth_local()).swap().dup().istore(out_.depth_local());
  const Sequence::Label end = sequence.new_label();
  if (outputs.empty()) {
    sequence.branch(kIfNotLess, end);
    join_inputs(inputs, sequence);
  } else if (inputs.empty()) {
    sequence.branch(kIfNotGreater, end);
    tell_outputs(outputs, sequence);
  } else {
    const Sequence::Label no_more = sequence.new_label();
    sequence.op(kSubtract).dup().branch(kIfge, no_more).pop();
    join_inputs(inputs, sequence);
    sequence.goto_(end).bind(no_more).branch(kIfle, end);
    tell_outputs(outputs, sequence);
  }
  sequence.bind(end);
}

}  // namespace contrafact::classfile
