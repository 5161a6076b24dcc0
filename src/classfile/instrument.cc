#include "classfile/instrument.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "classfile/node_list.h"
#include "classfile/types.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;
using Type = VerificationType;

namespace {

constexpr size_t kNowhere = SIZE_MAX;

// Rebuilds the node list with the code of an EntryExit.
class EntryExitEdit {
 public:
  EntryExitEdit(Code& code, const EntryExit& edit) : code_(code), edit_(edit) {}

  // `call`: of a constructor, null for other methods.
  Status apply(size_t entry_at, const ConstructorCall* call) {
    out_.reserve(code_.nodes.size() + 64);
    for (size_t i = 0; i < code_.nodes.size(); i++) {
      if (i == entry_at) enter();
      const Node& node = code_.nodes[i];
      if (i >= entry_at && node.is_instruction() && call != nullptr) {
        go_to(i == call->node ? kCall : call->runs_before[i] ? kBefore : kAfter);
      }
      const bool is_exit = i >= entry_at && node.is_instruction() && node.is_original() && is_return(node.opcode);
      if (is_exit) {
        leave(node);
      } else {
        out_.push_back(node);
        range_has_code_ |= node.is_instruction();
      }
    }
    if (edit_.exception != nullptr) {
      end_range();
      handle_exceptions(kAfter);
      if (edit_.whole_constructor) handle_exceptions(kBefore);
    }
    if (status_) code_.nodes = std::move(out_);
    return status_;
  }

 private:
  // Code that runs before the call of this() or super(), with `this` uninitialized; that call; and all other code.
  enum Part { kBefore, kCall, kAfter };

  void append(const Sequence* sequence) {
    if (sequence == nullptr || !status_) return;
    status_ = sequence->append_to(code_, out_);
    code_.raise_max_stack(code_.original_max_stack + sequence->stack_growth());
  }

  void enter() {
    append(edit_.entry);
    begin_range();
  }

  // The exit code and the return are not covered by our handler: the invocation has ended by then, as far as the caller
  // of this edit is concerned, and shall not end twice.
  void leave(const Node& node) {
    end_range();
    append(edit_.exit);
    out_.push_back(node);
    begin_range();
  }

  void go_to(Part part) {
    if (part == part_) return;
    end_range();
    part_ = part;
    begin_range();
  }

  void begin_range() {
    range_start_ = code_.new_label();
    out_.push_back(label_node(range_start_));
    range_has_code_ = false;
  }

  void end_range() {
    if (!range_has_code_) return;
    const LabelId end = code_.new_label();
    out_.push_back(label_node(end));
    ranges_[part_].push_back({range_start_, end, LabelId(), 0});
  }

  void handle_exceptions(Part part) {
    std::vector<ExceptionEntry>& ranges = ranges_[part];
    if (ranges.empty()) return;
    const LabelId handler = code_.new_label();
    for (ExceptionEntry& range : ranges) range.handler = handler;
    // Last, so that the method's own handlers come first.
    code_.exceptions.insert(code_.exceptions.end(), ranges.begin(), ranges.end());
    // Every type may become Top, so that this frame fits all covered instructions; the saved locals are defined in all.
    // But the frame must name `this` while it is uninitialized.
    Frame frame;
    if (part == kBefore) frame.locals.push_back({Type::kUninitializedThis});
    for (const SavedLocal& local : edit_.saved) {
      std::vector<Type> type;
      push_type(type, *parse_field_descriptor(local.descriptor));
      set_local(frame.locals, local.slot, type[0]);
    }
    frame.stack.push_back(Type::object("java/lang/Throwable"));
    code_.frames.emplace(handler, std::move(frame));
    out_.push_back(label_node(handler));
    append(edit_.exception);
    code_.raise_max_stack(1 + edit_.exception->stack_growth());
    append_plain(code_, out_, kAthrow);
  }

  Code& code_;
  const EntryExit& edit_;
  std::vector<Node> out_;
  std::vector<ExceptionEntry> ranges_[3];  // by Part
  Part part_ = kAfter;
  LabelId range_start_;
  bool range_has_code_ = false;
  Status status_;
};

// Whether `node` is an invokespecial of a constructor on `this`.
bool calls_constructor_of_this(const Code& code, const ConstantPool& pool, const Node& node, const Frame& before) {
  if (node.kind != Node::kPlain || node.opcode != kInvokespecial) return false;
  const auto callee = pool.member_ref(load_u2(&code.bytes_of(node)[1]));
  const auto descriptor = callee ? parse_method_descriptor(callee->descriptor) : std::nullopt;
  if (!descriptor || callee->name != "<init>") return false;
  const size_t receiver_depth = static_cast<size_t>(descriptor->argument_slots()) + 1;
  return before.stack.size() >= receiver_depth &&
         before.stack[before.stack.size() - receiver_depth].tag == Type::kUninitializedThis;
}

std::optional<CallSite> call_site(const Code& code, const ConstantPool& pool, const Node& node, bool constructors) {
  if (node.kind != Node::kPlain || !node.is_original() || !is_invoke(node.opcode)) return std::nullopt;
  const uint16_t index = load_u2(&code.bytes_of(node)[1]);
  if (node.opcode == kInvokedynamic) {
    const auto callee = pool.dynamic(index);
    if (!callee) return std::nullopt;
    return CallSite{node.opcode, {}, callee->name, callee->descriptor, node.pc};
  }
  const auto callee = pool.member_ref(index);
  if (!callee || (callee->name == "<init>" && !constructors)) return std::nullopt;
  return CallSite{node.opcode, callee->owner, callee->name, callee->descriptor, node.pc};
}

// Stores the operands to locals from `slot` on and loads them again: the stack stays as it was.
CallOperands copy_operands(const CallSite& site, const MethodDescriptor& descriptor, uint32_t slot,
                           Sequence& sequence) {
  CallOperands operands;
  const TypeDescriptor object{'L', "Ljava/lang/Object;"};
  if (site.opcode != kInvokestatic && site.opcode != kInvokedynamic && site.name != "<init>")
    operands.receiver = slot++;
  for (const TypeDescriptor& argument : descriptor.arguments) {
    operands.arguments.push_back(slot);
    slot += static_cast<uint32_t>(argument.slots());
  }
  const size_t count = operands.arguments.size();
  for (size_t i = count; i > 0; i--) sequence.store(descriptor.arguments[i - 1], operands.arguments[i - 1]);
  if (operands.receiver != UINT32_MAX) sequence.store(object, operands.receiver).load(object, operands.receiver);
  for (size_t i = 0; i < count; i++) sequence.load(descriptor.arguments[i], operands.arguments[i]);
  return operands;
}

// Rebuilds the node list with the code of a CallWrap.
class CallWrapEdit {
 public:
  CallWrapEdit(Code& code, ClassFile& file, const CallWrap& wrap)
      : code_(code), file_(file), wrap_(wrap), first_scratch_(code.max_locals) {}

  Result<size_t> apply() {
    index_ranges();
    for (size_t i = 0; i < code_.nodes.size() && status_; i++) {
      const auto site = call_site(code_, file_.pool(), code_.nodes[i], wrap_.constructors);
      if (site && wrap_.selects(*site)) {
        wrap_one(i, *site);
      } else {
        out_.push_back(code_.nodes[i]);
      }
    }
    if (!status_) return status_.error();
    if (wrapped_ == 0) return wrapped_;
    out_.insert(out_.end(), handlers_.begin(), handlers_.end());
    code_.nodes = std::move(out_);
    // Ours come first, since the method's own handlers must not see the exception before them. The ranges of `covers_`
    // hold nothing but our handlers, so that their place matters only among themselves.
    entries_.insert(entries_.end(), code_.exceptions.begin(), code_.exceptions.end());
    entries_.insert(entries_.end(), covers_.begin(), covers_.end());
    code_.exceptions = std::move(entries_);
    return wrapped_;
  }

 private:
  void index_ranges() {
    node_of_label_.assign(code_.label_count, 0);
    for (size_t i = 0; i < code_.nodes.size(); i++) {
      if (code_.nodes[i].kind == Node::kLabel) node_of_label_[code_.nodes[i].label.index()] = i;
    }
  }

  bool covers(const ExceptionEntry& entry, size_t node) const {
    return node_of_label_[entry.start.index()] <= node && node < node_of_label_[entry.end.index()];
  }

  void append(const Sequence& sequence, std::vector<Node>& nodes) {
    if (status_) status_ = sequence.append_to(code_, nodes);
    code_.raise_max_stack(code_.original_max_stack + sequence.stack_growth());
  }

  void wrap_one(size_t i, const CallSite& site) {
    const auto descriptor = parse_method_descriptor(site.descriptor);
    if (!descriptor) {
      status_ = Error{"the call at pc " + std::to_string(site.pc) + " has a malformed descriptor"};
      return;
    }
    Sequence before(file_.pool()), after(file_.pool()), exception(file_.pool());
    CallOperands operands;
    // The slots are used again by the next call: operands are copied when all are evaluated, so calls cannot overlap.
    if (wrap_.copy_operands) operands = copy_operands(site, *descriptor, first_scratch_, before);
    wrap_.build(site, operands, before, after, exception);
    append(before, out_);
    if (wrap_.with_exception) {
      const LabelId start = code_.new_label();
      const LabelId end = code_.new_label();
      out_.push_back(label_node(start));
      out_.push_back(code_.nodes[i]);
      out_.push_back(label_node(end));
      add_handler(i, start, end, exception);
    } else {
      out_.push_back(code_.nodes[i]);
    }
    append(after, out_);
    wrapped_++;
  }

  // The handler has the locals of the call (its frame is inferred when the method is encoded), so that they suit
  // whatever handlers cover both.
  void add_handler(size_t call, LabelId start, LabelId end, const Sequence& exception) {
    const LabelId handler = code_.new_label();
    const LabelId handler_end = code_.new_label();
    entries_.push_back({start, end, handler, 0});
    handlers_.push_back(label_node(handler));
    append(exception, handlers_);
    code_.raise_max_stack(1 + exception.stack_growth());
    append_plain(code_, handlers_, kAthrow);
    handlers_.push_back(label_node(handler_end));
    for (const ExceptionEntry& outer : code_.exceptions) {
      if (covers(outer, call)) covers_.push_back({handler, handler_end, outer.handler, outer.catch_type});
    }
  }

  Code& code_;
  ClassFile& file_;
  const CallWrap& wrap_;
  uint32_t first_scratch_;
  std::vector<size_t> node_of_label_;
  std::vector<Node> out_;
  std::vector<Node> handlers_;
  std::vector<ExceptionEntry> entries_;  // of the calls
  std::vector<ExceptionEntry> covers_;   // of the handlers
  size_t wrapped_ = 0;
  Status status_;
};

}  // namespace

bool is_empty_finalizer(const Code& code) {
  if (code.method_name != "finalize" || !code.descriptor.arguments.empty()) return false;
  const auto is_real = [](const Node& node) { return node.is_instruction() && node.opcode != kReturn; };
  return std::none_of(code.nodes.begin(), code.nodes.end(), is_real);
}

Result<ConstructorCall> find_constructor_call(Code& code, const ConstantPool& pool) {
  ConstructorCall call;
  call.node = kNowhere;
  call.runs_before.assign(code.nodes.size(), false);
  size_t calls = 0;
  size_t last_before = 0;         // last instruction of the method with `this` uninitialized
  size_t first_after = kNowhere;  // first instruction of the method with it initialized
  const Status status = infer_types(code, pool, [&](size_t i, const Frame& frame) {
    const Node& node = code.nodes[i];
    if (!node.is_instruction()) return;
    if (!frame.this_uninitialized()) {
      if (node.is_original()) first_after = std::min(first_after, i);
      return;
    }
    call.runs_before[i] = true;
    call.keeps_this = call.keeps_this && frame.locals[0].tag == Type::kUninitializedThis;
    if (node.is_original()) last_before = std::max(last_before, i);
    if (!calls_constructor_of_this(code, pool, node, frame)) return;
    call.node = i;
    calls++;
  });
  if (!status) return status.error();
  if (calls != 1) return Error{"constructor with " + std::to_string(calls) + " reachable calls of this() or super()"};
  if (last_before > call.node || first_after < call.node) {
    return Error{"constructor whose code before and after the call of this() or super() is not in that order"};
  }
  return call;
}

Status instrument_entry_exit(Code& code, const ClassFile& file, const EntryExit& edit) {
  if (is_empty_finalizer(code)) return Error{"finalize: empty, and any code in it would make the class finalizable"};
  size_t entry_at = 0;
  std::optional<ConstructorCall> call;
  if (code.this_starts_uninitialized()) {
    auto found = find_constructor_call(code, file.pool());
    if (!found) return Error{std::string(code.method_name) + ": " + found.error().message};
    call = *std::move(found);
    if (edit.whole_constructor && !call->keeps_this) {
      return Error{std::string(code.method_name) + ": keeps `this` in another local before it calls this() or super()"};
    }
    entry_at = edit.whole_constructor ? 0 : call->node + 1;
  }
  for (const SavedLocal& local : edit.saved) define_in_frames(code, entry_at, local.slot, local.descriptor);
  return EntryExitEdit(code, edit).apply(entry_at, call ? &*call : nullptr);
}

Result<size_t> wrap_calls(Code& code, ClassFile& file, const CallWrap& wrap) {
  auto wrapped = CallWrapEdit(code, file, wrap).apply();
  if (!wrapped) return Error{std::string(code.method_name) + ": " + wrapped.error().message};
  return wrapped;
}

Result<size_t> insert_at_handlers(Code& code, const Sequence& at_handler) {
  std::vector<bool> is_handler(code.label_count, false);
  for (const ExceptionEntry& entry : code.exceptions) is_handler[entry.handler.index()] = true;
  std::vector<Node> out;
  out.reserve(code.nodes.size() + 64);
  size_t handlers = 0;
  bool begins = false;  // a handler, at the next instruction
  for (const Node& node : code.nodes) {
    if (node.is_instruction() && std::exchange(begins, false) && node.is_original()) {
      if (Status status = at_handler.append_to(code, out); !status) {
        return Error{std::string(code.method_name) + ": " + status.error().message};
      }
      ++handlers;
    }
    if (node.kind == Node::kLabel && is_handler[node.label.index()]) begins = true;
    out.push_back(node);
  }
  if (handlers == 0) return handlers;
  code.raise_max_stack(code.original_max_stack + at_handler.stack_growth());
  code.nodes = std::move(out);
  return handlers;
}

Result<size_t> insert_behind(Code& code, ClassFile& file,
                             const std::function<void(Bytes instruction, Sequence& behind)>& build) {
  std::vector<Node> out;
  out.reserve(code.nodes.size() + 64);
  size_t chosen = 0;
  for (const Node& node : code.nodes) {
    out.push_back(node);
    if (node.kind != Node::kPlain || !node.is_original() || is_invoke(node.opcode) || ends_flow(node.opcode)) continue;
    Sequence behind(file.pool());
    build(code.bytes_of(node), behind);
    if (behind.empty()) continue;
    if (Status status = behind.append_to(code, out); !status) {
      return Error{std::string(code.method_name) + ": " + status.error().message};
    }
    code.raise_max_stack(code.original_max_stack + behind.stack_growth());
    ++chosen;
  }
  if (chosen > 0) code.nodes = std::move(out);
  return chosen;
}

}  // namespace contrafact::classfile
