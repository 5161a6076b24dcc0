// Edits around the monitors that a method body acquires and releases: of `synchronized` blocks and methods.
//
//   MonitorProbe probe{.before_enter = ..., .after_enter = ..., .before_exit = ...};
//   auto code = Code::parse(file, method);
//   if (method.has(kAccSynchronized)) status = open_synchronized(*code, file, probe);
//   auto enters = wrap_monitors(*code, file, probe);
//   auto bytes = code->encode(file.pool());
//   if (bytes && !becomes_huge(method.code, *bytes)) {
//     file.replace_code(i, std::move(*bytes));
//     file.set_method_access(i, code->access);
//   }
//
// HotSpot compiles a method only if its locking is structured: whatever an instruction throws, a handler releases each
// monitor that the method holds there. So inserted code must not throw where a monitor is held, unless it is covered.
// The handler of a javac block does not do: it covers itself, so that a probe in it that finds the stack used up would
// be called again for ever. Hence:
// 1. What before_enter throws is thrown where the monitorenter stands: it is covered like it.
// 2. What after_enter and before_exit throw is dropped, and the method goes on with the next instruction. Each has an
//    exception range of its own, which comes first. It does not matter where the ranges of the method begin and end.
// 3. after_enter runs once for each monitorenter: a jump to the instruction behind that does not run it.
// 4. Compilers see that a monitor is released by the reference that took it: both edits keep it in a local variable.
//
// Not thread-safe. Each edit either succeeds or says why not; then drop the Code, the class is unchanged. They combine
// with those of instrument.h, in any order; code that an edit inserted is never instrumented by another.
#pragma once

#include <functional>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code.h"
#include "classfile/sequence.h"

namespace contrafact::classfile {

// One instruction that acquires or releases a monitor.
struct MonitorSite {
  uint32_t pc = Node::kInserted;  // in the original code; kInserted: the monitor of a synchronized method
  uint32_t object = 0;            // the local variable that holds the monitor's object while the probe's code runs
  // A local variable of type J, for one value that before_enter stores and after_enter loads.
  uint32_t token = 0;
};

// Code that runs at monitors. Any part may be missing. Code may use locals of its own, from Code::new_local, for values that
// it loads before it ends; nothing of an operand stack is there for it, and it leaves the stack as it was.
struct MonitorProbe {
  using Build = std::function<void(const MonitorSite&, Sequence&)>;
  Build before_enter;  // before the thread asks for the monitor; the object may be null, then monitorenter throws
  Build after_enter;   // when it has it
  Build before_exit;   // while it still has it
};

// Around each monitorenter and monitorexit of the original code. Yields how many monitorenters there are.
// Refuses methods that have monitors and subroutines (jsr), whose types are not known.
base::Result<size_t> wrap_monitors(Code& code, ClassFile& file, const MonitorProbe& probe);

// A synchronized method becomes one that does its locking by itself, with the probe's code at entry and at every exit.
// Takes ACC_SYNCHRONIZED off code.access; the caller hands that to ClassFile::set_method_access.
//
// Two more changes for the program: reflection does not see `synchronized`, and the default serialVersionUID of the
// class is another one, unless the method is private. A loaded class cannot be redefined so, since HotSpot refuses other
// method modifiers. Nor does HotSpot take the method for its intrinsic any more, as it does those of StringBuffer, and
// says so on stdout. The caller decides where that matters.
//
// Refuses methods that are not synchronized, static ones of classes before version 49, which have no class constants,
// an empty finalize(), and subroutines.
base::Status open_synchronized(Code& code, ClassFile& file, const MonitorProbe& probe);

}  // namespace contrafact::classfile
