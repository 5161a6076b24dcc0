// HotSpot's description of its own data (gHotSpotVMStructs and the like), which it exports for debuggers: offsets of
// fields, sizes of types, constants. Names that this JVM does not have are remembered, not fatal.
//
// Not thread-safe; used while the agent starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace contrafact::agent_jvm {

class VmStructs {
 public:
  // `library` is a handle from dlopen, of the JVM's own library.
  explicit VmStructs(void* library) : library_(library) {}

  size_t offset(std::string_view type, std::string_view field);
  // Where a static field lies.
  const void* address(std::string_view type, std::string_view field);
  size_t size_of(std::string_view type);
  int constant(std::string_view name);

  // The first name that was asked for and not found; empty: all were there.
  const std::string& missing() const { return missing_; }

 private:
  struct Table;
  const char* entry(const Table& table, std::string_view first, std::string_view second);
  uint64_t number(const char* symbol) const;

  void* library_;
  std::string missing_;
};

}  // namespace contrafact::agent_jvm
