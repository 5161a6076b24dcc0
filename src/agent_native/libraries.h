// Which files' code lies where, for the reader of the trace: facts `module.N` (docs/format.md).
//
// Thread safety: all of it; locks and allocates.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "recorder/recorder.h"

namespace contrafact::agent_native {

class Libraries {
 public:
  // Writes a fact for each library that has come or gone since the last call; true if there was one.
  bool scan(recorder::Recorder& recorder);

 private:
  struct Module {
    size_t number;
    std::string text;  // of its fact, without the times
    int64_t loaded_ns;
    bool seen;
  };
  static std::string fact_of(const Module& module, int64_t unloaded_ns);

  std::mutex mutex_;
  unsigned long long adds_ = 0, subs_ = 0;
  size_t modules_ = 0;
  std::map<uint64_t, Module> loaded_;  // by the first address of its code
};

}  // namespace contrafact::agent_native
