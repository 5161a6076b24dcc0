#include "agent_jvm/vm_structs.h"

#include <dlfcn.h>

#include <cstring>

namespace contrafact::agent_jvm {
namespace {

template <typename Value>
Value read(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

// An array whose last entry has a null name. The JVM exports its address and, for each part of an entry, the offset.
struct VmStructs::Table {
  const char* array;
  const char* stride;
  const char* first_name;
  const char* second_name;  // null: an entry has one name
};

uint64_t VmStructs::number(const char* symbol) const {
  const void* at = dlsym(library_, symbol);
  return at ? read<uint64_t>(static_cast<const char*>(at)) : UINT64_MAX;
}

const char* VmStructs::entry(const Table& table, std::string_view first, std::string_view second) {
  const void* array = dlsym(library_, table.array);
  const uint64_t stride = number(table.stride), first_at = number(table.first_name);
  const uint64_t second_at = table.second_name ? number(table.second_name) : 0;
  if (array && stride != UINT64_MAX && first_at != UINT64_MAX && second_at != UINT64_MAX) {
    for (const char* at = read<const char*>(static_cast<const char*>(array)); at; at += stride) {
      const char* name = read<const char*>(at + first_at);
      if (!name) break;
      if (first != name) continue;
      const char* other = table.second_name ? read<const char*>(at + second_at) : "";
      if (other && second == other) return at;
    }
  }
  if (missing_.empty()) missing_.append(first).append(second.empty() ? "" : "::").append(second);
  return nullptr;
}

constexpr char kFieldsArray[] = "gHotSpotVMStructs";

size_t VmStructs::offset(std::string_view type, std::string_view field) {
  const char* found = entry({kFieldsArray, "gHotSpotVMStructEntryArrayStride", "gHotSpotVMStructEntryTypeNameOffset",
                             "gHotSpotVMStructEntryFieldNameOffset"},
                            type, field);
  return found ? read<uint64_t>(found + number("gHotSpotVMStructEntryOffsetOffset")) : 0;
}

const void* VmStructs::address(std::string_view type, std::string_view field) {
  const char* found = entry({kFieldsArray, "gHotSpotVMStructEntryArrayStride", "gHotSpotVMStructEntryTypeNameOffset",
                             "gHotSpotVMStructEntryFieldNameOffset"},
                            type, field);
  return found ? read<const void*>(found + number("gHotSpotVMStructEntryAddressOffset")) : nullptr;
}

size_t VmStructs::size_of(std::string_view type) {
  const char* found = entry(
      {"gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", "gHotSpotVMTypeEntryTypeNameOffset", nullptr}, type, {});
  return found ? read<uint64_t>(found + number("gHotSpotVMTypeEntrySizeOffset")) : 0;
}

int VmStructs::constant(std::string_view name) {
  const char* found = entry({"gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
                             "gHotSpotVMIntConstantEntryNameOffset", nullptr},
                            name, {});
  return found ? read<int32_t>(found + number("gHotSpotVMIntConstantEntryValueOffset")) : 0;
}

}  // namespace contrafact::agent_jvm
