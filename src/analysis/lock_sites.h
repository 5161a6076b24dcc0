// Code that asks for locks: equal text is the same site, whichever copy of inlined code was running. By the innermost
// frame only: contended acquisitions have recorded callers, uncontended ones do not. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/futex_frames.h"
#include "model/trace.h"

namespace contrafact::analysis {

struct LockSite {
  std::string label;         // "consumer (pbzip2.cpp:1021)", "?" if unknown
  model::ContextId context;  // one of its contexts
};

class LockSites {
 public:
  explicit LockSites(const model::Trace& trace);
  // Index into sites().
  uint32_t of(model::ContextId context);
  // At a futex, the frame that is the program's (futex_frames.h). Of a JVM's trace the innermost that is not the
  // JDK's.
  uint32_t of(model::LockId lock, model::ContextId context);
  const std::vector<LockSite>& sites() const { return sites_; }

 private:
  const model::Trace& trace_;
  const bool is_native_;
  const FutexFrames futex_frames_;
  std::vector<LockSite> sites_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> of_code_;  // by method and line
  std::unordered_map<std::string, uint32_t> of_label_;
};

}  // namespace contrafact::analysis
