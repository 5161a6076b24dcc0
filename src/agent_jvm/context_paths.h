// A cache of contexts by the physical frames that they follow from: a tree whose edges are frames, innermost first. The
// walk ends at the frame that decides.
//
// Not thread-safe: each thread has its own. Bounded: full, it begins anew.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent_jvm/frame_walk.h"

namespace contrafact::agent_jvm {

class ContextPaths {
 public:
  // The context of the current thread's stack, if a stack with the same innermost frames was learnt.
  // `trust_interpreted`: the methods of its interpreted frames last as long as the process; else it must have no such
  // frames.
  std::optional<uint32_t> find(const FrameWalk& walk, JNIEnv* jni, bool trust_interpreted);

  // The current thread's stack has this context, whatever lies behind its first `frames` frames; if it has fewer, all
  // of them count. Does nothing for a stack that cannot be walked.
  void learn(const FrameWalk& walk, JNIEnv* jni, bool trust_interpreted, size_t frames, uint32_t context);

  void clear();

 private:
  struct Edge {
    FrameWalk::Key key;
    FrameWalk::Code code;  // of a compiled frame; else empty
    uint32_t from = 0;     // node; 0: an unused slot
    uint32_t to = 0;       // node, or the context where `decides`
    bool decides = false;
  };
  static constexpr uint32_t kRoot = 1;

  Edge* slot(uint32_t from, const FrameWalk::Key& key);
  void add(const Edge& edge);
  void grow();

  std::vector<Edge> slots_;  // open addressing; a power of two, or empty
  size_t used_ = 0;
  uint32_t nodes_ = kRoot;
};

}  // namespace contrafact::agent_jvm
