// The taints at one point of a method, as propagate_taints (flows.h) goes through it: what instructions do to them.
//
// A taint on the operand stack is a union of variables, to be loaded where it is used; a local's is in the variable of that local.
//
// Not thread-safe. Invariants:
// 1. The variable of a local that may be tainted holds its taint, if the local is live. If it may not, it holds the empty one.
// 2. What a variable holds does not change while a slot's taint refers to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "classfile/code.h"
#include "classfile/flow_code.h"
#include "classfile/flow_graph.h"
#include "classfile/flow_state.h"

namespace contrafact::classfile {

class FlowStack {
 public:
  // What goes wrong is put into `status`.
  FlowStack(const Code& code, const FlowGraph& graph, FlowCode& out, base::Status& status)
      : code_(code), graph_(graph), out_(out), status_(status) {}

  // From the beginning of a block on. `with_values`: what is known of the stack and the locals includes which are the same value.
  void begin(const BlockState& block, bool with_values);

  // ---- locals

  const std::vector<bool>& tainted() const { return tainted_; }
  void set_tainted(uint32_t local, bool tainted) {
    changed_ |= tainted_[local] != tainted;
    tainted_[local] = tainted;
  }
  // Whether locals became tainted, or not tainted, since this was asked.
  bool take_changed() { return std::exchange(changed_, false); }
  Taint taint_of_local(uint32_t local) const { return tainted_[local] ? Taint(out_.shadow_of_local(local)) : Taint(); }
  uint32_t value_of_local(uint32_t local) const { return values_[local]; }
  // A load or store; of iinc nothing.
  void access_local(size_t node, const LocalAccess& access, Sequence& sequence);
  void store_to_local(uint32_t local, const Taint& taint, Sequence& sequence);
  // The local's variable will change: what is on the stack keeps what it holds. `used` must not change, either.
  void keep_on_stack(uint32_t local, const Taint& used, Sequence& sequence);

  // ---- the operand stack

  std::vector<StackSlot> slots;

  // Whether there are so many slots; else that is what went wrong.
  bool has(size_t count);
  // The union of what the top slots hold, which are taken off.
  Taint pop(size_t count);
  void push(Taint taint, int width, Sequence& sequence);
  // Of the dup family and swap.
  void rearrange(uint8_t opcode);
  // A variable that no slot's taint is in, nor `used`: that of the next position, mostly.
  Shadow free_shadow(const Taint& used) const;
  // Where to put the taint of what the next instruction, at `next` or behind labels, finds on top of the stack: at once to the
  // local variable that it is stored to.
  // REQUIRES: nothing can be thrown from where the variable is written on
  Shadow free_shadow_for(size_t next);

 private:
  bool refers_to(Shadow shadow) const {
    return std::ranges::any_of(slots, [&](const StackSlot& slot) { return slot.taint.contains(shadow); });
  }
  uint32_t new_value() { return ++last_value_; }

  const Code& code_;
  const FlowGraph& graph_;
  FlowCode& out_;
  base::Status& status_;
  std::vector<bool> tainted_;     // by local
  std::vector<uint32_t> values_;  // by local, as StackSlot::value; empty if they are not followed
  uint32_t last_value_ = 0;
  bool changed_ = false;
};

}  // namespace contrafact::classfile
