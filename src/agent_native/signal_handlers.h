// Signal handlers of the program, wrapped where sets are gathered: a handler that interrupts translated code gets the
// program's own address and registers in its context, and the thread goes on natively from there. So profilers, crash
// handlers and the C library's cancellation see what they would see natively.
#pragma once

namespace contrafact::translate {
class Translator;
}

namespace contrafact::agent_native {

// Wraps those that are installed already, and from now on those that the program installs.
void wrap_signal_handlers(translate::Translator& translator);

// What a bare rt_sigaction of the program's wrote to `before` about a signal: its own handler instead of ours.
void show_own_handler(long number, long before);

}  // namespace contrafact::agent_native
