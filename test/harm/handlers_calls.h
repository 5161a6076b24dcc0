// The calls that handlers.cc makes from a signal's handler.
#pragma once

#include <stddef.h>

struct Call {
  const char*
      name;  // the functions that it makes, by which run_harm.py knows that none is left out; after a comma, how
  void (*run)();
  bool alone = false;  // safe in a process of one thread only: the C library's fork takes malloc's locks in others
};

extern const Call kCalls[];
extern const size_t kCallCount;

// Opens what the calls work on.
void prepare_calls();

// A call that ends the program, or null.
void (*end_named(const char* name))();

// Prints the names of calls, one a line; of those that end the program.
void print_names(const Call* calls, size_t count);
void print_names_of_ends();
