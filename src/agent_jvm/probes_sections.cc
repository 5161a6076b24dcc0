// The critical sections of chosen classes: acquisitions and releases in their code, with and without a wait
// (java/java/lang/ContrafactSections.java).
#include <algorithm>
#include <optional>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"
#include "classfile/monitors.h"

namespace contrafact::agent_jvm {
namespace {

enum class LockCall : uint8_t { take, attempt, give, await, signal, wait, notify };

struct LockMethod {
  std::string_view name;
  std::string_view descriptor;
  LockCall call;
};
// Of Lock.
constexpr LockMethod kLockMethods[] = {
    {"lock", "()V", LockCall::take},       {"lockInterruptibly", "()V", LockCall::take},
    {"tryLock", "()Z", LockCall::attempt}, {"tryLock", "(JLjava/util/concurrent/TimeUnit;)Z", LockCall::attempt},
    {"unlock", "()V", LockCall::give},
};
constexpr LockMethod kConditionMethods[] = {
    {"await", "()V", LockCall::await},
    {"awaitUninterruptibly", "()V", LockCall::await},
    {"awaitNanos", "(J)J", LockCall::await},
    {"await", "(JLjava/util/concurrent/TimeUnit;)Z", LockCall::await},
    {"awaitUntil", "(Ljava/util/Date;)Z", LockCall::await},
    {"signal", "()V", LockCall::signal},
    {"signalAll", "()V", LockCall::signal},
};
// Of every object.
constexpr LockMethod kObjectMethods[] = {
    {"wait", "()V", LockCall::wait},     {"wait", "(J)V", LockCall::wait},       {"wait", "(JI)V", LockCall::wait},
    {"notify", "()V", LockCall::notify}, {"notifyAll", "()V", LockCall::notify},
};

// By the method alone: a program's classes may be derived from the JDK's locks. The injected code looks at the object.
std::optional<LockCall> lock_call(const CallSite& site) {
  if (site.opcode == classfile::kInvokestatic || site.owner.empty()) return std::nullopt;
  for (const std::span<const LockMethod> methods :
       {std::span<const LockMethod>(kLockMethods), std::span<const LockMethod>(kConditionMethods),
        std::span<const LockMethod>(kObjectMethods)}) {
    const auto found = std::ranges::find_if(
        methods, [&](const LockMethod& m) { return m.name == site.name && m.descriptor == site.descriptor; });
    if (found != methods.end()) return found->call;
  }
  return std::nullopt;
}

// In a method that does not log what it accesses, each section says so.
void begins_section(Sequence& sequence, bool is_observed) {
  if (!is_observed) sequence.invokestatic(kSetsClass, "unobserved", "()V");
}

// Of a wait that returns something, the result says whether its time was over.
void ends_wait(char result, uint32_t token, int32_t place, Sequence& after) {
  const auto call = [&](std::string_view method, std::string_view descriptor) {
    after.lload(token).iconst(place).invokestatic(kSectionsClass, method, descriptor);
  };
  switch (result) {
    case 'Z':
      after.dup();
      return call("awaited", "(ZJI)V");
    case 'J':
      after.dup2();
      return call("awaited", "(JJI)V");
    default:
      after.aconst_null();
      return call("waited", "(Ljava/lang/Throwable;JI)V");
  }
}

// The code around one call. `object` is the local that holds the lock, condition or monitor.
void build_call(const CallSite& site, LockCall call, uint32_t object, uint32_t token, int32_t place, bool is_observed,
                Sequence& before, Sequence& after, Sequence& exception) {
  const auto begin = [&](std::string_view method, bool with_place) {
    before.aload(object);
    if (with_place) before.iconst(place);
    before.invokestatic(kSectionsClass, method, with_place ? "(Ljava/lang/Object;I)J" : "(Ljava/lang/Object;)J");
    before.lstore(token);
  };
  const auto tell = [&](std::string_view method) {
    before.aload(object).iconst(place).iconst(site.name.ends_with("All") ? 1 : 0);
    before.invokestatic(kSectionsClass, method, "(Ljava/lang/Object;IZ)V");
  };
  switch (call) {
    case LockCall::take:
    case LockCall::attempt:
      begin("requesting", false);
      if (call == LockCall::attempt) after.dup();
      after.lload(token).aload(object).iconst(place);
      after.invokestatic(kSectionsClass, call == LockCall::take ? "locked" : "tried",
                         call == LockCall::take ? "(JLjava/lang/Object;I)V" : "(ZJLjava/lang/Object;I)V");
      begins_section(after, is_observed);
      exception.lload(token).aload(object).iconst(place);
      exception.invokestatic(kSectionsClass, "interrupted", "(JLjava/lang/Object;I)V");
      break;
    case LockCall::give:
      begin("unlocking", true);
      after.lload(token).invokestatic(kSectionsClass, "unlocked", "(J)V");
      exception.lload(token).invokestatic(kSectionsClass, "unlocked", "(J)V");
      break;
    case LockCall::await:
    case LockCall::wait:
      begin(call == LockCall::await ? "awaiting" : "waiting", true);
      ends_wait(site.descriptor.back(), token, place, after);
      begins_section(after, is_observed);
      exception.dup().lload(token).iconst(place);
      exception.invokestatic(kSectionsClass, "waited", "(Ljava/lang/Throwable;JI)V");
      begins_section(exception, is_observed);
      break;
    case LockCall::signal:
      tell("signallingCondition");
      break;
    case LockCall::notify:
      tell("signalling");
      break;
  }
}

// Whether the number by which the class knows its serialised objects may follow from its methods' modifiers. What a
// superclass or an interface is derived from is not known here: it may be serialisable.
bool uid_may_follow_from_methods(const classfile::ClassFile& file) {
  const auto is_uid = [](const classfile::Member& field) { return field.name == "serialVersionUID"; };
  const bool may_be_serialisable = file.super_name() != "java/lang/Object" || !file.interfaces().empty();
  return may_be_serialisable && std::ranges::none_of(file.fields(), is_uid);
}

// The method stays synchronized: the section begins when it has the monitor, and ends before it gives it back.
base::Status record_inside(Edit& edit, const PlaceOf& place_of, bool is_observed) {
  const int32_t place = place_of(0);
  const auto leave = [&](Sequence& s) { s.iconst(place).invokestatic(kSectionsClass, "leaving", "(I)V"); };
  return edit.finish(
      [&](Sequence& s) {
        if (edit.is_static())
          s.ldc_class(edit.file.name());
        else
          s.aload(0);
        s.iconst(place).invokestatic(kSectionsClass, "inside", "(Ljava/lang/Object;I)V");
        begins_section(s, is_observed);
      },
      leave, leave);
}

}  // namespace

base::Status record_monitors(Edit& edit, const PlaceOf& place_of, bool is_observed) {
  const auto place = [&](const classfile::MonitorSite& site) {
    return place_of(site.pc == classfile::Node::kInserted ? 0 : site.pc);
  };
  const classfile::MonitorProbe probe{
      .before_enter =
          [](const classfile::MonitorSite& site, Sequence& s) {
            s.aload(site.object).invokestatic(kSectionsClass, "entering", "(Ljava/lang/Object;)J").lstore(site.token);
          },
      .after_enter =
          [&](const classfile::MonitorSite& site, Sequence& s) {
            s.lload(site.token).iconst(place(site)).invokestatic(kSectionsClass, "entered", "(JI)V");
            begins_section(s, is_observed);
          },
      .before_exit = [&](const classfile::MonitorSite& site,
                         Sequence& s) { s.iconst(place(site)).invokestatic(kSectionsClass, "leaving", "(I)V"); }};
  if (edit.method.has(classfile::kAccSynchronized)) {
    // HotSpot has code of its own for some methods of the JDK, for as long as these have their modifiers.
    const bool keeps_modifier = edit.file.name().starts_with("java/") ||
                                (!edit.method.has(classfile::kAccPrivate) && uid_may_follow_from_methods(edit.file));
    base::Status status = keeps_modifier ? record_inside(edit, place_of, is_observed)
                                         : classfile::open_synchronized(edit.code, edit.file, probe);
    if (!status) return status;
  }
  const auto count = classfile::wrap_monitors(edit.code, edit.file, probe);
  return count ? base::Status() : base::Status(count.error());
}

base::Status wrap_lock_calls(Edit& edit, const PlaceOf& place_of, bool is_observed) {
  bool any = false;
  CallWrap look;
  look.selects = [&](const CallSite& site) {
    any |= lock_call(site).has_value();
    return false;
  };
  const auto looked = wrap_calls(edit.code, edit.file, look);
  if (!looked) return looked.error();
  if (!any) return {};
  const uint32_t token = edit.token();  // before the locals for operands
  CallWrap wrap;
  wrap.copy_operands = true;
  wrap.selects = [&](const CallSite& site) { return lock_call(site).has_value(); };
  wrap.build = [&](const CallSite& site, const CallOperands& operands, Sequence& before, Sequence& after,
                   Sequence& exception) {
    build_call(site, *lock_call(site), operands.receiver, token, place_of(site.pc), is_observed, before, after,
               exception);
  };
  const auto count = wrap_calls(edit.code, edit.file, wrap);
  return count ? edit.finish() : base::Status(count.error());
}

}  // namespace contrafact::agent_jvm
