// What the kernel reads and writes for a system call: a table by number (x86-64).
//
// Thread safety: pure functions of their arguments.
#pragma once

#include <cstdint>

#include "translate/segment.h"

namespace contrafact::translate {

enum class SystemCallKind : uint8_t {
  known,    // add_system_call_accesses says what it did
  unknown,  // it may touch any memory
  leave,    // it must not run in translated code: it makes, replaces or ends threads and processes, or a signal's frame
};

// `call`: the number and six arguments.
SystemCallKind system_call_kind(const long* call);

// Whether it restricts what its thread, or all threads, may ask of the kernel (seccomp). Not where it only finds out
// what the kernel offers, by arguments that cannot do it.
bool restricts_system_calls(const long* call);

// Adds what the call did, once it has returned `result`. `call`: the number and six arguments.
void add_system_call_accesses(const long* call, long result, Segment& segment);

}  // namespace contrafact::translate
