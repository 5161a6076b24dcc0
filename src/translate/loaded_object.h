// Which of the loader's objects, the program and its libraries, lies at an address; found without a lock, a file or the
// kernel's map.
//
// Thread safety: all of it.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace contrafact::translate {

// Without initialisers, because tables of it have none: most of their memory is never touched.
struct LoadedObject {
  uint64_t begin, end;
  const void* link_map;  // the loader's own record of it; null where that was not to be had
  const void* unwinding;
  uint64_t content;  // of headers and build id (FirstPage::hash); 0: unknown
  bool may_go;       // the program loaded it, and may unload it

  bool holds(uint64_t address) const { return address >= begin && address < end; }
  // Not of the content.
  bool is_at_place_of(const LoadedObject& other) const {
    return begin == other.begin && end == other.end && link_map == other.link_map && unwinding == other.unwinding;
  }
};

// The C library's _dl_find_object, which has neither locks nor allocations, nor a limit to where it may be called.
class ObjectFinder {
 public:
  // Takes the loader's lock. Finds nothing with a C library before 2.35, which lacks the function.
  void prepare();
  bool is_able() const { return function_ != nullptr; }
  // Without the content.
  bool find(uint64_t address, LoadedObject& object) const;

 private:
  struct Found;
  int (*function_)(void*, Found*) = nullptr;
};

// The beginning of an object's memory: its headers, if it has them there.
struct alignas(8) FirstPage {
  static constexpr size_t kBytes = 4096;
  uint8_t bytes[kBytes];

  enum class Read : uint8_t { whole, no_memory, not_possible };
  // Of memory that may be unmapped at any time. Not possible where the kernel does not offer it.
  Read read(uint64_t address);
  void read_mapped(uint64_t address);
  // Of the headers and notes alone: the program may change code on the same page.
  uint64_t hash() const;
  // Empty if they are not there.
  std::span<const Elf64_Phdr> program_headers() const;
};

// Whether the object is still there. Asks the kernel.
bool is_still_loaded(const LoadedObject& object, const ObjectFinder& finder, FirstPage& page);

}  // namespace contrafact::translate
