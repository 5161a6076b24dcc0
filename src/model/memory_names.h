// What lies at an address of an access set, for a person. Only of a JVM's recording, whose addresses name fields
// (docs/format.md); elsewhere nothing is known. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "model/trace.h"

namespace contrafact::model {

class MemoryNames {
 public:
  explicit MemoryNames(const Trace& trace);
  bool empty() const { return !knows_; }
  // "shop.Cache.hits", "an array's elements"; empty: not known.
  std::string name(uint64_t address) const;

 private:
  bool knows_ = false;
  std::unordered_map<uint32_t, std::string> fields_;  // by number
};

}  // namespace contrafact::model
