// Seccomp's strict mode takes the processor's counter from a thread, and all system calls but read, write, exit and
// sigreturn: nothing can tell it the time any more.
#pragma once

namespace contrafact::agent_native {

// The program is about to make a system call: its number and six arguments. Before one that restricts those of its
// threads all is done that needs any (before_restriction()); before the strict mode the recording of the thread ends.
void before_program_call(const long* call);

}  // namespace contrafact::agent_native
