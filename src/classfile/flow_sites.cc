#include "classfile/flow_sites.h"

#include <algorithm>

#include "classfile/method_hash.h"
#include "classfile/types.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

class SiteFinder {
 public:
  SiteFinder(Code& code, const ClassFile& file, const FlowProbe& probe, FlowSites& sites)
      : code_(code), pool_(file.pool()), probe_(probe), sites_(sites) {}

  Status find() {
    for (size_t i = 0; i < code_.nodes.size(); ++i) {
      const Node& node = code_.nodes[i];
      if (node.kind != Node::kPlain || !node.is_original()) continue;
      Status status;
      if (node.opcode >= kGetstatic && node.opcode <= kPutfield) status = add_field(i);
      if (is_invoke(node.opcode)) status = add_call(i);
      if (node.opcode == kMonitorenter || node.opcode == kMonitorexit) sites_.asks_depth |= probe_.sections;
      if (!status) return status;
    }
    return find_types();
  }

 private:
  uint16_t operand(size_t i) const { return load_u2(&code_.bytes_of(code_.nodes[i])[1]); }

  Status add_field(size_t i) {
    const Node& node = code_.nodes[i];
    const auto ref = pool_.member_ref(operand(i));
    const auto type = ref ? parse_field_descriptor(ref->descriptor) : std::nullopt;
    if (!type) return Error{"the access at pc " + std::to_string(node.pc) + " names no field"};
    const bool is_static = node.opcode == kGetstatic || node.opcode == kPutstatic;
    const bool is_write = node.opcode == kPutfield || node.opcode == kPutstatic;
    sites_.fields[i] = {probe_.number({ref->owner, ref->name, is_static, is_write}), type->slots()};
    return {};
  }

  Status add_call(size_t i) {
    const Node& node = code_.nodes[i];
    std::optional<NameAndType> callee;
    std::string_view owner;
    if (node.opcode == kInvokedynamic) {
      callee = pool_.dynamic(operand(i));
    } else if (const auto ref = pool_.member_ref(operand(i))) {
      callee = NameAndType{ref->name, ref->descriptor};
      owner = ref->owner;
    }
    const auto descriptor = callee ? parse_method_descriptor(callee->descriptor) : std::nullopt;
    if (!descriptor) return Error{"the call at pc " + std::to_string(node.pc) + " names no method"};
    FlowCall call;
    call.method = method_hash(callee->name, callee->descriptor);
    call.has_receiver = node.opcode != kInvokestatic && node.opcode != kInvokedynamic;
    call.is_constructor = node.opcode == kInvokespecial && callee->name == "<init>";
    for (const TypeDescriptor& argument : descriptor->arguments) call.argument_slots.push_back(argument.slots());
    call.result_slots = descriptor->result.slots();
    call.may_lock = probe_.sections && probe_.may_lock &&
                    probe_.may_lock({node.opcode, owner, callee->name, callee->descriptor, node.pc});
    sites_.asks_depth |= call.may_lock;
    has_constructor_calls_ |= call.is_constructor;
    sites_.calls.emplace(i, std::move(call));
    return {};
  }

  // Which objects are not initialized yet, and what lies below a monitor's object, only the types tell.
  Status find_types() {
    if (!has_constructor_calls_ && !sites_.asks_depth && !code_.this_starts_uninitialized()) return {};
    return infer_types(code_, pool_, [&](size_t i, const Frame& frame) {
      const Node& node = code_.nodes[i];
      if (node.kind != Node::kPlain || !node.is_original()) return;
      if (node.opcode == kPutfield) find_initialising_write(i, frame);
      if (node.opcode == kInvokespecial) find_holders(i, frame);
      if ((node.opcode == kMonitorenter || node.opcode == kMonitorexit) && sites_.asks_depth && !frame.stack.empty()) {
        sites_.monitors[i].assign(frame.stack.begin(), frame.stack.end() - 1);
      }
    });
  }

  // Before it calls another one, a constructor may write fields of `this`, which may not be passed to anybody.
  void find_initialising_write(size_t i, const Frame& frame) {
    FlowFieldAccess& access = sites_.fields[i];
    const size_t depth = static_cast<size_t>(access.slots) + 1;
    if (frame.stack.size() < depth) return;
    if (frame.stack[frame.stack.size() - depth].tag == VerificationType::kUninitializedThis) access.number = 0;
  }

  void find_holders(size_t i, const Frame& frame) {
    FlowCall& call = sites_.calls[i];
    size_t depth = 1;
    for (const int slots : call.argument_slots) depth += static_cast<size_t>(slots);
    if (!call.is_constructor || frame.stack.size() < depth) return;
    const size_t at = frame.stack.size() - depth;
    const VerificationType object = frame.stack[at];
    if (object.tag != VerificationType::kUninitialized && object.tag != VerificationType::kUninitializedThis) return;
    for (size_t s = 0; s < at; ++s) {
      if (frame.stack[s] == object) call.stack_holders.push_back(s);
    }
    for (size_t l = 0; l < frame.locals.size(); ++l) {
      if (frame.locals[l] == object) call.local_holders.push_back(static_cast<uint32_t>(l));
    }
  }

  Code& code_;
  const ConstantPool& pool_;
  const FlowProbe& probe_;
  FlowSites& sites_;
  bool has_constructor_calls_ = false;
};

}  // namespace

Result<FlowSites> FlowSites::of(Code& code, const ClassFile& file, const FlowProbe& probe) {
  FlowSites sites;
  if (Status status = SiteFinder(code, file, probe, sites).find(); !status) return status.error();
  return sites;
}

}  // namespace contrafact::classfile
