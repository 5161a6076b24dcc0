// The method is gone through as the verifier does: first, until nothing changes, only to learn at the beginning of each block which
// taints may not be empty; then once, from block to block, to write the code. Within a block, the taint of a stack slot is a
// union of variables that is loaded where it is used, so that most instructions get no code. At a block's end the taints on the
// stack are put into the variables of their positions, which is where the next block expects them.
#include "classfile/flows.h"

#include <algorithm>
#include <set>
#include <string>

#include "classfile/flow_code.h"
#include "classfile/flow_graph.h"
#include "classfile/flow_sections.h"
#include "classfile/flow_sites.h"
#include "classfile/flow_stack.h"
#include "classfile/flow_state.h"
#include "classfile/method_hash.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

constexpr uint8_t kFirstArrayLoad = 46, kLastArrayLoad = 53, kFirstArrayStore = 79, kLastArrayStore = 86;
constexpr uint8_t kLaload = 47, kDaload = 49, kLastore = 80, kDastore = 82;
// Bounds the time that hostile code can cost: instructions gone through and bits of block states. Real methods stay far below.
constexpr size_t kMaxWork = size_t{1} << 28;

bool is_two_slots(uint8_t array_access) {
  return array_access == kLaload || array_access == kDaload || array_access == kLastore || array_access == kDastore;
}

class FlowEdit {
 public:
  FlowEdit(Code& code, ClassFile& file, const FlowProbe& probe, FlowGraph graph, FlowSites sites)
      : code_(code),
        file_(file),
        probe_(probe),
        graph_(std::move(graph)),
        sites_(std::move(sites)),
        out_(code, file, probe.tracker),
        stack_(code, graph_, out_, status_),
        keeps_this_(keeps_this(code)),
        sections_(graph_, out_, stack_, sites_.asks_depth, keeps_this_),
        method_(method_hash(code.method_name, text_of(code.descriptor))),
        is_static_((code.access & kAccStatic) != 0),
        is_section_(probe.sections && (code.access & kAccSynchronized) != 0) {}

  Result<size_t> apply() {
    find_parameters();
    settle_blocks();
    if (status_) write();
    if (status_) status_ = out_.finish();
    if (!status_) return status_.error();
    return beside_;
  }

 private:
  static std::string text_of(const MethodDescriptor& descriptor) {
    std::string text = "(";
    for (const TypeDescriptor& argument : descriptor.arguments) text += argument.text;
    return text.append(")").append(descriptor.result.text);
  }

  static bool keeps_this(const Code& code) {
    const auto changes_this = [&](const Node& node) {
      const auto access = own_local_access(code, node);
      return access && access->is_store && access->slot == 0 && access->kind != 'N';
    };
    return (code.access & kAccStatic) == 0 && std::ranges::none_of(code.nodes, changes_this);
  }

  struct Parameter {
    int32_t index;
    uint32_t local;
  };

  // Those that the method reads. At a constructor's entry `this` has no taint, as the object has just been made.
  void find_parameters() {
    entry_.tainted.assign(code_.max_locals, false);
    std::vector<Parameter> all;
    uint32_t local = is_static_ ? 0 : 1;
    if (!is_static_ && code_.method_name != "<init>") all.push_back({0, 0});
    for (size_t i = 0; i < code_.descriptor.arguments.size(); ++i) {
      all.push_back({static_cast<int32_t>(i) + (is_static_ ? 0 : 1), local});
      local += static_cast<uint32_t>(code_.descriptor.arguments[i].slots());
    }
    for (const Parameter& parameter : all) {
      if (!graph_.is_live(0, parameter.local)) continue;
      parameters_.push_back(parameter);
      entry_.tainted[parameter.local] = true;
    }
    if (!is_section_) return;
    for (const Parameter& parameter : parameters_) {
      if (parameter.local != 0 || !keeps_this_) inputs_.push_back(parameter.local);
    }
  }

  // ---- which taints may not be empty

  void settle_blocks() {
    blocks_.resize(code_.nodes.size() + 1);
    entry_.reached = true;
    write_entry();
    merge(0, entry_.tainted, {});
    settle_waiting();
    // Code that nothing reaches is verified from its frame on, too.
    for (const auto& [label, frame] : code_.frames) {
      const size_t place = graph_.place_of(label);
      if (blocks_[place].reached || !graph_.begins_block(place)) continue;
      merge(place, std::vector<bool>(code_.max_locals, false), std::vector<bool>(frame.stack.size(), false));
      settle_waiting();
    }
  }

  void settle_waiting() {
    while (!waiting_.empty() && status_) {
      const size_t block = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      go_through(block);
    }
  }

  void go_through(size_t block) {
    begin_block(block);
    for (size_t i = block; i < code_.nodes.size() && status_; ++i) {
      if (i != block && graph_.begins_block(i)) {
        Sequence none(file_.pool());
        return go_to({i}, none);
      }
      const Node& node = code_.nodes[i];
      if (!node.is_instruction() || !node.is_original()) continue;
      Beside beside(file_.pool());
      instruction(i, beside);
      if (ends_flow(code_.effective_opcode(node))) return;
    }
  }

  // What is known at `place` holds on one more way there.
  void merge(size_t place, const std::vector<bool>& tainted, const std::vector<bool>& stack) {
    if (place >= code_.nodes.size()) return fail("a jump leaves the code");
    BlockState& block = blocks_[place];
    work_ += tainted.size() / 64 + stack.size() + 1;
    if (work_ > kMaxWork) return fail("the method is too large");
    if (!block.reached) {
      block = {true, tainted, stack};
      waiting_.insert(place);
      return;
    }
    if (block.stack.size() != stack.size()) return fail("the operand stack has two depths at one place");
    bool changed = false;
    const auto unite = [&](std::vector<bool>& into, const std::vector<bool>& from) {
      for (size_t i = 0; i < from.size(); ++i) {
        if (!from[i] || into[i]) continue;
        into[i] = true;
        changed = true;
      }
    };
    unite(block.tainted, tainted);
    unite(block.stack, stack);
    if (changed) waiting_.insert(place);
  }

  // ---- the code

  void write() {
    out_.begin_writing(sites_.asks_depth, sites_.asks_depth || !inputs_.empty());
    write_entry();
    bool is_reached = false;
    for (size_t i = 0; i < code_.nodes.size() && status_; ++i) {
      const Node node = code_.nodes[i];
      if (graph_.begins_block(i)) {
        if (is_reached) enter_from_before(i);
        is_reached = blocks_[i].reached;
        if (is_reached) begin_block(i);
      }
      if (!is_reached || !node.is_instruction() || !node.is_original()) {
        out_.put(node);
        continue;
      }
      Beside beside(file_.pool());
      instruction(i, beside);
      out_.append(beside.before);
      out_.put(node);
      out_.append(beside.after);
      out_.append_guarded(beside.guarded, beside.spilled);
      if (!beside.empty()) ++beside_;
      is_reached = !ends_flow(code_.effective_opcode(node));
    }
  }

  void enter_from_before(size_t place) {
    Sequence sequence(file_.pool());
    go_to({place}, sequence);
    out_.append(sequence);
  }

  void write_entry() {
    Sequence entry(file_.pool());
    out_.number(entry, method_);
    out_.call(entry, "entered", "(I)V");
    for (const Parameter& parameter : parameters_) {
      out_.number(entry, parameter.index);
      out_.call(entry, "parameter", "(I)I");
      out_.store(entry, out_.shadow_of_local(parameter.local));
    }
    out_.clear_variables(entry, entry_.tainted);
    if (probe_.sections) sections_.begin_method(inputs_, entry);
    out_.append(entry);
  }

  void begin_block(size_t place) {
    stack_.begin(blocks_[place], probe_.sections);
    begins_handler_ = graph_.is_handler(place);
    handlers_know_ = false;
    if (!out_.writing()) return;
    for (size_t i = place; i < code_.nodes.size() && code_.nodes[i].kind == Node::kLabel; ++i) {
      for (const StackSlot& slot : stack_.slots) {
        if (!slot.taint.empty()) out_.define_at(code_.nodes[i].label, slot.taint.parts()[0]);
      }
    }
  }

  // Puts the taints on the stack where the blocks at `places` expect them.
  void go_to(const std::vector<size_t>& places, Sequence& sequence) {
    std::vector<bool> stack(stack_.slots.size());
    for (size_t p = 0; p < stack.size(); ++p) stack[p] = !stack_.slots[p].taint.empty();
    for (const size_t place : places) {
      if (graph_.is_handler(place)) return fail("a jump goes to where an exception handler begins");
      if (!out_.writing()) {
        merge(place, stack_.tainted(), stack);
        continue;
      }
      for (size_t p = 0; p < stack.size(); ++p) stack[p] = stack[p] || blocks_[place].stack[p];
    }
    std::vector<size_t> moved;
    for (size_t p = 0; p < stack.size(); ++p) {
      if (!stack[p] || stack_.slots[p].taint.is(out_.shadow_of_stack(p))) continue;
      out_.load(sequence, stack_.slots[p].taint);
      moved.push_back(p);
    }
    for (size_t m = moved.size(); m-- > 0;) out_.store(sequence, out_.shadow_of_stack(moved[m]));
    for (const size_t p : moved) {
      if (!stack_.slots[p].taint.empty()) stack_.slots[p].taint = Taint(out_.shadow_of_stack(p));
    }
  }

  void fail(std::string_view what) {
    if (status_) status_ = Error{std::string(what)};
  }

  void tell(std::string_view function, const Taint& taint, Sequence& sequence) {
    if (taint.empty()) return;
    out_.load(sequence, taint);
    out_.call(sequence, function, "(I)V");
  }

  // ---- instructions

  void instruction(size_t i, Beside& beside) {
    ++work_;
    if (begins_handler_) begin_handler(i);
    if (stack_.take_changed() || !handlers_know_ || graph_.handler_set(i) != handler_set_) tell_handlers(i);
    const Node& node = code_.nodes[i];
    if (node.kind == Node::kBranch || node.kind == Node::kSwitch) return jump(node, beside.before);
    if (const auto access = own_local_access(code_, node)) return stack_.access_local(i, *access, beside.before);
    const uint8_t opcode = node.opcode;
    if (opcode >= kDup && opcode <= kSwap) return stack_.rearrange(opcode);
    if (opcode >= kFirstArrayLoad && opcode <= kLastArrayLoad) return load_element(opcode, beside.before);
    if (opcode >= kFirstArrayStore && opcode <= kLastArrayStore) return store_element(opcode, beside.before);
    if (is_return(opcode)) return leave(opcode, beside.before);
    if (opcode >= kGetstatic && opcode <= kPutfield) return access_field(i, beside);
    if (is_invoke(opcode)) return call(i, beside);
    if (opcode == kMonitorenter || opcode == kMonitorexit) return monitor(i, beside);
    other(node, beside.before);
  }

  void tell_handlers(size_t i) {
    handlers_know_ = true;
    handler_set_ = graph_.handler_set(i);
    if (out_.writing()) return;
    for (const size_t handler : graph_.handlers(i)) merge(handler, stack_.tainted(), {false});
  }

  void jump(const Node& node, Sequence& before) {
    tell("control", stack_.pop(simple_pops(node)), before);
    go_to(graph_.targets(node), before);
  }

  static size_t simple_pops(const Node& node) {
    const auto effect = simple_effect(node.opcode);
    return effect ? effect->pops : 0;
  }

  void load_element(uint8_t opcode, Sequence& before) {
    tell("control", stack_.pop(1), before);
    const Taint array = stack_.pop(1);
    out_.op(before, kDup2);
    out_.call(before, "element", "(Ljava/lang/Object;I)I");
    push_read(array, is_two_slots(opcode) ? 2 : 1, before);
  }

  // The union of what is on top of the real stack and of the taint of what was read from.
  void push_read(Taint from, int slots, Sequence& before) {
    const Shadow shadow = stack_.free_shadow(from);
    out_.store(before, shadow);
    from.add(Taint(shadow));
    stack_.push(std::move(from), slots, before);
  }

  void store_element(uint8_t opcode, Sequence& before) {
    const bool is_wide = is_two_slots(opcode);
    const Taint value = stack_.pop(is_wide ? 2 : 1);
    tell("control", stack_.pop(1), before);
    stack_.pop(1);
    // array, index, value: copies of the array and the index come on top
    out_.op(before, is_wide ? kDup2X2 : kDupX2);
    out_.op(before, is_wide ? kPop2 : kPop);
    out_.op(before, is_wide ? kDup2X2 : kDup2X1);
    out_.load(before, value);
    out_.call(before, "setElement", "(Ljava/lang/Object;II)V");
  }

  void access_field(size_t i, Beside& beside) {
    const uint8_t opcode = code_.nodes[i].opcode;
    const FlowFieldAccess& access = sites_.fields.at(i);
    const int32_t number = static_cast<int32_t>(access.number);
    const size_t slots = static_cast<size_t>(access.slots);
    const bool is_write = opcode == kPutfield || opcode == kPutstatic;
    const bool is_static = opcode == kGetstatic || opcode == kPutstatic;
    const Taint value = is_write ? stack_.pop(slots) : Taint();
    const Taint object = is_static ? Taint() : stack_.pop(1);
    if (number == 0) {
      if (!is_write) stack_.push(object, access.slots, beside.before);
    } else if (is_static) {
      // Behind the instruction, which may run the initialiser of the field's class.
      out_.number(beside.after, number);
      if (is_write) out_.load(beside.after, value);
      out_.call(beside.after, is_write ? "setStaticField" : "staticField", is_write ? "(II)V" : "(I)I");
      if (is_write) return;
      const Shadow shadow = stack_.free_shadow_for(i + 1);
      out_.store(beside.after, shadow);
      stack_.push(Taint(shadow), access.slots, beside.after);
    } else if (is_write) {
      put_field(number, slots == 2, value, beside.before);
    } else {
      out_.op(beside.before, kDup);
      out_.number(beside.before, number);
      out_.call(beside.before, "field", "(Ljava/lang/Object;I)I");
      push_read(object, access.slots, beside.before);
    }
  }

  // object, value: a copy of the object comes on top
  void put_field(int32_t number, bool is_wide, const Taint& value, Sequence& before) {
    out_.op(before, is_wide ? kDup2X1 : kDup2);
    out_.op(before, is_wide ? kPop2 : kPop);
    if (is_wide) out_.op(before, kDupX2);
    out_.number(before, number);
    out_.load(before, value);
    out_.call(before, "setField", "(Ljava/lang/Object;II)V");
  }

  void leave(uint8_t opcode, Sequence& before) {
    const auto effect = simple_effect(opcode);
    const Taint result = stack_.pop(effect->pops);
    if (is_section_) tell("result", result, before);
    out_.number(before, method_);
    out_.load(before, result);
    out_.call(before, "returning", "(II)V");
  }

  void call(size_t i, Beside& beside) {
    const FlowCall& callee = sites_.calls.at(i);
    out_.number(beside.before, callee.method);
    out_.call(beside.before, "calling", "(I)V");
    const Taint arguments = pass_arguments(callee, beside.before);
    if (!status_) return;
    const bool yields = callee.result_slots > 0;
    out_.number(beside.after, callee.method);
    out_.load(beside.after, yields || callee.is_constructor ? arguments : Taint());
    out_.call(beside.after, "called", "(II)I");
    if (yields) {
      const Shadow shadow = callee.may_lock ? stack_.free_shadow(Taint()) : stack_.free_shadow_for(i + 1);
      out_.store(beside.after, shadow);
      stack_.push(Taint(shadow), callee.result_slots, beside.after);
    } else if (!callee.is_constructor || arguments.empty() || !taint_new_object(i, callee, beside.after)) {
      out_.op(beside.after, kPop);
    }
    if (callee.may_lock) sections_.called(i, beside.after);
  }

  // Yields their union. The operands are taken off the stack.
  Taint pass_arguments(const FlowCall& callee, Sequence& before) {
    size_t slots = callee.has_receiver ? 1 : 0;
    for (const int argument : callee.argument_slots) slots += static_cast<size_t>(argument);
    Taint all;
    if (!stack_.has(slots)) return all;
    size_t at = stack_.slots.size() - slots;
    int32_t index = 0;
    const auto pass = [&](size_t width) {
      const Taint& taint = stack_.slots[at].taint;
      if (!taint.empty()) {
        out_.number(before, index);
        out_.load(before, taint);
        out_.call(before, "argument", "(II)V");
        all.add(taint);
      }
      ++index;
      at += width;
    };
    if (callee.has_receiver) pass(1);
    for (const int argument : callee.argument_slots) pass(static_cast<size_t>(argument));
    stack_.pop(slots);
    return all;
  }

  // The taint on top of the real stack goes to wherever the object is. False if it is nowhere; then it is still on the stack.
  bool taint_new_object(size_t i, const FlowCall& callee, Sequence& after) {
    std::vector<uint32_t> locals;
    for (const uint32_t local : callee.local_holders) {
      if (graph_.is_live(i + 1, local)) locals.push_back(local);
    }
    const auto is_gone = [&](size_t slot) { return slot >= stack_.slots.size(); };
    if (locals.empty() && (callee.stack_holders.empty() || std::ranges::any_of(callee.stack_holders, is_gone)))
      return false;
    const Shadow shadow = stack_.free_shadow(Taint());
    out_.store(after, shadow);
    for (const size_t slot : callee.stack_holders) stack_.slots[slot].taint = Taint(shadow);
    for (const uint32_t local : locals) stack_.store_to_local(local, Taint(shadow), after);
    return true;
  }

  void other(const Node& node, Sequence& before) {
    switch (node.opcode) {
      case kLdc:
      case kLdcW:
        return stack_.push({}, 1, before);
      case kLdc2W:
        return stack_.push({}, 2, before);
      case kNew:
        return stack_.push({}, 1, before);
      case kNewarray:
      case kAnewarray:
        tell("control", stack_.pop(1), before);
        return stack_.push({}, 1, before);
      case kMultianewarray:
        tell("control", stack_.pop(code_.bytes_of(node)[3]), before);
        return stack_.push({}, 1, before);
      case kAthrow:
        return tell("throwing", stack_.pop(1), before);
      case kCheckcast:
        stack_.has(1);
        return;
      default:
        break;
    }
    const auto effect = simple_effect(node.opcode);
    if (!effect) return fail("opcode " + std::to_string(node.opcode) + " is unknown");
    Taint result = stack_.pop(effect->pops);
    if (effect->push != '-') stack_.push(std::move(result), effect->push == 'J' || effect->push == 'D' ? 2 : 1, before);
  }

  // ---- exception handlers and sections

  void begin_handler(size_t i) {
    begins_handler_ = false;
    Sequence clear(file_.pool()), sequence(file_.pool());
    if (!stack_.has(1)) return;
    stack_.slots.clear();
    const Shadow shadow = stack_.free_shadow_for(i);
    out_.call(sequence, "caught", "()I");
    out_.store(sequence, shadow);
    stack_.slots.push_back({Taint(shadow), 0});
    if (sites_.asks_depth) sections_.caught(i, sequence);
    if (!out_.writing()) return;
    const size_t place = place_before(i);
    const auto covers_itself = [&](size_t handler) { return handler <= place; };
    if (std::ranges::none_of(graph_.handlers(i), covers_itself)) return out_.append(sequence);
    out_.number(clear, 0);
    out_.store(clear, shadow);
    out_.append_guarded_at_handler(clear, sequence);
  }

  size_t place_before(size_t i) const {
    while (i > 0 && !graph_.begins_block(i)) --i;
    return i;
  }

  void monitor(size_t i, Beside& beside) {
    if (!stack_.has(1)) return;
    const uint32_t locked = stack_.slots.back().value;
    stack_.pop(1);
    if (!sites_.asks_depth) return;
    const auto spilled = sites_.monitors.find(i);
    if (spilled != sites_.monitors.end()) beside.spilled = spilled->second;
    if (code_.nodes[i].opcode == kMonitorenter) return sections_.entered(i, locked, beside);
    sections_.left(i, beside);
  }

  Code& code_;
  ClassFile& file_;
  const FlowProbe& probe_;
  const FlowGraph graph_;
  const FlowSites sites_;
  FlowCode out_;
  Status status_;
  FlowStack stack_;
  const bool keeps_this_;  // local 0 is always `this`
  FlowSections sections_;
  const int32_t method_;
  const bool is_static_;
  const bool is_section_;  // the whole method, which is synchronized
  std::vector<Parameter> parameters_;
  std::vector<uint32_t> inputs_;  // of the section that the method is: parameters
  BlockState entry_;
  std::vector<BlockState> blocks_;  // by node
  std::set<size_t> waiting_;        // blocks about which more is known than when they were gone through
  bool begins_handler_ = false;     // the next instruction is the first of an exception handler
  bool handlers_know_ = false;      // of what is known of the locals now
  uint32_t handler_set_ = 0;        // the handlers that know
  size_t work_ = 0;
  size_t beside_ = 0;
};

Result<size_t> track(Code& code, ClassFile& file, const FlowProbe& probe) {
  if (code.has_jsr) return Error{"has subroutines (jsr)"};
  if (is_empty_finalizer(code)) return Error{"empty, and any code in it would make the class finalizable"};
  auto graph = FlowGraph::of(code);
  if (!graph) return graph.error();
  auto sites = FlowSites::of(code, file, probe);
  if (!sites) return sites.error();
  return FlowEdit(code, file, probe, *std::move(graph), *std::move(sites)).apply();
}

}  // namespace

Result<size_t> propagate_taints(Code& code, ClassFile& file, const FlowProbe& probe) {
  auto count = track(code, file, probe);
  if (!count) return Error{std::string(code.method_name) + ": " + count.error().message};
  return count;
}

}  // namespace contrafact::classfile
