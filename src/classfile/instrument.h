// The edits that a profiler needs, on one method body each: code at entry, before returns and on exceptions, and code
// around chosen calls.
//
//   auto code = Code::parse(file, file.methods()[i]);
//   Sequence enter(file.pool()), leave(file.pool()), failed(file.pool());
//   enter.invokestatic("java/lang/Probe", "enter", "()V");  ...
//   Status status = instrument_entry_exit(*code, file, {.entry = &enter, .exit = &leave, .exception = &failed});
//   auto bytes = code->encode(file.pool());
//   if (bytes) file.replace_code(i, std::move(*bytes));
//
// Not thread-safe. Each edit either succeeds or says why the method cannot be instrumented; then drop the Code, the
// class is unchanged. Edits combine in any order on one Code; code that an edit inserted is never instrumented by
// another.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code.h"
#include "classfile/sequence.h"

namespace contrafact::classfile {

// A local variable that the entry code stores to and that exit and exception code may load. Any kind of type; for
// references prefer java/lang/Object, since the verifier may have to load other classes to check it.
struct SavedLocal {
  uint32_t slot = 0;  // from Code::new_local
  std::string_view descriptor;
};

// Every part may be missing. An `exit` runs at most once for an invocation, and never both `exit` and `exception`, but
// for exceptions that the inserted code itself throws.
struct EntryExit {
  // Runs once, on an empty stack (in a constructor: after the call of the other constructor, on what the stack holds
  // there); jumps to the method's first instruction do not run it. Must store to every saved local, on all ways.
  const Sequence* entry = nullptr;
  // Runs before every return, with the value to be returned (see Code::descriptor.result) on top of the stack: it must
  // leave it there, and may dup it.
  const Sequence* exit = nullptr;
  // Runs when an exception leaves the method, with it on top of the stack: it must leave it there. It is rethrown
  // afterwards. Exceptions that the method handles itself do not get here. Of the locals it sees the saved ones only.
  const Sequence* exception = nullptr;
  std::vector<SavedLocal> saved;
  // In a constructor the entry runs first of all, and `exception` also for what is thrown before the call of the other
  // constructor; not for what that call throws, since no handler may cover it (JVMS 4.10.1.9). Neither may use `this`.
  bool whole_constructor = false;
};

// Refuses an empty finalize(), and constructors in which the call of this() or super() is not the one point that
// divides the code in two.
base::Status instrument_entry_exit(Code& code, const ClassFile& file, const EntryExit& edit);

struct CallSite {
  uint8_t opcode = 0;
  std::string_view owner;  // empty for invokedynamic
  std::string_view name;
  std::string_view descriptor;
  uint32_t pc = 0;  // in the original code
};

// Where copies of the call's operands are, if CallWrap asks for them.
struct CallOperands {
  uint32_t receiver = UINT32_MAX;   // its slot; UINT32_MAX for static and dynamic calls
  std::vector<uint32_t> arguments;  // their slots, in order
};

struct CallWrap {
  // Constructor calls (invokespecial <init>) are not offered unless `constructors` is set.
  std::function<bool(const CallSite&)> selects;
  // They are; no copy is made of their receiver, which is not initialized yet. REQUIRES: not with_exception
  bool constructors = false;
  // Copy the receiver and the arguments to fresh locals, valid in all three sequences of this call.
  bool copy_operands = false;
  // `before` runs with the operands on the stack, `after` with the result: both must leave them there. `exception` runs
  // with the exception on the stack when the call throws, before any handler of the method; it must leave it there and
  // it is rethrown from a place covered by the same handlers as the call.
  std::function<void(const CallSite&, const CallOperands&, Sequence& before, Sequence& after, Sequence& exception)>
      build;
  bool with_exception = true;  // false: no handler, `exception` is not used
};

// Yields how many calls were wrapped.
base::Result<size_t> wrap_calls(Code& code, ClassFile& file, const CallWrap& wrap);

// Code at the start of each of the method's own exception handlers, with the exception on top of the stack, which it
// must leave there. Yields how many there are.
base::Result<size_t> insert_at_handlers(Code& code, const Sequence& at_handler);

// Code behind chosen instructions other than calls, branches, returns and athrow: with the stack as they leave it,
// which the code must leave so. `build` is asked about each instruction (its bytes, opcode first) and fills the
// sequence; left empty, the instruction is not chosen. Yields how many were.
base::Result<size_t> insert_behind(Code& code, ClassFile& file,
                                   const std::function<void(Bytes instruction, Sequence& behind)>& build);

// Where a constructor calls this() or super().
struct ConstructorCall {
  size_t node = 0;
  // By node: inserted code behind the call that runs before it (the handlers of calls among its arguments).
  std::vector<bool> runs_before;
  bool keeps_this = true;  // local 0 is `this` at each instruction that runs before it
};
// Refuses what instrument_entry_exit refuses.
base::Result<ConstructorCall> find_constructor_call(Code& code, const ConstantPool& pool);

// HotSpot registers the objects of a class for finalization unless its finalize() is one `return`. With code in
// java/lang/Object's own, every object would be registered.
bool is_empty_finalizer(const Code& code);

}  // namespace contrafact::classfile
