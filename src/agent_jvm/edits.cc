#include "agent_jvm/edits.h"

#include <string>

namespace contrafact::agent_jvm {

using classfile::EntryExit;

base::Status Edit::at_entry(const Emit& emit) {
  Sequence entry(file.pool());
  emit(entry);
  return instrument_entry_exit(code, file, {.entry = &entry});
}

base::Status Edit::at_exit(const Emit& emit) {
  Sequence exit(file.pool());
  emit(exit);
  return instrument_entry_exit(code, file, {.exit = &exit});
}

base::Status Edit::pass_result(std::string_view owner, std::string_view name) {
  return at_exit([&](Sequence& s) { s.dup().invokestatic(owner, name, "(Ljava/lang/Object;)V"); });
}

base::Status Edit::bracket(const Bracket& bracket) {
  const bool has_subject = bracket.subject != Bracket::none;
  const uint32_t token_slot = token();
  const uint32_t subject_slot = has_subject ? object() : 0;
  const std::string end_descriptor =
      has_subject ? "(Ljava/lang/Throwable;JLjava/lang/Object;)V" : "(Ljava/lang/Throwable;J)V";
  auto end = [&](Sequence& s) {
    s.lload(token_slot);
    if (has_subject) s.aload(subject_slot);
    s.invokestatic(bracket.owner, bracket.end, end_descriptor);
  };
  return finish(
      [&](Sequence& s) {
        if (bracket.subject == Bracket::receiver) s.aload(0).astore(subject_slot);
        if (bracket.arguments) bracket.arguments(s);
        s.invokestatic(bracket.owner, bracket.begin, bracket.begin_descriptor).lstore(token_slot);
      },
      [&](Sequence& s) {
        if (bracket.subject == Bracket::result) s.dup().astore(subject_slot);
        s.aconst_null();
        end(s);
      },
      [&](Sequence& s) {
        s.dup();
        end(s);
      });
}

uint32_t Edit::fresh(std::string_view descriptor) {
  const uint32_t slot = code.new_local(descriptor);
  locals_.push_back({slot, descriptor});
  return slot;
}

base::Status Edit::finish(const Emit& entry, const Emit& exit, const Emit& exception, bool whole_constructor) {
  Sequence at_entry(file.pool()), at_exit(file.pool()), at_exception(file.pool());
  for (const classfile::SavedLocal& local : locals_) {
    if (local.descriptor == "J")
      at_entry.lconst(0).lstore(local.slot);
    else if (local.descriptor == "I")
      at_entry.iconst(0).istore(local.slot);
    else
      at_entry.aconst_null().astore(local.slot);
  }
  if (entry) entry(at_entry);
  if (exit) exit(at_exit);
  if (exception) exception(at_exception);
  EntryExit edit{.entry = &at_entry,
                 .exit = exit ? &at_exit : nullptr,
                 .exception = exception ? &at_exception : nullptr,
                 .saved = locals_,
                 .whole_constructor = whole_constructor};
  locals_.clear();
  return instrument_entry_exit(code, file, edit);
}

base::Status Edit::wrap(const Selects& selects, const Build& build) {
  CallWrap wrap;
  wrap.selects = selects;
  wrap.copy_operands = true;
  wrap.build = [&](const CallSite&, const CallOperands& operands, Sequence& before, Sequence& after,
                   Sequence& exception) { build(operands, before, after, exception); };
  auto count = wrap_calls(code, file, wrap);
  if (!count) return count.error();
  if (*count == 0)
    return base::Error{"no such call in " + std::string(code.class_name) + "." + std::string(code.method_name)};
  return {};
}

uint32_t Edit::parameter_slot(size_t index) const {
  int slot = is_static() ? 0 : 1;
  for (size_t i = 0; i < index; ++i) slot += code.descriptor.arguments[i].slots();
  return static_cast<uint32_t>(slot);
}

Edit::Selects calls(std::string_view name) {
  return [name](const CallSite& site) { return site.name == name; };
}
Edit::Selects calls(std::string_view owner, std::string_view name) {
  return [owner, name](const CallSite& site) { return site.owner == owner && site.name == name; };
}

}  // namespace contrafact::agent_jvm
