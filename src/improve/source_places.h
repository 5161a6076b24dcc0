// Which recorded stacks are one place of the program's source. The lines of a library or of the JDK on the way are
// chance: ConcurrentHashMap.computeIfAbsent calls back from one line where a bucket is empty, and from another where it
// is not, and no change of the source affects only one of these. So stacks are of one place of the source if these are
// equal:
//
//  - the program's frames, with their lines;
//  - the methods, without lines, that the innermost of these frames called. They distinguish two calls in one line.
//
// Frames between two frames of the program do not count. A stack without a frame of the program is a place of its own.
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
