// What of a recorded stack the program's source holds. Which lines a library or the JDK went through on the way is
// luck: ConcurrentHashMap.computeIfAbsent calls back from one line of its own where a bucket is empty, and from another
// where it is not, and nobody can change the one and not the other. So stacks are of one place of the source if these
// are equal:
//
//  - the program's frames, with their lines;
//  - the methods, without lines, of what the innermost of them called. They tell apart what one line calls twice.
//
// What lies between two frames of the program does not count. A stack without a frame of the program is a place of its
// own.
//
// Immutable after construction, which is linear in the contexts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::improve {

class SourcePlaces {
 public:
  explicit SourcePlaces(const model::Trace& trace);
  // The first context of the same place; none for none.
  model::ContextId of(model::ContextId context) const { return context.valid() ? first_[context.index()] : context; }

 private:
  std::vector<model::ContextId> first_;  // by context
};

// One frame of a stack that another recording may have, too.
struct FrameText {
  std::string class_name, method;
  uint32_t line = 0;
  bool is_program = false;
};

// Text that is equal for stacks of one place. Innermost frame first.
std::string place_key(std::span<const FrameText> frames);

}  // namespace contrafact::improve
