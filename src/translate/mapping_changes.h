// Which mappings of the process a system call changes.
//
// Thread safety: pure functions of their arguments, but for maps_file_code, which asks the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contrafact::translate {

struct MappingChange {
  uint64_t begin, end;
  bool is_gone;    // unmapped, or replaced by other memory
  int protection;  // else: of PROT_READ, PROT_WRITE and PROT_EXEC
};

constexpr size_t kMappingChangesMax = 2;

// `call`: the number and six arguments. Returns how many changes there are: none of a call that only mapped memory
// where there was none. One that failed may have been done in part.
size_t mapping_changes(const long* call, long result, MappingChange (&changes)[kMappingChangesMax]);

// The same before the call, or after it was interrupted: each change that it may make where anything may be mapped.
size_t possible_mapping_changes(const long* call, MappingChange (&changes)[kMappingChangesMax]);

// Whether the call also maps memory at a place that is not known before it.
bool maps_elsewhere(const long* call);

// Whether the call maps code of a file, which nobody is expected to change. A file in memory may be a compiler's, with
// another mapping where that writes.
bool maps_file_code(const long* call, long result);

}  // namespace contrafact::translate
