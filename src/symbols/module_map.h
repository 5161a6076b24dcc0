// Which file's code an address of the recorded process belonged to, from the trace's `module.N` facts (docs/format.md).
//
// Thread safety: immutable once built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "symbols/address_owners.h"

namespace contrafact::symbols {

struct Module {
  uint64_t bias = 0;                       // address in the process less address in the file
  uint64_t begin = 0, end = 0;             // of its code
  int64_t loaded_ns = 0, unloaded_ns = 0;  // unloaded 0: it stayed
  std::string build_id;                    // hexadecimal digits; empty if the file has none
  std::string path;
};

// None if the text is no such fact.
bool parse_module(std::string_view text, Module& module);

class ModuleMap {
 public:
  explicit ModuleMap(const model::Trace& trace);
  const std::vector<Module>& modules() const { return modules_; }
  // The module whose code contains the address. If several lay in the same place one after the other, the last one.
  // UINT32_MAX: none.
  uint32_t find(uint64_t address) const { return code_.find(address); }

 private:
  std::vector<Module> modules_;
  AddressOwners code_;  // of their code
};

// "libz" of /usr/lib/x86_64-linux-gnu/libz.so.1.2.13, a library of the system's. Empty: the program's own, that is an
// executable, or a library elsewhere or below the folder of `executable`.
std::string system_library(std::string_view path, std::string_view executable);

// The C and C++ runtime libraries: they work on behalf of their callers.
bool is_runtime(std::string_view path);

}  // namespace contrafact::symbols
