// Functions that a recorder stands in front of, beyond those that a handler may call (handlers_calls.h). The names of
// calls say which functions they make: run_harm.py finds in them each function that the agents export.
#pragma once

#include "handlers_calls.h"

// For a stack of any size.
extern const Call kLockCalls[];
extern const size_t kLockCallCount;

// The C library itself needs much of the stack for these, or a thread of their own.
extern const Call kLargeCalls[];
extern const size_t kLargeCallCount;

// Many calls, in which a recorder does what it does seldom.
extern const Call kLongCalls[];
extern const size_t kLongCallCount;

// Calls that wait: another thread holds what they ask for, and gives it once they sleep.
struct WaitingCall {
  const char* name;
  void (*hold)();
  void (*run)();
  void (*give)();
};

extern const WaitingCall kWaitingCalls[];
extern const size_t kWaitingCallCount;

void prepare_further_calls();
