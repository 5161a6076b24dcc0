// CodeReader: function, file and line of an address, with the functions inlined there, from the DWARF of the file on
// this machine or of its separate debug file (by build id or debug link); symbol and offset without DWARF; file and
// offset without symbols. By elfutils.
//
// Thread safety: one thread at a time. A file whose build id is not the recorded one is not used: its names would be
// wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbols/module_map.h"

struct Dwfl_Module;  // elfutils'

namespace contrafact::symbols {

// Environment variable: folders with debug files, separated by colons, before the usual places.
inline constexpr char kDebugFoldersVariable[] = "CONTRAFACT_DEBUG_PATH";

struct CodeFrame {
  std::string function;
  std::string file;   // as the compiler knew it; empty if unknown
  uint32_t line = 0;  // 0 if unknown
};

class CodeReader {
 public:
  explicit CodeReader(const ModuleMap& modules);
  ~CodeReader();
  CodeReader(const CodeReader&) = delete;
  CodeReader& operator=(const CodeReader&) = delete;

  // The functions executed at `address`: the innermost first, then those that it is inlined into. Never empty.
  std::vector<CodeFrame> frames(uint64_t address);
  // The function that begins at `address`: where it is defined, and its symbol's name.
  CodeFrame function(uint64_t address);
  // The variable that lies at `address`, perhaps with an offset; empty if there is none (the heap, a stack).
  std::string variable(uint64_t address);
  // Files that could not be used, one line each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Session;
  Dwfl_Module* report(const Module& module);

  std::unique_ptr<Session> session_;
  const ModuleMap& modules_;
  std::vector<std::string> problems_;
};

}  // namespace contrafact::symbols
