#include "classfile/monitors.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "classfile/instrument.h"
#include "classfile/node_list.h"
#include "classfile/types.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;
using Type = VerificationType;

namespace {

constexpr uint16_t kVersionClassConstants = 49;  // of ldc, JVMS 4.4
// Bounds the memory that hostile code can cost: slots of all frames that an edit keeps. Real methods stay far below.
constexpr size_t kMaxSlotsKept = size_t{1} << 19;
constexpr std::string_view kAnyObject = "Ljava/lang/Object;";

bool is_monitorenter(const Node& node) {
  return node.kind == Node::kPlain && node.opcode == kMonitorenter;
}
bool is_own_monitor(const Node& node) {
  return node.kind == Node::kPlain && node.is_original() &&
         (node.opcode == kMonitorenter || node.opcode == kMonitorexit);
}
bool is_own_return(const Node& node) {
  return node.is_instruction() && node.is_original() && is_return(node.opcode);
}

// Types before chosen nodes; of those that something reaches.
using FramesByNode = std::unordered_map<size_t, Frame>;

Result<FramesByNode> frames_before(Code& code, const ConstantPool& pool, bool (*chosen)(const Node&)) {
  FramesByNode frames;
  size_t slots = 0;
  const Status status = infer_types(code, pool, [&](size_t i, const Frame& before) {
    if (!chosen(code.nodes[i])) return;
    slots += before.locals.size() + before.stack.size();
    if (slots <= kMaxSlotsKept) frames.emplace(i, before);
  });
  if (!status) return status.error();
  if (slots > kMaxSlotsKept) return Error{"the method has too many monitors or returns, with too many variables"};
  return frames;
}

// At least `least`.
size_t deepest_stack(const FramesByNode& frames, size_t least) {
  size_t deepest = least;
  for (const auto& [node, frame] : frames) deepest = std::max(deepest, frame.stack.size());
  return deepest;
}

bool has_object_on_top(const Frame& frame) {
  if (frame.stack.empty()) return false;
  const Type::Tag tag = frame.stack.back().tag;
  return tag == Type::kObject || tag == Type::kNull;
}

Error in_method(const Code& code, const std::string& what) {
  return Error{std::string(code.method_name) + ": " + what};
}

// A body that is rebuilt, with code of a MonitorProbe in it.
class MonitorBody {
 public:
  // `spill_slots`: the deepest operand stack at any guarded code.
  MonitorBody(Code& code, ClassFile& file, const MonitorProbe& probe, size_t spill_slots)
      : object(code.new_local(kAnyObject)),
        token(code.new_local("J")),
        code_(code),
        file_(file),
        probe_(probe),
        spill_(code.max_locals) {
    code.max_locals += static_cast<uint32_t>(spill_slots);
    out_.reserve(code.nodes.size() + 64);
  }

  const uint32_t object;
  const uint32_t token;

  void put(const Node& node) { out_.push_back(node); }
  void put(LabelId label) { out_.push_back(label_node(label)); }
  void put(Opcode opcode) { append_plain(code_, out_, opcode); }
  Sequence sequence() const { return Sequence(file_.pool()); }

  // `depth`: of the operand stack where the sequence begins.
  void append(const Sequence& sequence, size_t depth) {
    if (status_) status_ = sequence.append_to(code_, out_);
    code_.raise_max_stack(static_cast<uint32_t>(depth) + sequence.stack_growth());
  }

  MonitorSite site(const Node& node) const { return {node.pc, object, token}; }
  void append_before_enter(const MonitorSite& site, Sequence& sequence) const {
    if (probe_.before_enter) probe_.before_enter(site, sequence);
  }
  void append_after_enter(const MonitorSite& site, const Frame& frame) { guard(probe_.after_enter, site, frame); }
  void append_before_exit(const MonitorSite& site, const Frame& frame) { guard(probe_.before_exit, site, frame); }

  // `own_last`: exception ranges that come after all others.
  Status finish(const std::vector<ExceptionEntry>& own_last = {}) {
    if (!status_) return in_method(code_, status_.error().message);
    out_.insert(out_.end(), handlers_.begin(), handlers_.end());
    code_.nodes = std::move(out_);
    guards_.insert(guards_.end(), code_.exceptions.begin(), code_.exceptions.end());
    guards_.insert(guards_.end(), own_last.begin(), own_last.end());
    code_.exceptions = std::move(guards_);
    return {};
  }

 private:
  // The probe's code, with a handler that drops what it throws:
  //     store the stack; start: code; end: load the stack    and behind the method    handler: pop; goto end
  // `frame`: the types before it.
  void guard(const MonitorProbe::Build& build, const MonitorSite& site, Frame frame) {
    if (!build) return;
    Sequence probe = sequence();
    build(site, probe);
    if (probe.empty()) return;
    const std::vector<Type> stack = std::exchange(frame.stack, {});
    Sequence spill = sequence(), reload = sequence();
    for (size_t i = stack.size(); i > 0; i--) {
      if (stack[i - 1].tag != Type::kSecondHalf) spill.store(stored_like(stack[i - 1]), slot_of(i - 1));
    }
    for (size_t i = 0; i < stack.size(); i++) {
      if (stack[i].tag == Type::kSecondHalf) continue;
      reload.load(stored_like(stack[i]), slot_of(i));
      set_local(frame.locals, slot_of(i), stack[i]);
    }
    const LabelId start = code_.new_label(), end = code_.new_label(), handler = code_.new_label();
    append(spill, stack.size());
    put(start);
    append(probe, 0);
    put(end);
    append(reload, 0);
    add_dropping_handler(handler, end, std::move(frame));
    guards_.push_back({start, end, handler, 0});
  }

  // The frames are explicit: what the probe's code stores to locals is not known in its handler, nor behind it.
  void add_dropping_handler(LabelId handler, LabelId end, Frame frame) {
    code_.frames.emplace(end, frame);
    frame.stack.push_back(Type::object("java/lang/Throwable"));
    code_.frames.emplace(handler, std::move(frame));
    code_.raise_max_stack(1);
    handlers_.push_back(label_node(handler));
    append_plain(code_, handlers_, kPop);
    Node jump;
    jump.kind = Node::kBranch;
    jump.opcode = kGoto;
    jump.label = end;
    handlers_.push_back(jump);
  }

  uint32_t slot_of(size_t stack_index) const { return spill_ + static_cast<uint32_t>(stack_index); }

  Code& code_;
  ClassFile& file_;
  const MonitorProbe& probe_;
  uint32_t spill_;  // the first of the locals that keep the operand stack
  std::vector<Node> out_;
  std::vector<Node> handlers_;          // of guarded code; nothing in them can throw, so that no range covers them
  std::vector<ExceptionEntry> guards_;  // first of all: nothing else may see what they catch
  Status status_;
};

// dup; astore object; before_enter; monitorenter; after_enter
void wrap_enter(MonitorBody& body, const Node& node, Frame frame) {
  Sequence before = body.sequence();
  before.dup().astore(body.object);
  body.append_before_enter(body.site(node), before);
  body.append(before, frame.stack.size());
  body.put(node);
  set_local(frame.locals, body.object, frame.stack.back());
  frame.stack.pop_back();
  // Before the label of what follows: a loop that begins there does not run it again.
  body.append_after_enter(body.site(node), frame);
}

// astore object; before_exit; aload object; monitorexit
void wrap_exit(MonitorBody& body, const Node& node, Frame frame) {
  Sequence take = body.sequence(), give = body.sequence();
  take.astore(body.object);
  give.aload(body.object);
  body.append(take, frame.stack.size());
  set_local(frame.locals, body.object, frame.stack.back());
  frame.stack.pop_back();
  body.append_before_exit(body.site(node), frame);
  body.append(give, frame.stack.size());
  body.put(node);
}

// The body of a synchronized method as a block that it does the locking in.
class OpenedMethod {
 public:
  OpenedMethod(Code& code, ClassFile& file, const MonitorProbe& probe, FramesByNode returns)
      // The handler keeps one value: the exception.
      : code_(code), body_(code, file, probe, deepest_stack(returns, 1)), returns_(std::move(returns)) {
    define_in_frames(code, 0, body_.object, kAnyObject);
  }

  Status apply() {
    enter();
    for (size_t i = 0; i < code_.nodes.size(); i++) {
      const auto found = returns_.find(i);
      if (found == returns_.end()) {
        body_.put(code_.nodes[i]);
      } else {
        leave(code_.nodes[i], found->second);
      }
    }
    end_range();
    handle_exceptions();
    const Status status = body_.finish(ranges_);
    if (status) code_.access &= static_cast<uint16_t>(~kAccSynchronized);
    return status;
  }

 private:
  MonitorSite site() const { return body_.site(Node()); }

  Frame with_lock(Frame frame) const {
    set_local(frame.locals, body_.object, Type::object("java/lang/Object"));
    return frame;
  }

  void enter() {
    const LabelId begin = code_.new_label();
    body_.put(begin);
    extend_first_line(begin);
    Sequence before = body_.sequence();
    push_object(before);
    before.dup().astore(body_.object);
    body_.append_before_enter(site(), before);
    body_.append(before, 0);
    body_.put(kMonitorenter);
    body_.append_after_enter(site(), with_lock(code_.entry));
    begin_range();
  }

  // HotSpot tells references apart by the instruction that yielded them, and compiles no method that takes one twice:
  // it must not be the `this` that a block in the method may lock again.
  void push_object(Sequence& sequence) const {
    if ((code_.access & kAccStatic) != 0) {
      sequence.ldc_class(code_.class_name);
      return;
    }
    sequence.aload(0);
    if (std::none_of(code_.nodes.begin(), code_.nodes.end(), is_monitorenter)) return;
    sequence.invokestatic("java/util/Objects", "requireNonNull", "(Ljava/lang/Object;)Ljava/lang/Object;");
  }

  // The method's first line begins here, so that a thread that waits for the monitor is at a line.
  void extend_first_line(LabelId begin) {
    std::vector<LabelId> first;
    for (const Node& node : code_.nodes) {
      if (node.is_original()) break;
      if (node.kind == Node::kLabel) {
        first.push_back(node.label);
      } else {
        first.clear();
      }
    }
    for (CodeAttribute& attribute : code_.attributes) {
      const auto is_first = [&](const LineEntry& entry) { return std::ranges::count(first, entry.start) > 0; };
      const auto found = std::ranges::find_if(attribute.lines, is_first);
      if (found == attribute.lines.end()) continue;
      attribute.lines.insert(attribute.lines.begin(), {begin, found->line});
      return;
    }
  }

  // Behind the monitorexit nothing is covered: the monitor is not held there.
  void leave(const Node& node, const Frame& before) {
    const Frame frame = with_lock(before);
    body_.append_before_exit(site(), frame);
    release(frame.stack.size());
    end_range();
    body_.put(node);
    begin_range();
  }

  void release(size_t depth) {
    Sequence give = body_.sequence();
    give.aload(body_.object);
    body_.append(give, depth);
    body_.put(kMonitorexit);
  }

  void begin_range() {
    range_start_ = code_.new_label();
    body_.put(range_start_);
  }

  void end_range() {
    const LabelId end = code_.new_label();
    body_.put(end);
    ranges_.push_back({range_start_, end, LabelId(), 0});
  }

  // It covers itself up to the monitorexit, as javac's does. No code in it can throw but the monitorexit, which HotSpot
  // takes for one that does not.
  void handle_exceptions() {
    const LabelId handler = code_.new_label(), end = code_.new_label();
    ranges_.push_back({handler, end, handler, 0});
    for (ExceptionEntry& range : ranges_) range.handler = handler;
    Frame frame = with_lock(Frame());
    frame.stack.push_back(Type::object("java/lang/Throwable"));
    code_.frames.emplace(handler, frame);
    body_.put(handler);
    body_.append_before_exit(site(), frame);
    release(1);
    body_.put(end);
    body_.put(kAthrow);
  }

  Code& code_;
  MonitorBody body_;
  FramesByNode returns_;  // the types before each return; one that nothing reaches stays as it is
  std::vector<ExceptionEntry> ranges_;
  LabelId range_start_;
};

}  // namespace

Result<size_t> wrap_monitors(Code& code, ClassFile& file, const MonitorProbe& probe) {
  if (std::none_of(code.nodes.begin(), code.nodes.end(), is_own_monitor)) return size_t{0};
  if (code.has_jsr) return in_method(code, "has subroutines (jsr) and monitors");
  auto frames = frames_before(code, file.pool(), is_own_monitor);
  if (!frames) return in_method(code, frames.error().message);
  MonitorBody body(code, file, probe, deepest_stack(*frames, 1) - 1);  // without the monitor's object
  size_t enters = 0;
  for (size_t i = 0; i < code.nodes.size(); i++) {
    const Node& node = code.nodes[i];
    const auto found = frames->find(i);
    if (found == frames->end()) {
      body.put(node);
    } else if (!has_object_on_top(found->second)) {
      return in_method(code, "pc " + std::to_string(node.pc) + ": no object for the monitor");
    } else if (node.opcode == kMonitorenter) {
      wrap_enter(body, node, std::move(found->second));
      enters++;
    } else {
      wrap_exit(body, node, std::move(found->second));
    }
  }
  if (Status status = body.finish(); !status) return status.error();
  return enters;
}

Status open_synchronized(Code& code, ClassFile& file, const MonitorProbe& probe) {
  if ((code.access & kAccSynchronized) == 0 || code.method_name.starts_with('<')) {
    return in_method(code, "is no synchronized method");
  }
  if (is_empty_finalizer(code)) return in_method(code, "empty, and any code in it would make the class finalizable");
  if (code.has_jsr) return in_method(code, "is synchronized and has subroutines (jsr)");
  if ((code.access & kAccStatic) != 0 && code.major_version < kVersionClassConstants) {
    return in_method(code, "is synchronized on its class, and class file version " +
                               std::to_string(code.major_version) + " has no class constants (49 and later have)");
  }
  auto returns = frames_before(code, file.pool(), is_own_return);
  if (!returns) return in_method(code, returns.error().message);
  return OpenedMethod(code, file, probe, *std::move(returns)).apply();
}

}  // namespace contrafact::classfile
