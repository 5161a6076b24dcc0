// The waits that waits.cc interrupts.
#pragma once

#include <stddef.h>

struct Wait {
  const char* family;
  const char* name;        // the function
  void (*hold)();          // makes that it waits
  int (*wait)();           // returns what it returned, an error as its number
  void (*end_in_child)();  // in the handler of the child: the wait ends once the handler returns
  void (*give)();          // ends the parent's
  bool spins = false;
  bool exits = false;  // the child ends by exit()
};

extern const Wait kWaits[];
extern const size_t kWaitCount;

// This process is the child that goes on. A wait that was only interrupted is begun again in the parent.
extern volatile bool g_is_child;

// That no recorder sees.
void nap();

void prepare_waits();
void prepare_wait();
