// Blocks of virtual threads that kept their carriers: no other virtual thread could run there meanwhile. By place; facts
// of the trace in the end.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class PinnedBlocks {
 public:
  // At most kPlacesMax places are kept apart; what is at others counts in the sum alone.
  void note(format::ContextId place, int64_t blocked_ns);
  // docs/format.md: `pinned` and `pinned.N`.
  void report(recorder::Recorder& recorder) const;

 private:
  struct Sum {
    uint64_t blocks = 0;
    int64_t blocked_ns = 0;
  };
  static constexpr size_t kPlacesMax = 4096;
  static constexpr size_t kPlacesReported = 32;

  mutable std::mutex mutex_;
  Sum all_;
  std::unordered_map<uint32_t, Sum> of_place_;
};

}  // namespace contrafact::agent_jvm
