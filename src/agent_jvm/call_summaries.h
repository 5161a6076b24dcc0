// Memory that called methods read or write without logging it themselves (--sets): native methods, those that HotSpot
// compiles as if they were native, and methods of classes that are left as they are (may_be_observed). Their callers log
// it for them.
#pragma once

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code.h"

namespace contrafact::agent_jvm {

class FieldNumbers;

// Puts that code before and behind such calls. Yields how many there are. `with_flow`: it also says what flows there
// (java/java/lang/ContrafactFlow.java), behind classfile::propagate_taints.
base::Result<size_t> tell_calls(classfile::Code& code, classfile::ClassFile& file, FieldNumbers& fields,
                                bool with_flow);

}  // namespace contrafact::agent_jvm
