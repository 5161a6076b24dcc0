#include "classfile/sequence.h"

#include <algorithm>

#include "base/check.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

bool is_wide_kind(char kind) {
  return kind == 'J' || kind == 'D';
}

// Loads and stores by the kind of the type: I (also for Z B C S), J, F, D, or a reference.
Opcode typed(Opcode int_opcode, const TypeDescriptor& type) {
  const int offset = type.is_reference() ? 4 : type.kind == 'J' ? 1 : type.kind == 'F' ? 2 : type.kind == 'D' ? 3 : 0;
  return static_cast<Opcode>(int_opcode + offset);
}

}  // namespace

void Sequence::adjust_depth(int pops, int pushes) {
  depth_ += pushes - pops;
  deepest_ = std::max(deepest_, depth_);
}

Sequence& Sequence::emit(std::initializer_list<uint32_t> bytes, int pops, int pushes) {
  Node node;
  node.kind = Node::kPlain;
  node.opcode = static_cast<uint8_t>(*bytes.begin());
  node.offset = static_cast<uint32_t>(bytes_.size());
  node.length = static_cast<uint32_t>(bytes.size());
  for (const uint32_t byte : bytes) bytes_.push_back(static_cast<uint8_t>(byte));
  nodes_.push_back(node);
  adjust_depth(pops, pushes);
  return *this;
}

uint16_t Sequence::checked(uint16_t constant) {
  if (constant == 0) error_ = "the constant pool is full";
  return constant;
}

Sequence& Sequence::op(Opcode opcode) {
  const uint8_t byte = opcode;
  CHECK(instruction_bytes(Bytes(&byte, 1), 0) == 1u);
  if (const auto effect = simple_effect(opcode)) {
    return emit({opcode}, effect->pops, effect->push == '-' ? 0 : is_wide_kind(effect->push) ? 2 : 1);
  }
  if (const auto access = local_access(Bytes(&byte, 1))) {
    const int slots = is_wide_kind(access->kind) ? 2 : 1;
    locals_ = std::max(locals_, access->slot + static_cast<uint32_t>(slots));
    return access->is_store ? emit({opcode}, slots, 0) : emit({opcode}, 0, slots);
  }
  if (opcode == kAaload) return emit({opcode}, 2, 1);
  return emit({opcode}, 0, opcode == kSwap ? 0 : opcode >= kDup2 ? 2 : 1);  // the dup family
}

Sequence& Sequence::iconst(int32_t value) {
  if (value >= -1 && value <= 5) return emit({static_cast<uint32_t>(kIconst0 + value)}, 0, 1);
  if (value == static_cast<int8_t>(value)) return emit({kBipush, static_cast<uint8_t>(value)}, 0, 1);
  const uint32_t bits = static_cast<uint32_t>(value);
  if (value == static_cast<int16_t>(value)) return emit({kSipush, bits >> 8 & 0xFF, bits & 0xFF}, 0, 1);
  const uint32_t index = checked(pool_->add_integer(value));
  return emit({kLdcW, index >> 8, index & 0xFF}, 0, 1);
}

Sequence& Sequence::lconst(int64_t value) {
  if (value == 0 || value == 1) return emit({static_cast<uint32_t>(9 + value)}, 0, 2);
  const uint32_t index = checked(pool_->add_long(value));
  return emit({kLdc2W, index >> 8, index & 0xFF}, 0, 2);
}

Sequence& Sequence::ldc_string(std::string_view text) {
  const uint32_t index = checked(pool_->add_string(text));
  return emit({kLdcW, index >> 8, index & 0xFF}, 0, 1);
}

Sequence& Sequence::ldc_class(std::string_view internal_name) {
  const uint32_t index = checked(pool_->add_class(internal_name));
  return emit({kLdcW, index >> 8, index & 0xFF}, 0, 1);
}

Sequence& Sequence::local(Opcode opcode, uint32_t slot) {
  // A method may use all 65,535 locals, so that none is left for an edit.
  if (slot >= 65534) {
    error_ = "no local variable is left";
    return *this;
  }
  const bool wide_value = opcode == kLload || opcode == kDload || opcode == kLstore || opcode == kDstore;
  const int slots = wide_value ? 2 : 1;
  locals_ = std::max(locals_, slot + static_cast<uint32_t>(slots));
  const bool is_load = opcode <= kAload;
  const int pops = is_load ? 0 : slots;
  const int pushes = is_load ? slots : 0;
  if (slot > 255) return emit({kWide, opcode, slot >> 8, slot & 0xFF}, pops, pushes);
  return emit({opcode, slot}, pops, pushes);
}

Sequence& Sequence::load(const TypeDescriptor& type, uint32_t slot) {
  return local(typed(kIload, type), slot);
}
Sequence& Sequence::store(const TypeDescriptor& type, uint32_t slot) {
  return local(typed(kIstore, type), slot);
}

Sequence& Sequence::return_value(const TypeDescriptor& type) {
  const uint32_t opcode = type.kind == 'V' ? uint32_t{kReturn} : uint32_t{typed(kIreturn, type)};
  return emit({opcode}, type.slots(), 0);
}

Sequence& Sequence::field(Opcode opcode, std::string_view owner, std::string_view name, std::string_view type) {
  const auto parsed = parse_field_descriptor(type);
  CHECK(parsed.has_value());
  const int receiver = opcode == kGetfield || opcode == kPutfield ? 1 : 0;
  const bool is_put = opcode == kPutfield || opcode == kPutstatic;
  const uint32_t index = checked(pool_->add_member_ref(kTagFieldRef, owner, name, type));
  return emit({opcode, index >> 8, index & 0xFF}, receiver + (is_put ? parsed->slots() : 0),
              is_put ? 0 : parsed->slots());
}

Sequence& Sequence::invoke(Opcode opcode, std::string_view owner, std::string_view name, std::string_view descriptor,
                           bool in_interface) {
  const auto parsed = parse_method_descriptor(descriptor);
  CHECK(parsed.has_value());
  const int pops = parsed->argument_slots() + (opcode == kInvokestatic ? 0 : 1);
  const ConstantTag tag = in_interface ? kTagInterfaceMethodRef : kTagMethodRef;
  const uint32_t index = checked(pool_->add_member_ref(tag, owner, name, descriptor));
  if (opcode != kInvokeinterface) return emit({opcode, index >> 8, index & 0xFF}, pops, parsed->result.slots());
  return emit({opcode, index >> 8, index & 0xFF, static_cast<uint32_t>(pops), 0}, pops, parsed->result.slots());
}

Sequence& Sequence::with_class(Opcode opcode, std::string_view internal_name) {
  const uint32_t index = checked(pool_->add_class(internal_name));
  return emit({opcode, index >> 8, index & 0xFF}, opcode == kNew ? 0 : 1, 1);
}

Sequence& Sequence::new_object(std::string_view internal_name) {
  bind(new_label());  // Code wants one before every `new`
  return with_class(kNew, internal_name);
}

Sequence& Sequence::bind(Label label) {
  unbound_labels_--;
  Node node;
  node.label = LabelId(label.number);
  nodes_.push_back(node);
  return *this;
}

Sequence& Sequence::branch(Opcode opcode, Label target) {
  CHECK(is_branch(opcode) && !is_jsr(opcode) && opcode != kGotoW);
  Node node;
  node.kind = Node::kBranch;
  node.opcode = opcode;
  node.label = LabelId(target.number);
  nodes_.push_back(node);
  adjust_depth(simple_effect(opcode)->pops, 0);
  return *this;
}

Status Sequence::append_to(Code& code, std::vector<Node>& nodes) const {
  CHECK(unbound_labels_ == 0);
  if (error_ != nullptr) return Error{error_};
  const uint32_t first_label = code.label_count;
  const uint32_t first_byte = static_cast<uint32_t>(code.bytes.size());
  code.label_count += label_count_;
  code.max_locals = std::max(code.max_locals, locals_);
  code.bytes.insert(code.bytes.end(), bytes_.begin(), bytes_.end());
  for (Node node : nodes_) {
    if (node.kind == Node::kPlain) {
      node.offset += first_byte;
    } else {
      node.label = LabelId(first_label + node.label.value);
    }
    nodes.push_back(node);
  }
  return {};
}

Result<std::vector<uint8_t>> assemble_method(ClassFile& file, uint16_t access, std::string_view name,
                                             std::string_view descriptor, const Sequence& body) {
  auto code = Code::empty(file, access, name, descriptor);
  if (!code) return code.error();
  if (Status status = body.append_to(*code, code->nodes); !status) return status.error();
  code->raise_max_stack(body.stack_growth());
  return code->encode(file.pool());
}

}  // namespace contrafact::classfile
