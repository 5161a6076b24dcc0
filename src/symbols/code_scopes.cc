#include "symbols/code_scopes.h"

#include <dwarf.h>

#include <algorithm>

namespace contrafact::symbols {
namespace {

bool is_code(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_entry_point:
      return true;
    default:
      return false;
  }
}

// Has no address of its own, and may hold what has.
bool may_hold_code(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
      return true;
    default:
      return false;
  }
}

// Deeper than any code nests: a damaged file may be its own child.
constexpr int kDepthMax = 200;

// Outermost first.
bool append_scopes(Dwarf_Die* parent, uint64_t address, int depth, std::vector<Dwarf_Die>& scopes) {
  Dwarf_Die child;
  if (depth > kDepthMax || dwarf_child(parent, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (is_code(tag) && dwarf_haspc(&child, address) > 0) {
      scopes.push_back(child);
      append_scopes(&child, address, depth + 1, scopes);
      return true;
    }
    if (may_hold_code(tag) && append_scopes(&child, address, depth + 1, scopes)) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

// The same for a function that the compiler made of a part of another one, in which it then stands, though its code lies
// elsewhere: gcc's of OpenMP's constructs. Looks at the whole unit.
bool append_scopes_of_part(Dwarf_Die* parent, uint64_t address, int depth, std::vector<Dwarf_Die>& scopes) {
  Dwarf_Die child;
  if (depth > kDepthMax || dwarf_child(parent, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0) {
      scopes.push_back(child);
      append_scopes(&child, address, depth + 1, scopes);
      return true;
    }
    if ((is_code(tag) || may_hold_code(tag)) && append_scopes_of_part(&child, address, depth + 1, scopes)) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, uint64_t address) {
  std::vector<Dwarf_Die> scopes;
  if (!append_scopes(unit, address, 0, scopes)) append_scopes_of_part(unit, address, 0, scopes);
  std::ranges::reverse(scopes);
  return scopes;
}

}  // namespace contrafact::symbols
