#include "symbols/unit_index.h"

#include <elfutils/libdw.h>

#include <algorithm>

namespace contrafact::symbols {

void UnitIndex::read(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
      if (begin < end) ranges_.push_back({begin + bias, end + bias, {unit, bias}});
    }
  }
  std::ranges::stable_sort(ranges_, {}, &Range::begin);
}

UnitIndex::Unit UnitIndex::at(Dwfl_Module* module, uint64_t address) {
  Unit unit;
  unit.die = dwfl_module_addrdie(module, address, &unit.bias);
  if (unit.die) return unit;
  if (!is_read_) read(module);
  is_read_ = true;
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin() || address >= (after - 1)->end) return {};
  return (after - 1)->unit;
}

}  // namespace contrafact::symbols
