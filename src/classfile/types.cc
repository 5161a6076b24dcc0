#include "classfile/types.h"

#include <algorithm>

namespace contrafact::classfile {

using base::Error;
using base::Status;
using Type = VerificationType;

namespace {

// Bounds the memory and time that hostile code can cost: slots copied for branches. Real methods stay far below.
constexpr size_t kMaxSlotsCopied = size_t{4} << 20;

// The abstract machine: executes one instruction on a frame.
class Machine {
 public:
  Machine(Code& code, const ConstantPool& pool) : code_(code), pool_(pool) {}

  Frame frame;

  // False if the instruction cannot be executed on the current frame.
  bool step(const Node& node) {
    ok_ = true;
    if (node.kind == Node::kSwitch) {
      pop(1);
      return ok_;
    }
    if (is_jsr(node.opcode)) return true;  // only the subroutine sees what it pushes
    if (const auto effect = simple_effect(node.opcode)) {
      pop(effect->pops);
      push_kind(effect->push);
      return ok_;
    }
    const Bytes bytes = code_.bytes_of(node);
    if (const auto access = local_access(bytes)) {
      step_local(*access);
    } else if (node.opcode >= kDup && node.opcode <= kSwap) {
      step_dup(node.opcode);
    } else if (node.opcode >= kGetstatic && node.opcode <= kPutfield) {
      step_field(node.opcode, load_u2(&bytes[1]));
    } else if (is_invoke(node.opcode)) {
      step_invoke(node.opcode, load_u2(&bytes[1]));
    } else {
      step_object(node.opcode, bytes);
    }
    return ok_;
  }

  // Every `new` has a label of its own directly before it, which distinguishes its objects from those of others.
  void set_previous_label(LabelId label) { previous_label_ = label; }

 private:
  void pop(size_t slots) {
    if (frame.stack.size() < slots) {
      ok_ = false;
      return frame.stack.clear();
    }
    frame.stack.resize(frame.stack.size() - slots);
  }

  Type pop_one() {
    if (frame.stack.empty()) {
      ok_ = false;
      return {};
    }
    const Type type = frame.stack.back();
    frame.stack.pop_back();
    return type;
  }

  void push(const Type& type) {
    frame.stack.push_back(type);
    if (type.is_wide()) frame.stack.push_back(Type{Type::kSecondHalf});
  }

  static Type type_of_kind(char kind) {
    switch (kind) {
      case 'J':
        return {Type::kLong};
      case 'D':
        return {Type::kDouble};
      case 'F':
        return {Type::kFloat};
      case 'N':
        return {Type::kNull};
      default:
        return {Type::kInteger};
    }
  }

  void push_kind(char kind) {
    if (kind != '-') push(type_of_kind(kind));
  }

  void push_object(std::string name) { push(Type::object(code_.names.emplace_back(std::move(name)))); }

  void step_local(const LocalAccess& access) {
    if (access.kind == 'N' || access.kind == 'R') return;
    const bool wide = access.kind == 'J' || access.kind == 'D';
    if (access.slot + (wide ? 2 : 1) > code_.max_locals) {
      ok_ = false;
    } else if (access.is_store) {
      if (wide) pop(1);
      const Type type = pop_one();
      set_local(frame.locals, access.slot, access.kind == 'A' ? type : type_of_kind(access.kind));
    } else if (access.kind != 'A') {
      push(type_of_kind(access.kind));
    } else if (access.slot < frame.locals.size()) {
      push(frame.locals[access.slot]);
    } else {
      ok_ = false;
    }
  }

  // dup copies the top `count` slots to below the `depth` slots under them: JVMS describes these by slots too.
  void step_dup(uint8_t opcode) {
    if (opcode == kSwap) {
      if (frame.stack.size() < 2)
        ok_ = false;
      else
        std::swap(frame.stack[frame.stack.size() - 1], frame.stack[frame.stack.size() - 2]);
      return;
    }
    const size_t count = opcode >= kDup2 ? 2 : 1;
    const size_t depth = static_cast<size_t>((opcode - kDup) % 3);
    if (frame.stack.size() < count + depth) {
      ok_ = false;
      return;
    }
    const std::vector<Type> copied(frame.stack.end() - static_cast<ptrdiff_t>(count), frame.stack.end());
    frame.stack.insert(frame.stack.end() - static_cast<ptrdiff_t>(count + depth), copied.begin(), copied.end());
  }

  void step_field(uint8_t opcode, uint16_t index) {
    const auto field = pool_.member_ref(index);
    const auto type = field ? parse_field_descriptor(field->descriptor) : std::nullopt;
    if (!type) {
      ok_ = false;
      return;
    }
    const bool is_put = opcode == kPutstatic || opcode == kPutfield;
    if (is_put) pop(static_cast<size_t>(type->slots()));
    if (opcode == kGetfield || opcode == kPutfield) pop(1);
    if (!is_put) push_type(frame.stack, *type);
  }

  void step_invoke(uint8_t opcode, uint16_t index) {
    std::optional<NameAndType> callee;
    std::string_view owner;
    if (opcode == kInvokedynamic) {
      callee = pool_.dynamic(index);
    } else if (const auto ref = pool_.member_ref(index)) {
      callee = NameAndType{ref->name, ref->descriptor};
      owner = ref->owner;
    }
    const auto descriptor = callee ? parse_method_descriptor(callee->descriptor) : std::nullopt;
    if (!descriptor) {
      ok_ = false;
      return;
    }
    pop(static_cast<size_t>(descriptor->argument_slots()));
    if (opcode != kInvokestatic && opcode != kInvokedynamic) {
      const Type receiver = pop_one();
      if (opcode == kInvokespecial && callee->name == "<init>") initialize(receiver, owner);
    }
    push_type(frame.stack, descriptor->result);
  }

  void initialize(const Type& receiver, std::string_view owner) {
    if (receiver.tag != Type::kUninitialized && receiver.tag != Type::kUninitializedThis) return;
    const Type initialized = Type::object(receiver.tag == Type::kUninitializedThis ? code_.class_name : owner);
    std::replace(frame.locals.begin(), frame.locals.end(), receiver, initialized);
    std::replace(frame.stack.begin(), frame.stack.end(), receiver, initialized);
  }

  void step_object(uint8_t opcode, Bytes bytes) {
    switch (opcode) {
      case kLdc:
        return push_constant(bytes[1]);
      case kLdcW:
      case kLdc2W:
        return push_constant(load_u2(&bytes[1]));
      case kAaload:
        pop(1);
        return push_element(pop_one());
      case kNew:
        return push(Type{Type::kUninitialized, 0, previous_label_, {}});
      case kNewarray:
        pop(1);
        return push_primitive_array(bytes[1]);
      default:
        break;
    }
    const auto name = pool_.class_name(load_u2(&bytes[1]));  // anewarray, checkcast, multianewarray
    if (!name || name->empty()) {
      ok_ = false;
      return;
    }
    pop(opcode == kMultianewarray ? bytes[3] : 1);
    if (opcode != kAnewarray) return push(Type::object(*name));
    push_object((*name)[0] == '[' ? "[" + std::string(*name) : "[L" + std::string(*name) + ";");
  }

  void push_constant(uint16_t index) {
    switch (pool_.tag(index)) {
      case kTagInteger:
        return push_kind('I');
      case kTagFloat:
        return push_kind('F');
      case kTagLong:
        return push_kind('J');
      case kTagDouble:
        return push_kind('D');
      case kTagString:
        return push(Type::object("java/lang/String"));
      case kTagClass:
        return push(Type::object("java/lang/Class"));
      case kTagMethodHandle:
        return push(Type::object("java/lang/invoke/MethodHandle"));
      case kTagMethodType:
        return push(Type::object("java/lang/invoke/MethodType"));
      default:
        break;
    }
    const auto dynamic = pool_.dynamic(index);
    const auto type = dynamic ? parse_field_descriptor(dynamic->descriptor) : std::nullopt;
    if (type) push_type(frame.stack, *type);
    ok_ &= type.has_value();
  }

  void push_element(const Type& array) {
    if (array.tag == Type::kNull) return push(array);
    const auto element =
        array.class_name.starts_with('[') ? parse_field_descriptor(array.class_name.substr(1)) : std::nullopt;
    if (element && element->is_reference()) return push_type(frame.stack, *element);
    ok_ = false;
  }

  void push_primitive_array(uint8_t element) {
    constexpr std::string_view kArrays[] = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};  // element types 4 to 11
    if (element < 4 || element > 11) {
      ok_ = false;
    } else {
      push(Type::object(kArrays[element - 4]));
    }
  }

  Code& code_;
  const ConstantPool& pool_;
  LabelId previous_label_;
  bool ok_ = true;
};

class Inference {
 public:
  Inference(Code& code, const ConstantPool& pool, const TypeVisitor& visit)
      : code_(code), visit_(visit), machine_(code, pool), pool_(pool) {}

  Status run() {
    index_labels();
    visited_.assign(code_.nodes.size(), false);
    machine_.frame = code_.entry;
    if (Status status = walk(0); !status) return status;
    if (Status status = drain(); !status) return status;
    // Code that nothing reaches is verified from its frame on, too.
    for (size_t i = 0; i < code_.nodes.size(); i++) {
      if (visited_[i] || explicit_frame_[i] == nullptr) continue;
      if (Status status = walk(i); !status) return status;
      if (Status status = drain(); !status) return status;
    }
    return {};
  }

 private:
  void index_labels() {
    const std::vector<Node>& nodes = code_.nodes;
    node_of_label_.assign(code_.label_count, 0);
    explicit_frame_.assign(nodes.size(), nullptr);
    // Labels at one place share their frame.
    for (size_t i = 0; i < nodes.size();) {
      if (nodes[i].kind != Node::kLabel) {
        i++;
        continue;
      }
      size_t end = i;
      const Frame* frame = nullptr;
      for (; end < nodes.size() && nodes[end].kind == Node::kLabel; end++) {
        node_of_label_[nodes[end].label.index()] = end;
        const auto found = code_.frames.find(nodes[end].label);
        if (found != code_.frames.end()) frame = &found->second;
      }
      std::fill(explicit_frame_.begin() + static_cast<ptrdiff_t>(i),
                explicit_frame_.begin() + static_cast<ptrdiff_t>(end), frame);
      i = end;
    }
    for (size_t i = 0; i < code_.exceptions.size(); i++) handlers_[code_.exceptions[i].start].push_back(i);
  }

  Status drain() {
    while (!pending_.empty()) {
      const size_t node = pending_.back().node;
      machine_.frame = std::move(pending_.back().frame);
      pending_.pop_back();
      if (Status status = walk(node); !status) return status;
    }
    return {};
  }

  Status walk(size_t i) {
    for (; i < code_.nodes.size(); i++) {
      const Node& node = code_.nodes[i];
      if (explicit_frame_[i] != nullptr) machine_.frame = *explicit_frame_[i];
      if (visited_[i]) return {};
      if (machine_.frame.stack.size() > code_.max_stack) return Error{"the stack grows beyond max_stack"};
      visited_[i] = true;
      visit_(i, machine_.frame);
      if (node.kind == Node::kLabel) {
        machine_.set_previous_label(node.label);
        enter_ranges(node.label);
      } else {
        if (!machine_.step(node)) {
          return Error{"the types before " +
                       (node.is_original() ? "pc " + std::to_string(node.pc) : std::string("inserted code")) +
                       " cannot be inferred"};
        }
        follow(node);
        if (ends_flow(code_.effective_opcode(node))) return {};
      }
      if (slots_copied_ > kMaxSlotsCopied) return Error{"the method is too large for type inference"};
    }
    return {};
  }

  void enter_ranges(LabelId start) {
    const auto found = handlers_.find(start);
    if (found == handlers_.end()) return;
    for (const size_t i : found->second) {
      const ExceptionEntry& entry = code_.exceptions[i];
      const auto type = entry.catch_type == 0 ? std::nullopt : pool_.class_name(entry.catch_type);
      schedule(entry.handler, &machine_.frame.locals, {Type::object(type.value_or("java/lang/Throwable"))});
    }
  }

  void follow(const Node& node) {
    const Frame& frame = machine_.frame;
    if (node.kind == Node::kBranch) {
      auto stack = frame.stack;
      if (is_jsr(node.opcode)) stack.push_back(Type{Type::kReturnAddress});
      schedule(node.label, &frame.locals, std::move(stack));
    } else if (node.kind == Node::kSwitch) {
      const SwitchTable& table = code_.switches[node.offset];
      schedule(table.default_target, &frame.locals, frame.stack);
      for (const LabelId target : table.targets) schedule(target, &frame.locals, frame.stack);
    }
  }

  void schedule(LabelId label, const std::vector<Type>* locals, std::vector<Type> stack) {
    const size_t node = node_of_label_[label.index()];
    if (visited_[node]) return;
    slots_copied_ += stack.size() + 1;
    if (explicit_frame_[node] != nullptr) return pending_.push_back({node, Frame{}});
    slots_copied_ += locals->size();
    pending_.push_back({node, Frame{*locals, std::move(stack)}});
  }

  struct Pending {
    size_t node;
    Frame frame;
  };

  Code& code_;
  const TypeVisitor& visit_;
  Machine machine_;
  const ConstantPool& pool_;
  std::vector<bool> visited_;
  std::vector<size_t> node_of_label_;
  std::vector<const Frame*> explicit_frame_;                   // by node; for labels only
  std::unordered_map<LabelId, std::vector<size_t>> handlers_;  // by the start of their range
  std::vector<Pending> pending_;
  size_t slots_copied_ = 0;
};

}  // namespace

Status infer_types(Code& code, const ConstantPool& pool, const TypeVisitor& visit) {
  return Inference(code, pool, visit).run();
}

}  // namespace contrafact::classfile
