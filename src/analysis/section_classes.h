// The classes whose code asks for the locks that a JVM's threads waited for: those to choose for a recording of critical
// sections. The class of a lock says little, for many are of class Object. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

struct SectionClass {
  std::string name;     // binary, with dots
  int64_t wait_ns = 0;  // that its code waited for locks, or let others wait
};

// The longest waits first; what has less than a hundredth of all the waiting is left out, unless a section of another one goes
// on in it. Locks alone: conditions, queues
// and the like have no sections. Empty where nobody waited for a lock, or the recording does not say so.
std::vector<SectionClass> section_classes(const model::Trace& trace);

}  // namespace contrafact::analysis
