// Code that asks for locks: equal text is the same site, whichever copy of inlined code was running. By the innermost
// frame only: contended acquisitions have their callers too, uncontended ones have not. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

struct LockSite {
  std::string label;         // "consumer (pbzip2.cpp:1021)", "?" if unknown
  model::ContextId context;  // one of its contexts
};

class LockSites {
 public:
  explicit LockSites(const model::Trace& trace) : trace_(trace) {}
  // Index into sites().
  uint32_t of(model::ContextId context);
  const std::vector<LockSite>& sites() const { return sites_; }

 private:
  const model::Trace& trace_;
  std::vector<LockSite> sites_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> of_code_;  // by method and line
  std::unordered_map<std::string, uint32_t> of_label_;
};

}  // namespace contrafact::analysis
