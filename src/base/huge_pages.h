// Asks for huge pages under a large block of memory before it is first touched: page faults cost more than the decoding
// of a trace otherwise. A hint; nothing depends on it.
#pragma once

#include <cstddef>

namespace contrafact::base {

void prefer_huge_pages(const void* memory, size_t bytes);

}  // namespace contrafact::base
