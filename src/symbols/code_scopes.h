// The functions and blocks of a compilation unit around an address. libdw's own search (dwarf_getscopes) passes over
// what lies in a namespace or a type, where rustc and clang describe functions that gcc describes outside.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

namespace contrafact::symbols {

// Innermost first; where they physically are, inlined functions with the place of their call. `address` as in the
// file's debug information. Linear in what the unit's namespaces and types hold, for each address.
std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, uint64_t address);

}  // namespace contrafact::symbols
