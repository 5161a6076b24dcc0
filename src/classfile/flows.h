// Taints through a method's code: beside every instruction, code that finds the taint of its result from those of its operands
// (FlowProf, section 5.2 and table 1), as calls of static functions of one class, the tracker.
//
//   FlowProbe probe{.tracker = "java/lang/Tracker", .number = ...};
//   auto count = propagate_taints(code, file, probe);
//
// A taint is an int, and 0 is the empty one. Each local variable and each place of the operand stack that may have a taint gets
// an int variable for it; where all ways agree that there is none, no code is added. The tracker's functions:
//
//   int joined(int, int)                               the union
//   int field(Object, int number)                      of a field, before it is read; the object may be null
//   int staticField(int number)                        behind the read
//   void setField(Object, int number, int taint)       before the write
//   void setStaticField(int number, int taint)         behind the write
//   int element(Object array, int index)               before the read; the array may be null, the index wrong
//   void setElement(Object array, int index, int taint)
//   void control(int taint)                            of what a branch or switch asks, an array's index or its length
//   void entered(int method)                           first of all; `method` is method_hash of its name and descriptor
//   int parameter(int index)                           behind entered(); only of parameters that the method reads
//   void calling(int method)                           before a call, with the operands evaluated
//   void argument(int index, int taint)                behind calling()
//   int called(int method, int arguments)              behind a call that came back: the taint of its result. `arguments` is the
//                                                      union of theirs, or 0 if the call has no result
//   void returning(int method, int taint)              before each return
//   void throwing(int taint)                           before athrow
//   int caught()                                       where an exception handler begins
//
// Parameters and arguments are counted, not their slots: from 0 on, and `this` counts. control, argument, throwing, output and result are
// not called for a taint that is known to be empty.
//
// Of a constructor's call, called() yields the taint of the new object, wherever it is by then; it must be empty if the arguments'
// is, and nothing is asked of `this` at a constructor's entry. An object that is not initialized is never passed.
//
// With `sections`, the method itself may begin and end critical sections, by monitors, calls that may_lock, or being synchronized:
//
//   int depth()                                        how many sections the thread is in
//   int inputs()                                       what is live where the last section began gets this taint, too
//   void output(int taint)                             of something live where the last section ended
//   void result(int taint)                             of what a synchronized method will return
//
// Not of local variables that hold the locked object of a monitorenter, nor of `this`. Live is a local that is read later before it
// is written. Inserted code is guarded where what it throws would leave a monitor locked, or would be caught by the same code.
//
// Other edits of the same Code come afterwards. Not thread-safe. An error says why the method cannot be tracked; then drop the Code.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "classfile/accesses.h"
#include "classfile/class_file.h"
#include "classfile/code.h"
#include "classfile/instrument.h"

namespace contrafact::classfile {

struct FlowProbe {
  std::string_view tracker;  // its internal name
  std::function<uint32_t(const FieldSite&)>
      number;  // 0: the field has no taint of its own, and its writes are not observed
  std::function<bool(const CallSite&)> may_lock = {};  // a section may begin or end in it; asked only with `sections`
  bool sections = false;
};

// Yields how many instructions there is code beside.
base::Result<size_t> propagate_taints(Code& code, ClassFile& file, const FlowProbe& probe);

}  // namespace contrafact::classfile
