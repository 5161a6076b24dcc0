#include "classfile/flow_stack.h"

#include <utility>

namespace contrafact::classfile {

using base::Error;

void FlowStack::begin(const BlockState& block, bool with_values) {
  tainted_ = block.tainted;
  slots.assign(block.stack.size(), {});
  for (size_t p = 0; p < slots.size(); ++p) {
    if (block.stack[p]) slots[p].taint = Taint(out_.shadow_of_stack(p));
  }
  if (with_values) values_.resize(tainted_.size());
  for (uint32_t& value : values_) value = new_value();
}

// ---- locals

void FlowStack::access_local(size_t node, const LocalAccess& access, Sequence& sequence) {
  if (access.kind == 'N') return;
  if (access.slot >= tainted_.size()) {
    if (status_) status_ = Error{"a local variable is beyond max_locals"};
    return;
  }
  const size_t width = access.kind == 'J' || access.kind == 'D' ? 2 : 1;
  if (!access.is_store) {
    push(taint_of_local(access.slot), static_cast<int>(width), sequence);
    if (!values_.empty()) slots[slots.size() - width].value = values_[access.slot];
    return;
  }
  if (!has(width)) return;
  const StackSlot stored = slots[slots.size() - width];
  pop(width);
  if (graph_.is_live(node + 1, access.slot)) store_to_local(access.slot, stored.taint, sequence);
  if (!values_.empty()) values_[access.slot] = stored.value != 0 ? stored.value : new_value();
}

void FlowStack::store_to_local(uint32_t local, const Taint& taint, Sequence& sequence) {
  const Shadow shadow = out_.shadow_of_local(local);
  if (taint.is(shadow)) return;
  keep_on_stack(local, taint, sequence);
  if (!taint.empty() || tainted_[local]) {
    out_.load(sequence, taint);
    out_.store(sequence, shadow);
  }
  set_tainted(local, !taint.empty());
}

void FlowStack::keep_on_stack(uint32_t local, const Taint& used, Sequence& sequence) {
  const Shadow shadow = out_.shadow_of_local(local);
  if (!refers_to(shadow)) return;
  const Shadow kept = free_shadow(used);
  out_.load(sequence, Taint(shadow));
  out_.store(sequence, kept);
  for (StackSlot& slot : slots) slot.taint.replace(shadow, kept);
}

// ---- the operand stack

bool FlowStack::has(size_t count) {
  if (slots.size() >= count) return true;
  if (status_) status_ = Error{"the operand stack has too few values"};
  return false;
}

Taint FlowStack::pop(size_t count) {
  Taint taint;
  if (!has(count)) return taint;
  for (size_t s = slots.size() - count; s < slots.size(); ++s) taint.add(slots[s].taint);
  slots.resize(slots.size() - count);
  return taint;
}

void FlowStack::push(Taint taint, int width, Sequence& sequence) {
  if (taint.parts().size() > Taint::kMaxParts) {
    const Shadow shadow = free_shadow(Taint());
    out_.load(sequence, taint);
    out_.store(sequence, shadow);
    taint = Taint(shadow);
  }
  slots.push_back({std::move(taint), 0});
  if (width == 2) slots.emplace_back();
}

// As JVMS does, by slots: dup copies the top `count` of them to below the `depth` ones under them.
void FlowStack::rearrange(uint8_t opcode) {
  if (opcode == kSwap) {
    if (has(2)) std::swap(slots[slots.size() - 1], slots[slots.size() - 2]);
    return;
  }
  const ptrdiff_t count = opcode >= kDup2 ? 2 : 1;
  const ptrdiff_t depth = (opcode - kDup) % 3;
  if (!has(static_cast<size_t>(count + depth))) return;
  for (auto copied = slots.end() - count; copied != slots.end(); ++copied) {
    if (copied->value == 0) copied->value = new_value();
  }
  const std::vector<StackSlot> copied(slots.end() - count, slots.end());
  slots.insert(slots.end() - count - depth, copied.begin(), copied.end());
}

Shadow FlowStack::free_shadow(const Taint& used) const {
  size_t position = slots.size();
  while (refers_to(out_.shadow_of_stack(position)) || used.contains(out_.shadow_of_stack(position))) ++position;
  return out_.shadow_of_stack(position);
}

Shadow FlowStack::free_shadow_for(size_t next) {
  const std::vector<Node>& nodes = code_.nodes;
  while (next < nodes.size() && !nodes[next].is_instruction() && !graph_.begins_block(next)) ++next;
  if (next == nodes.size() || graph_.begins_block(next)) return free_shadow(Taint());
  const auto access = own_local_access(code_, nodes[next]);
  if (!access || !access->is_store || access->kind == 'N' || access->slot >= tainted_.size() ||
      !graph_.is_live(next + 1, access->slot) || refers_to(out_.shadow_of_local(access->slot))) {
    return free_shadow(Taint());
  }
  set_tainted(access->slot, true);
  return out_.shadow_of_local(access->slot);
}

}  // namespace contrafact::classfile
