#include "agent_jvm/hand_overs.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kRunnable = "java/lang/Runnable";
constexpr std::string_view kRunnableFuture = "java/util/concurrent/RunnableFuture";
constexpr std::string_view kCallable = "java/util/concurrent/Callable";
constexpr std::string_view kTakesRunnable = "(Ljava/lang/Runnable;)V";
// Of a program's own pool, whatever it returns.
constexpr std::string_view kTakesOneTask[] = {"(Ljava/lang/Runnable;)", "(Ljava/util/concurrent/Callable;)"};
constexpr std::string_view kOfTheJdk[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};

// These record themselves. Their indirect subclasses are recognised when the program runs.
bool is_pool_of_jdk(std::string_view class_name) {
  return class_name == "java/util/concurrent/ThreadPoolExecutor" || class_name == "java/util/concurrent/ForkJoinPool" ||
         class_name == "java/util/concurrent/ScheduledThreadPoolExecutor";
}

bool is_run(std::string_view owner, std::string_view name, std::string_view descriptor) {
  return name == "run" && descriptor == "()V" && (owner == kRunnable || owner == kRunnableFuture);
}

bool is_call(std::string_view owner, std::string_view name, std::string_view descriptor) {
  return is_run(owner, name, descriptor) ||
         (owner == kCallable && name == "call" && descriptor == "()Ljava/lang/Object;");
}

bool is_of_jdk(std::string_view class_name) {
  return std::ranges::any_of(kOfTheJdk, [&](std::string_view prefix) { return class_name.starts_with(prefix); });
}

base::Status look_at_calls(Edit& edit, const std::function<void(const CallSite&)>& look) {
  CallWrap wrap;
  wrap.selects = [&](const CallSite& site) {
    look(site);
    return false;
  };
  wrap.build = [](const CallSite&, const CallOperands&, Sequence&, Sequence&, Sequence&) {};
  auto count = wrap_calls(edit.code, edit.file, wrap);
  return count ? base::Status() : base::Status(count.error());
}

// The fate of the Runnable that a method `execute` gets, as far as the method's own code shows it.
enum class Fate {
  queued,     // none of the others
  handed_on,  // another executor, or a thread of its own, gets it or its wrapper: those report
  run,        // at once, and it is used for nothing else
};

bool is_check(std::string_view name) {
  return name == "requireNonNull" || name == "checkNotNull" || name == "checkNotNullParam" || name == "notNull";
}

// Whether a method of this name puts its argument into a collection. The collection may be the program's own.
bool is_put(std::string_view name) {
  constexpr std::string_view kPuts[] = {"add",  "addFirst", "addLast",    "offer",     "offerFirst", "offerLast",
                                        "put",  "putFirst", "putLast",    "enqueue",   "push",       "append",
                                        "send", "insert",   "insertLast", "addElement"};
  return std::ranges::find(kPuts, name) != std::end(kPuts);
}

size_t loads_of(const Edit& edit, uint32_t slot) {
  size_t loads = 0;
  for (const classfile::Node& node : edit.code.nodes) {
    if (node.kind != classfile::Node::kPlain) continue;
    const classfile::Bytes bytes = edit.code.bytes_of(node);
    const bool is_short = slot < 4 && node.opcode == classfile::kAload0 + slot;
    loads += is_short || (node.opcode == classfile::kAload && bytes[1] == slot);
  }
  return loads;
}

bool takes_task(std::string_view descriptor) {
  return descriptor.find(kRunnable) != std::string_view::npos || descriptor.find(kCallable) != std::string_view::npos;
}

struct Found {
  Fate fate = Fate::queued;
  bool put = false;  // something was put into a collection
};

base::Status find_fate(Edit& edit, Found& found) {
  size_t runs = 0, checks = 0;
  bool hands_on = false;
  const size_t loads = loads_of(edit, edit.parameter_slot(0));
  base::Status status = look_at_calls(edit, [&](const CallSite& site) {
    runs += is_call(site.owner, site.name, site.descriptor);
    checks += is_check(site.name);
    found.put |= is_put(site.name);
    // A Runnable that the JDK wraps is begun by the JDK, too.
    hands_on |= site.name == "<init>" && is_of_jdk(site.owner) && takes_task(site.descriptor);
    hands_on |= (site.name == "execute" && site.descriptor == kTakesRunnable) ||
                (site.name == "start" && site.descriptor == "()V") ||
                (site.owner.starts_with("java/lang/Thread") && site.name.starts_with("start"));
  });
  found.fate = hands_on ? Fate::handed_on : runs > 0 && loads <= runs + checks ? Fate::run : Fate::queued;
  return status;
}

using IsStart = bool (*)(std::string_view owner, std::string_view name, std::string_view descriptor);
base::Status wrap_starts(Edit& edit, std::string_view owner, std::string_view start, IsStart is_start) {
  const uint32_t token = edit.token();
  base::Status status =
      edit.wrap([&](const CallSite& site) { return is_start(site.owner, site.name, site.descriptor); },
                [&](const CallOperands& operands, Sequence& before, Sequence& after, Sequence& exception) {
                  before.aload(operands.receiver).invokestatic(owner, start, "(Ljava/lang/Object;)J").lstore(token);
                  after.aconst_null().lload(token).invokestatic(kProbesClass, "bareEnd", "(Ljava/lang/Throwable;J)V");
                  exception.dup().lload(token).invokestatic(kProbesClass, "bareEnd", "(Ljava/lang/Throwable;J)V");
                });
  return status ? edit.finish() : status;
}

base::Status wrap_any_runs(Edit& edit) {
  bool any = false;
  base::Status status =
      look_at_calls(edit, [&](const CallSite& site) { any |= is_call(site.owner, site.name, site.descriptor); });
  if (!status || !any) return status;
  return wrap_starts(edit, kProbesClass, "bareStart", is_call);
}

}  // namespace

bool HandOvers::may_be_in(std::string_view class_name, std::span<const uint8_t> bytes) {
  if (is_of_jdk(class_name)) return false;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return takes_task(text) || text.find(kRunnableFuture) != std::string_view::npos;
}

HandOvers::HandOvers(const classfile::ClassFile& file) {
  const classfile::ConstantPool& pool = file.pool();
  for (uint32_t i = 1; i < pool.count(); ++i) {
    if (pool.tag(i) != classfile::kTagInterfaceMethodRef) continue;
    const auto ref = pool.member_ref(i);
    if (ref && is_call(ref->owner, ref->name, ref->descriptor)) run_refs_.push_back(static_cast<uint16_t>(i));
  }
  const bool may_have_state = (file.access() & classfile::kAccInterface) == 0;
  has_submission_ = may_have_state && !is_pool_of_jdk(file.super_name()) &&
                    std::any_of(file.methods().begin(), file.methods().end(),
                                [&](const auto& method) { return is_submission(method); });
  if (!may_have_state) return;
  makes_threads_ = starts_threads(file);
  has_own_submission_ = makes_threads_ && std::any_of(file.methods().begin(), file.methods().end(),
                                                      [&](const auto& method) { return is_own_submission(method); });
}

// Threads, or objects of a class within it that is one.
bool HandOvers::starts_threads(const classfile::ClassFile& file) {
  const classfile::ConstantPool& pool = file.pool();
  const std::string_view outermost = file.name().substr(0, file.name().find('$'));
  for (uint32_t i = 1; i < pool.count(); ++i) {
    if (pool.tag(i) != classfile::kTagMethodRef) continue;
    const auto ref = pool.member_ref(i);
    if (!ref || ref->name != "start" || ref->descriptor != "()V") continue;
    if (ref->owner == "java/lang/Thread") return true;
    if (ref->owner.size() > outermost.size() && ref->owner.starts_with(outermost) &&
        ref->owner[outermost.size()] == '$')
      return true;
  }
  return false;
}

bool HandOvers::is_own_submission(const classfile::Member& method) const {
  return makes_threads_ && method.has_code() && !method.has(classfile::kAccStatic) && method.name != "<init>" &&
         std::ranges::any_of(kTakesOneTask,
                             [&](std::string_view takes) { return method.descriptor.starts_with(takes); }) &&
         !is_submission(method);
}

bool HandOvers::is_submission(const classfile::Member& method) const {
  return method.name == "execute" && method.descriptor == kTakesRunnable && method.has_code() &&
         !method.has(classfile::kAccStatic);
}

// The bytes of the instruction may also be others' operands: then there is nothing to wrap.
bool HandOvers::calls_run(const classfile::Member& method) const {
  constexpr uint8_t kInvokeInterface = 185;
  for (size_t i = 0; i + 2 < method.code.size(); ++i) {
    if (method.code[i] != kInvokeInterface) continue;
    const auto ref = static_cast<uint16_t>(method.code[i + 1] << 8 | method.code[i + 2]);
    if (std::find(run_refs_.begin(), run_refs_.end(), ref) != run_refs_.end()) return true;
  }
  return false;
}

bool HandOvers::concerns(const classfile::Member& method) const {
  return (has_submission_ && is_submission(method)) || (has_own_submission_ && is_own_submission(method)) ||
         (!run_refs_.empty() && calls_run(method));
}

base::Status HandOvers::edit(Edit& edit) const {
  if (has_submission_ && is_submission(edit.method)) {
    Found found;
    base::Status status = find_fate(edit, found);
    if (status && found.fate != Fate::handed_on) status = hand_over(edit, 0, found.fate == Fate::run ? kInPlace : 0);
    if (!status) return status;
  }
  if (has_own_submission_ && is_own_submission(edit.method)) {
    Found found;
    base::Status status = find_fate(edit, found);
    if (status && found.fate == Fate::queued && found.put) status = hand_over(edit, 0, kByOwnPool);
    if (!status) return status;
  }
  return !run_refs_.empty() && calls_run(edit.method) ? wrap_any_runs(edit) : base::Status();
}

base::Status wrap_runs(Edit& edit, std::string_view owner, std::string_view start) {
  return wrap_starts(edit, owner, start, is_run);
}

base::Status hand_over(Edit& edit, size_t index, int how) {
  const uint32_t token = edit.token(), command = edit.object(), parameter = edit.parameter_slot(index);
  auto handed = [&](Sequence& s) {
    s.lload(token).aload(command).invokestatic(kExecutorsClass, "handed",
                                               "(Ljava/lang/Throwable;JLjava/lang/Object;)V");
  };
  return edit.finish(
      [&](Sequence& s) {
        s.aload(parameter).astore(command).aload(0).aload(command).iconst(how);
        s.invokestatic(kExecutorsClass, "handing", "(Ljava/lang/Object;Ljava/lang/Object;I)J").lstore(token);
      },
      [&](Sequence& s) {
        s.aconst_null();
        handed(s);
      },
      [&](Sequence& s) {
        s.dup();
        handed(s);
      });
}

}  // namespace contrafact::agent_jvm
