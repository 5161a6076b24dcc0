// The calls that handlers.cc makes from a signal's handler.
#pragma once

#include <stddef.h>

struct Call {
  const char* name;
  void (*run)();
  bool alone = false;  // safe in a process of one thread only: the C library's fork takes malloc's locks in others
};

extern const Call kCalls[];
extern const size_t kCallCount;

// Opens what the calls work on.
void prepare_calls();

// A call that ends the program, or null.
void (*end_named(const char* name))();
