// Where the current thread's stack and the recorder's own code lie, for the translator.
#pragma once

#include <cstdint>

#include "translate/translator.h"

namespace contrafact::agent_native {

// The recorder's own code runs natively. Asks the loader: before there are threads of the program.
void add_own_code(translate::Translator& translator);

// The current thread's own stack; empty if it is not known. A forked child has its parent's.
struct OwnStack {
  uint64_t begin = 0, end = 0;
};
const OwnStack& own_stack();
// Finds it. Asks the kernel and allocates: only where no handler of the program's can be running.
void find_own_stack();

}  // namespace contrafact::agent_native
