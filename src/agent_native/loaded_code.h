// Where the code of a loaded library lies.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>

namespace contrafact::agent_native {

struct CodeRange {
  uint64_t begin, end;  // from the first executable segment to the end of the last; begin > end: it has none
};

inline CodeRange code_of(const dl_phdr_info& library) {
  CodeRange range{UINT64_MAX, 0};
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    range.begin = std::min<uint64_t>(range.begin, library.dlpi_addr + segment.p_vaddr);
    range.end = std::max<uint64_t>(range.end, library.dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  return range;
}

}  // namespace contrafact::agent_native
