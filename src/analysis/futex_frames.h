// Which function of the program waits at a futex. The innermost frames of such a wait belong to the code that the
// program builds its locks with: a language's library, or its own functions that wrap the system call.
//
// Thread safety: immutable after construction.
#pragma once

#include <set>
#include <tuple>

#include "model/trace.h"

namespace contrafact::analysis {

class FutexFrames {
 public:
  // Linear in the events at futexes, and nothing where there are none.
  explicit FutexFrames(const model::Trace& trace);

  // The innermost frame that does not only lock; `context` itself where all do. Frames that only lock are those of the
  // libraries of C++ and Rust (std, core, alloc), and code that waits or wakes at one line for several futexes, called
  // by several functions.
  model::ContextId program_frame(model::ContextId context) const;

 private:
  using Code = std::tuple<uint32_t, uint32_t, uint32_t>;  // function, file and line: copies of inlined code are one
  Code code_of(model::ContextId context) const;
  bool only_locks(model::ContextId context) const;
  bool find_wrappers();

  const model::Trace& trace_;
  std::set<Code> wrappers_;
};

}  // namespace contrafact::analysis
