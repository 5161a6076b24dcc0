// What critical sections touch (--sets): code that tells of each access (java/java/lang/ContrafactSets.java).
//
// A method gets a second body, which runs instead while its thread is observed. The methods of the chosen classes have one
// body, which tells, since sections begin and end within; constructors as well, because only a constructor may call
// another one.
#include <algorithm>
#include <string>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/call_summaries.h"
#include "agent_jvm/probes.h"
#include "agent_jvm/probes_sets.h"
#include "agent_jvm/sets.h"
#include "classfile/accesses.h"
#include "classfile/annotations.h"
#include "classfile/flows.h"
#include "classfile/method_hash.h"
#include "classfile/second_body.h"

namespace contrafact::agent_jvm {
namespace {

using classfile::Code;
using classfile::Member;
using classfile::method_hash;

// What is left as it is: what the JVM's own work, class loading, method handles, values (strings, boxes) and locks are
// made of. None of it is shared state of the program's, but for what its callers tell.
constexpr std::string_view kUnobserved[] = {"java/lang/",
                                            "jdk/internal/",
                                            "java/util/concurrent/locks/",
                                            "sun/launcher/",
                                            "sun/reflect/",
                                            "sun/invoke/",
                                            "sun/misc/",
                                            "java/security/Access",
                                            "java/security/Protection",
                                            "jdk/proxy",
                                            "com/sun/proxy/",
                                            "java/util/ServiceLoader",
                                            "java/util/ResourceBundle"};
constexpr std::string_view kObservedAllTheSame[] = {"java/lang/AbstractStringBuilder", "java/lang/StringBuilder",
                                                    "java/lang/StringBuffer",          "java/lang/StringLatin1$",
                                                    "java/lang/StringUTF16$",          "java/lang/Iterable",
                                                    "java/lang/invoke/VarHandle",      "java/lang/ref/Reference",
                                                    "jdk/internal/reflect/Unsafe",     "jdk/internal/random/",
                                                    "jdk/internal/util/random/"};

// Which frame calls these matters to what they return.
constexpr std::string_view kCallerMatters[] = {"Ljdk/internal/reflect/CallerSensitive;",
                                               "Ljdk/internal/vm/annotation/ChangesCurrentThread;",
                                               "Ljdk/internal/vm/annotation/JvmtiMountTransition;"};

// Yields how many instructions are told of.
base::Result<size_t> tell_accesses(Code& code, classfile::ClassFile& file, FieldNumbers& fields, bool when_observed,
                                   bool with_flow) {
  const auto calls = tell_calls(code, file, fields, with_flow);
  if (!calls) return calls.error();
  classfile::AccessProbe probe{.observer = kSetsClass, .number = {}, .when_observed = when_observed};
  probe.number = [&](const classfile::FieldSite& site) -> uint32_t {
    // A final field of the class's own is written before anybody else can read it.
    if (!site.is_write && site.owner == file.name()) {
      const auto own = std::ranges::find(file.fields(), site.name, &Member::name);
      if (own != file.fields().end() && own->has(classfile::kAccFinal)) return 0;
    }
    return site.name.starts_with("contrafact") ? 0 : fields.number(site.owner, site.name);
  };
  const auto accesses = classfile::probe_accesses(code, file, probe);
  if (!accesses) return accesses.error();
  return *calls + *accesses;
}

uint32_t number_for_flow(FieldNumbers& fields, const classfile::FieldSite& site) {
  return site.name.starts_with("contrafact") ? 0 : fields.number(site.owner, site.name);
}

classfile::FlowProbe flow_probe(FieldNumbers& fields) {
  return {.tracker = kFlowClass,
          .number = [&](const classfile::FieldSite& site) { return number_for_flow(fields, site); },
          .may_lock = {}};
}

// Code of the method that runs outside of sections tells of its reads and writes.
base::Status look_outside(Code& code, classfile::ClassFile& file, FieldNumbers& fields) {
  const classfile::AccessProbe probe{
      .observer = kOutsideClass,
      .number = [&](const classfile::FieldSite& site) { return number_for_flow(fields, site); },
      .when_observed = true};
  const auto count = classfile::probe_accesses(code, file, probe);
  return count ? base::Status() : base::Status(count.error());
}

bool caller_matters(const classfile::ClassFile& file, const Member& method) {
  return std::ranges::any_of(kCallerMatters, [&](std::string_view type) { return has_annotation(file, method, type); });
}

base::Status pause(Edit& edit) {
  return edit.bracket({kSetsClass, "pausing", "()J", {}, "paused"});
}

constexpr std::string_view kLockCalls[] = {"lock", "lockInterruptibly", "tryLock"};
constexpr std::string_view kCallsOfLocks[] = {
    "lock",   "lockInterruptibly", "tryLock", "unlock", "await",    "awaitNanos",
    "signal", "signalAll",         "wait",    "notify", "notifyAll"};

bool takes_lock(const Edit& edit) {
  if (edit.method.has(classfile::kAccSynchronized)) return true;
  return std::ranges::any_of(edit.code.nodes, [&](const classfile::Node& node) {
    if (node.kind != classfile::Node::kPlain || !node.is_original()) return false;
    if (node.opcode == classfile::kMonitorenter) return true;
    if (!classfile::is_invoke(node.opcode)) return false;
    const auto callee = edit.file.pool().member_ref(classfile::load_u2(&edit.code.bytes_of(node)[1]));
    return callee && std::ranges::find(kLockCalls, callee->name) != std::end(kLockCalls);
  });
}

// Not what boxes, strings and the like do.
bool may_take_long(const CallSite& site) {
  if (std::ranges::find(kCallsOfLocks, site.name) != std::end(kCallsOfLocks)) return false;
  return !site.owner.starts_with("java/lang/") || site.owner == "java/lang/Thread";
}

// Of a stack trace: without the frames that only lead to second bodies.
base::Status hide_second_bodies(Edit& edit) {
  if (edit.code.descriptor.result.kind != '[') return {};
  constexpr std::string_view kElements = "[Ljava/lang/StackTraceElement;";
  return edit.at_exit([&](Sequence& s) {
    s.invokestatic(kSetsClass, "ownFrames", "(" + std::string(kElements) + ")" + std::string(kElements));
  });
}

// java.lang.String works on the array that it gets from there.
base::Status tell_of_value(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).getfield("java/lang/AbstractStringBuilder", "value", "[B");
    s.invokestatic(kSetsClass, "readingAll", "(Ljava/lang/Object;)V");
  });
}

base::Status hide_second_methods(Edit& edit) {
  constexpr std::string_view kMethods = "[Ljava/lang/reflect/Method;";
  return edit.at_exit([&](Sequence& s) {
    s.invokestatic(kSetsClass, "ownMethods", "(" + std::string(kMethods) + ")" + std::string(kMethods));
  });
}

constexpr std::string_view kLinking = "java/lang/invoke/MethodHandleNatives";
constexpr Probe kProbes[] = {
    {"java/lang/ClassLoader", "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;", pause},
    {kLinking, "linkCallSite", "", pause},
    {kLinking, "linkMethod", "", pause},
    {kLinking, "linkMethodHandleConstant", "", pause},
    {kLinking, "linkDynamicConstant", "", pause},
    {kLinking, "findMethodHandleType", "", pause},
    {"java/lang/invoke/VarForm", "resolveMemberName", "", pause},
    {"java/lang/invoke/MethodType", "makeImpl", "", pause},
    {"java/lang/AbstractStringBuilder", "getValue", "()[B", tell_of_value},
    {"java/lang/StackTraceElement", "of", "", hide_second_bodies},
    {"jdk/internal/reflect/Reflection", "filterMethods", "", hide_second_methods},
};

}  // namespace

Family sets_family() {
  return {"sets", kProbes, {}};
}

base::Status pause_observation(Edit& edit) {
  return pause(edit);
}

bool may_be_observed(std::string_view class_name) {
  const auto begins = [&](std::string_view prefix) { return class_name.starts_with(prefix); };
  return std::ranges::any_of(kObservedAllTheSame, begins) || std::ranges::none_of(kUnobserved, begins);
}

base::Status track_in_place(Edit& edit, FieldNumbers& fields, bool has_sections) {
  classfile::FlowProbe probe = flow_probe(fields);
  if (has_sections) {
    probe.sections = true;
    probe.may_lock = [](const CallSite& site) {
      return std::ranges::find(kCallsOfLocks, site.name) != std::end(kCallsOfLocks) ||
             (!site.owner.empty() && !site.owner.starts_with("java/") && !site.owner.starts_with("javax/"));
    };
  }
  const auto count = classfile::propagate_taints(edit.code, edit.file, probe);
  return count ? base::Status() : base::Status(count.error());
}

bool is_observed_in_place(const Edit& edit) {
  return edit.method.is_constructor() || caller_matters(edit.file, edit.method);
}

base::Status observe_in_place(Edit& edit, FieldNumbers& fields, bool with_flow) {
  if (const auto observed = tell_accesses(edit.code, edit.file, fields, true, with_flow); !observed)
    return observed.error();
  if (!edit.method.is_constructor()) return {};
  return edit.at_entry([](Sequence& s) { s.aload(0).invokestatic(kSetsClass, "made", "(Ljava/lang/Object;)V"); });
}

base::Status follow_section_to_caller(Edit& edit) {
  const uint32_t held = edit.flag();
  const int32_t name = method_hash(edit.method.name, edit.method.descriptor);
  const auto ending = [&](Sequence& s) { s.iload(held).iconst(name).invokestatic(kSetsClass, "ending", "(II)V"); };
  return edit.finish([&](Sequence& s) { s.invokestatic(kSetsClass, "held", "()I").istore(held); }, ending, ending);
}

base::Status tell_parts(Edit& edit, const std::function<int32_t(uint32_t pc)>& place_of) {
  if (!takes_lock(edit)) return {};
  const uint32_t token = edit.token();
  classfile::CallWrap wrap;
  wrap.with_exception = false;
  wrap.selects = may_take_long;
  wrap.build = [&](const CallSite& site, const CallOperands&, Sequence& before, Sequence& after, Sequence&) {
    const int32_t place = place_of(site.pc);
    before.iconst(place).invokestatic(kSetsClass, "calling", "(I)J").lstore(token);
    after.lload(token).iconst(place).invokestatic(kSetsClass, "called", "(JI)V");
  };
  const auto count = wrap_calls(edit.code, edit.file, wrap);
  return count ? edit.finish() : base::Status(count.error());
}

base::Status return_observed(Edit& edit) {
  classfile::CallWrap wrap;
  wrap.constructors = true;
  wrap.with_exception = false;
  wrap.selects = [](const CallSite& site) { return !site.owner.empty() && !site.owner.starts_with("java/lang/"); };
  wrap.build = [](const CallSite& site, const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.iconst(method_hash(site.name, site.descriptor)).invokestatic(kSetsClass, "back", "(I)V");
  };
  const auto count = wrap_calls(edit.code, edit.file, wrap);
  return count ? base::Status() : base::Status(count.error());
}

base::Result<std::optional<classfile::SecondBody>> observe_apart(Edit& edit, FieldNumbers& fields, bool with_flow) {
  if (edit.method.name.starts_with('<') || is_empty_finalizer(edit.code)) return std::optional<classfile::SecondBody>();
  if (caller_matters(edit.file, edit.method)) {
    if (const base::Status status = observe_in_place(edit, fields, with_flow); !status) return status.error();
    return std::optional<classfile::SecondBody>();
  }
  Code second = edit.code;
  if (with_flow) {
    const auto carried = classfile::propagate_taints(second, edit.file, flow_probe(fields));
    if (!carried) return carried.error();
    if (const base::Status status = look_outside(edit.code, edit.file, fields); !status) return status.error();
  }
  const auto observed = tell_accesses(second, edit.file, fields, false, with_flow);
  if (!observed) return observed.error();
  if (*observed == 0 && !with_flow) return std::optional<classfile::SecondBody>();  // what it calls looks after itself
  auto body = add_second_body(edit.code, second, edit.file, edit.method, kSetsClass);
  if (!body) return body.error();
  if (classfile::becomes_huge(edit.method.code, body->code)) {
    return base::Error{"it would be too long for the JVM to compile"};
  }
  return std::optional(*std::move(body));
}

base::Status tell_of_unobserved(Edit& edit) {
  return edit.at_entry([](Sequence& s) { s.invokestatic(kSetsClass, "unobserved", "()V"); });
}

}  // namespace contrafact::agent_jvm
