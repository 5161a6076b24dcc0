#include "classfile/accesses.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "classfile/instrument.h"
#include "classfile/node_list.h"
#include "classfile/sequence.h"
#include "classfile/types.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

constexpr uint8_t kIaload = 46, kSaload = 53, kIastore = 79, kSastore = 86;
constexpr uint8_t kAdditions[] = {96, 97, 100, 101};  // iadd, ladd, isub, lsub
constexpr std::string_view kAnyArray = "Ljava/lang/Object;";

bool is_array_load(uint8_t opcode) {
  return opcode >= kIaload && opcode <= kSaload;
}
bool is_array_store(uint8_t opcode) {
  return opcode >= kIastore && opcode <= kSastore;
}
bool is_addition(uint8_t opcode) {
  return std::ranges::find(kAdditions, opcode) != std::end(kAdditions);
}
bool is_field_access(uint8_t opcode) {
  return opcode >= kGetstatic && opcode <= kPutfield;
}

// Of an array load or store, in the order of the opcodes.
struct Elements {
  std::string_view array;  // as the observer takes it
  TypeDescriptor value;
};
constexpr Elements kElements[] = {{"[I", {'I', "I"}},
                                  {"[J", {'J', "J"}},
                                  {"[F", {'F', "F"}},
                                  {"[D", {'D', "D"}},
                                  {"[Ljava/lang/Object;", {'L', kAnyArray}},
                                  {kAnyArray, {'I', "I"}},
                                  {"[C", {'I', "I"}},
                                  {"[S", {'I', "I"}}};

// As the observer takes it.
TypeDescriptor widened(const TypeDescriptor& type) {
  if (type.is_reference()) return {'L', kAnyArray};
  return type.slots() == 2 || type.kind == 'F' ? type : TypeDescriptor{'I', "I"};
}

class AccessEdit {
 public:
  AccessEdit(Code& code, ClassFile& file, const AccessProbe& probe)
      : code_(code), file_(file), probe_(probe), scratch_(code.max_locals) {}

  Result<size_t> apply() {
    if (const Status status = find_initialising_writes(); !status) return status.error();
    find_targets();
    out_.reserve(2 * code_.nodes.size());
    for (size_t i = 0; i < code_.nodes.size() && status_; ++i) instruction(i);
    if (!status_) return status_.error();
    if (observed_ > 0) code_.nodes = std::move(out_);
    return observed_;
  }

 private:
  // Before it calls another one, a constructor may write fields of `this`, which nobody else knows and nobody may get to know.
  Status find_initialising_writes() {
    initialises_.assign(code_.nodes.size(), false);
    if (!code_.this_starts_uninitialized()) return {};
    if (const auto call = find_constructor_call(code_, file_.pool()); !call) return call.error();
    return infer_types(code_, file_.pool(), [&](size_t i, const Frame& frame) {
      const Node& node = code_.nodes[i];
      if (node.kind != Node::kPlain || node.opcode != kPutfield || !frame.this_uninitialized()) return;
      const auto ref = file_.pool().member_ref(static_cast<uint32_t>(operand(node)));
      const auto type = ref ? parse_field_descriptor(ref->descriptor) : std::nullopt;
      const size_t depth = type ? static_cast<size_t>(type->slots()) + 1 : 0;
      initialises_[i] = depth == 0 || frame.stack.size() < depth ||
                        frame.stack[frame.stack.size() - depth].tag == VerificationType::kUninitializedThis;
    });
  }

  void find_targets() {
    is_target_.assign(code_.label_count, false);
    const auto mark = [&](LabelId label) { is_target_[label.index()] = true; };
    for (const Node& node : code_.nodes) {
      if (node.kind == Node::kBranch) mark(node.label);
    }
    for (const SwitchTable& table : code_.switches) {
      mark(table.default_target);
      for (const LabelId target : table.targets) mark(target);
    }
    for (const ExceptionEntry& entry : code_.exceptions) mark(entry.handler);
  }

  // The method's next instruction, if control gets there from `i` alone; else the number of nodes.
  size_t next(size_t i) const {
    for (++i; i < code_.nodes.size(); ++i) {
      const Node& node = code_.nodes[i];
      if (node.kind == Node::kLabel && is_target_[node.label.index()]) break;
      if (node.is_instruction()) return node.is_original() && node.kind == Node::kPlain ? i : code_.nodes.size();
    }
    return code_.nodes.size();
  }

  // The index in the pool.
  int operand(const Node& node) const { return code_.bytes[node.offset + 1] << 8 | code_.bytes[node.offset + 2]; }

  bool is_simple_push(const Node& node) const {
    if (node.opcode >= 2 && node.opcode <= kLdc2W) return true;  // iconst_m1 and what follows
    const auto access = local_access(code_.bytes_of(node));
    return access && !access->is_store && (access->kind == 'I' || access->kind == 'J');
  }

  // Of `x += n`, from the read on: where it is written, if nothing but the addition uses what was read.
  std::optional<size_t> write_of_addition(size_t read) const {
    const Node& node = code_.nodes[read];
    if (node.opcode != kGetstatic && !is_behind(read, node.opcode == kGetfield ? kDup : kDup2)) return std::nullopt;
    const size_t push = next(read), end = code_.nodes.size();
    if (push == end || !is_simple_push(code_.nodes[push])) return std::nullopt;
    const size_t addition = next(push);
    if (addition == end || !is_addition(code_.nodes[addition].opcode)) return std::nullopt;
    const size_t write = next(addition);
    if (write == end) return std::nullopt;
    const Node& target = code_.nodes[write];
    if (is_array_load(node.opcode)) {
      if (target.opcode - kIastore != node.opcode - kIaload) return std::nullopt;
    } else {
      if (target.opcode != node.opcode + 1 || operand(target) != operand(node)) return std::nullopt;
    }
    return write;
  }

  bool is_behind(size_t i, uint8_t opcode) const {
    while (i-- > 0) {
      const Node& node = code_.nodes[i];
      if (node.kind == Node::kLabel && is_target_[node.label.index()]) return false;
      if (node.is_instruction()) return node.is_original() && node.opcode == opcode;
    }
    return false;
  }

  void instruction(size_t i) {
    const Node& node = code_.nodes[i];
    Sequence before(file_.pool()), after(file_.pool());
    if (node.kind == Node::kPlain && node.is_original() && !initialises_[i]) {
      if (is_field_access(node.opcode))
        access_field(i, before);
      else if (is_array_load(node.opcode))
        load_element(i, before);
      else if (is_array_store(node.opcode))
        store_element(kElements[node.opcode - kIastore], i == addition_, before);
      else if (node.opcode == kNewarray || node.opcode == kAnewarray || node.opcode == kMultianewarray)
        after.dup().invokestatic(probe_.observer, "made", "(Ljava/lang/Object;)V");
    }
    append(before);
    out_.push_back(node);
    append(after);
    if (!before.empty() || !after.empty()) ++observed_;
  }

  // Code that `tell` makes, behind the question whether anybody is observed.
  template <typename Tell>
  void when_observed(Sequence& sequence, Tell tell) {
    if (!probe_.when_observed) return tell();
    const Sequence::Label skip = sequence.new_label();
    sequence.getstatic(probe_.observer, "observers", "I").ifeq(skip);
    tell();
    sequence.bind(skip);
  }

  void append(const Sequence& sequence) {
    if (sequence.empty() || !status_) return;
    status_ = sequence.append_to(code_, out_);
    code_.raise_max_stack(code_.original_max_stack + sequence.stack_growth());
  }

  // Whether the read at `i` is part of an addition, of which the write will tell.
  bool begins_addition(size_t i) {
    const auto write = write_of_addition(i);
    if (write) addition_ = *write;
    return write.has_value();
  }

  void access_field(size_t i, Sequence& before) {
    const Node& node = code_.nodes[i];
    const auto ref = file_.pool().member_ref(static_cast<uint32_t>(operand(node)));
    const auto type = ref ? parse_field_descriptor(ref->descriptor) : std::nullopt;
    if (!type) {
      status_ = Error{"the access at pc " + std::to_string(node.pc) + " names no field"};
      return;
    }
    const bool is_static = node.opcode == kGetstatic || node.opcode == kPutstatic;
    const bool is_write = node.opcode == kPutfield || node.opcode == kPutstatic;
    const uint32_t number = probe_.number({ref->owner, ref->name, is_static, is_write});
    if (number == 0) return;
    if (is_write)
      write(*ref, *type, is_static, i == addition_ ? number | AccessProbe::kAdds : number, before);
    else if (!begins_addition(i) || probe_.number({ref->owner, ref->name, is_static, true}) == 0)
      read(is_static, number, before);
  }

  void read(bool is_static, uint32_t number, Sequence& before) {
    when_observed(before, [&] {
      if (!is_static) before.dup();
      before.iconst(static_cast<int32_t>(number));
      before.invokestatic(probe_.observer, is_static ? "readStatic" : "read",
                          is_static ? "(I)V" : "(Ljava/lang/Object;I)V");
    });
  }

  void load_element(size_t i, Sequence& before) {
    if (begins_addition(i)) return;
    when_observed(before,
                  [&] { before.dup2().invokestatic(probe_.observer, "readElement", "(Ljava/lang/Object;I)V"); });
  }

  void write(const MemberRef& ref, const TypeDescriptor& type, bool is_static, uint32_t number, Sequence& before) {
    const std::string value(widened(type).text);
    before.store(type, scratch_);
    when_observed(before, [&] {
      if (is_static) {
        before.getstatic(ref.owner, ref.name, ref.descriptor).load(type, scratch_).iconst(static_cast<int32_t>(number));
        before.invokestatic(probe_.observer, "wroteStatic", "(" + value + value + "I)V");
      } else {
        const Sequence::Label is_null = before.new_label();  // the write itself throws then
        before.dup().ifnull(is_null).dup().dup().getfield(ref.owner, ref.name, ref.descriptor).load(type, scratch_);
        before.iconst(static_cast<int32_t>(number));
        before.invokestatic(probe_.observer, "wrote", "(Ljava/lang/Object;" + value + value + "I)V");
        before.bind(is_null);
      }
    });
    before.load(type, scratch_);
  }

  void store_element(const Elements& elements, bool adds, Sequence& before) {
    before.store(elements.value, scratch_);
    when_observed(before, [&] {
      before.dup2().load(elements.value, scratch_).iconst(adds ? 1 : 0);
      before.invokestatic(probe_.observer, "storing",
                          "(" + std::string(elements.array) + "I" + std::string(elements.value.text) + "I)V");
    });
    before.load(elements.value, scratch_);
  }

  Code& code_;
  ClassFile& file_;
  const AccessProbe& probe_;
  const uint32_t scratch_;         // a local for the value that is about to be written
  std::vector<bool> initialises_;  // by node: writes a field of a `this` that is not initialized yet
  std::vector<bool> is_target_;    // by label: something jumps there
  size_t addition_ = SIZE_MAX;     // the node of the last write that was found to be part of an addition
  std::vector<Node> out_;
  size_t observed_ = 0;
  Status status_;
};

}  // namespace

Result<size_t> probe_accesses(Code& code, ClassFile& file, const AccessProbe& probe) {
  auto observed = AccessEdit(code, file, probe).apply();
  if (!observed) return Error{std::string(code.method_name) + ": " + observed.error().message};
  return observed;
}

}  // namespace contrafact::classfile
