// CodeRegions: which of the process' memory holds code that may be translated: files mapped executable and not writable.
// Everything else is code that may change without our being told (a JIT compiler's), and runs natively.
//
// Thread safety: none; only under the Translator's lock. Allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contrafact::translate {

enum class CodeKind : uint8_t {
  none,       // not executable, or unknown
  program,    // translated and logged
  unlogged,   // translated, its accesses are nobody's business: the loader's, the kernel's page
  native,     // the translator's owner's: called natively, may return into the cache
  generated,  // runs natively
};

class CodeRegions {
 public:
  struct Region {
    uint64_t begin, end;
    CodeKind kind;
  };

  // The owner's own code.
  void add_native(uint64_t begin, uint64_t end);
  // Reads the process' map again where nothing is known of the address, but not too often: generated code comes in
  // ever new places.
  Region at(uint64_t address);
  // Some of [begin, end) was executable when the map was read.
  bool may_hold_code(uint64_t begin, uint64_t end) const;
  void forget() { is_read_ = false; }

 private:
  static constexpr size_t kRegionsMax = 4096;
  static constexpr size_t kNativeMax = 16;
  static constexpr int64_t kReadAgainNs = 20'000'000;

  static constexpr size_t kBufferBytes = 8192;

  void read();
  void add_line(const char* line, const char* end);
  const Region* find(uint64_t address) const;

  Region regions_[kRegionsMax];
  size_t count_ = 0;
  Region native_[kNativeMax];
  size_t native_count_ = 0;
  bool is_read_ = false;
  int64_t read_ns_ = 0;
  char buffer_[kBufferBytes];
};

}  // namespace contrafact::translate
