// Which compilation unit of a file covers an address, by the units' own ranges. libdw uses the table .debug_aranges for
// that, which clang and rustc do not write. Where other parts of a program have the table, as Rust's standard library
// does, libdw finds only these.
//
// Not thread-safe: libdw is not. Cost: one pass over the units at the first question, logarithmic then.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

namespace contrafact::symbols {

class UnitIndex {
 public:
  struct Unit {
    Dwarf_Die* die = nullptr;  // null: none covers it; lives as long as the module
    Dwarf_Addr bias = 0;       // of the addresses in the file's debug information
  };
  // Of an address of `module`, which is always the same one.
  Unit at(Dwfl_Module* module, uint64_t address);

 private:
  struct Range {
    uint64_t begin, end;
    Unit unit;
  };
  void read(Dwfl_Module* module);

  bool is_read_ = false;
  std::vector<Range> ranges_;  // by their begins
};

}  // namespace contrafact::symbols
