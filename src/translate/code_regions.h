// CodeRegions: which of the process' memory holds code that may be translated: files mapped executable and not
// writable. Everything else is code that may change without our being told (a JIT compiler's), and runs natively.
//
// Thread safety: none; only under the Translator's lock. Allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contrafact::translate {

enum class CodeKind : uint8_t {
  none,       // unknown, or neither executable nor constant
  constant,   // a file's, that nobody may write: constants, and the linkage tables that the loader has sealed
  program,    // translated and logged
  runtime,    // the same, but its thread-local variables are not the program's: libcontrafact_accesses
  unlogged,   // translated, its accesses are nobody's business: the loader's
  native,     // the translator's owner's: called natively, may return into the cache
  generated,  // runs natively
};

class CodeRegions {
 public:
  struct Region {
    uint64_t begin, end;
    CodeKind kind;
    uint64_t identity;  // of what is mapped there: file and offset
  };

  // The owner's own code.
  void add_native(uint64_t begin, uint64_t end);
  void add_native_of(const CodeRegions& other);
  // Of kind none if nothing is known of the address.
  Region at(uint64_t address) const;
  // Whether to read the process' map for an address of which nothing is known: not too often, for generated code comes
  // in ever new places.
  bool may_refresh() const;
  // Some of [begin, end) was executable when the map was read.
  bool may_hold_code(uint64_t begin, uint64_t end) const;
  // Reads the map, and tells of all code that was known and is there no more, or is something else now. False if the
  // map cannot be read, as where the program has no file descriptor left: then nothing has changed here.
  template <typename Gone>
  bool refresh(Gone gone);
  // Nothing is known any more of code that meets [begin, end).
  void forget(uint64_t begin, uint64_t end);

 private:
  static constexpr size_t kRegionsMax = 4096;
  static constexpr size_t kNativeMax = 16;
  static constexpr int64_t kReadAgainNs = 20'000'000;

  static constexpr size_t kBufferBytes = 8192;

  bool read();
  void add_line(const char* line, const char* end);
  bool is_known(const Region& region) const;
  const Region* find(uint64_t address) const;

  Region regions_[kRegionsMax];
  Region before_[kRegionsMax];
  size_t count_ = 0;
  Region native_[kNativeMax];
  size_t native_count_ = 0;
  int64_t read_ns_ = 0;
  char buffer_[kBufferBytes];
};

template <typename Gone>
bool CodeRegions::refresh(Gone gone) {
  const size_t before = count_;
  for (size_t i = 0; i < before; ++i) before_[i] = regions_[i];
  if (!read()) return false;
  for (size_t i = 0; i < before; ++i) {
    if (!is_known(before_[i])) gone(before_[i].begin, before_[i].end);
  }
  return true;
}

}  // namespace contrafact::translate
