// The shapes of edits that the probes are made of. Each works on one method; an edit that fails leaves the method as it
// was.
//
// Not thread-safe: an Edit belongs to one method of one class.
#pragma once

#include <functional>
#include <string_view>

#include "classfile/instrument.h"

namespace contrafact::agent_jvm {

using classfile::CallOperands;
using classfile::CallSite;
using classfile::CallWrap;
using classfile::Sequence;

class Edit {
 public:
  Edit(classfile::ClassFile& file, const classfile::Member& method, classfile::Code& code, int jdk)
      : file(file), method(method), code(code), jdk(jdk) {}

  using Emit = std::function<void(Sequence&)>;

  // Code at the method's entry, or before each return (the result stays on top of the stack).
  base::Status at_entry(const Emit& emit);
  base::Status at_exit(const Emit& emit);
  // Before each return of an object: `owner.method(Object)` gets it.
  base::Status pass_result(std::string_view owner, std::string_view method);

  // The whole method is a bracket: token = owner.begin(arguments), then owner.end(Throwable or null, token[, subject]).
  struct Bracket {
    std::string_view owner;
    std::string_view begin;
    std::string_view begin_descriptor;  // returns a long
    Emit arguments;                     // pushes what `begin` takes; may be empty
    std::string_view end;
    enum Subject { none, receiver, result } subject = none;
  };
  base::Status bracket(const Bracket& bracket);

  // Locals that all of the method may use, set at its entry.
  uint32_t token() { return fresh("J"); }
  uint32_t object() { return fresh("Ljava/lang/Object;"); }
  uint32_t flag() { return fresh("I"); }
  // Applies what was collected: the entry's code sets all fresh locals to 0 or null, then runs `entry`.
  // `whole_constructor`: see classfile::EntryExit.
  base::Status finish(const Emit& entry = {}, const Emit& exit = {}, const Emit& exception = {},
                      bool whole_constructor = false);

  // Wraps the calls that `selects` names.
  using Selects = std::function<bool(const CallSite&)>;
  using Build = std::function<void(const CallOperands&, Sequence& before, Sequence& after, Sequence& exception)>;
  base::Status wrap(const Selects& selects, const Build& build);

  // Slot of the method's last parameter, or of parameter `index` (0: the first one after `this`).
  uint32_t parameter_slot(size_t index) const;
  uint32_t last_parameter_slot() const { return parameter_slot(code.descriptor.arguments.size() - 1); }
  bool is_static() const { return method.has(classfile::kAccStatic); }

  classfile::ClassFile& file;
  const classfile::Member& method;
  classfile::Code& code;
  const int jdk;

 private:
  uint32_t fresh(std::string_view descriptor);

  std::vector<classfile::SavedLocal> locals_;
};

// Selects calls by name, of any owner; or by name and owner.
Edit::Selects calls(std::string_view name);
Edit::Selects calls(std::string_view owner, std::string_view name);

}  // namespace contrafact::agent_jvm
