// LoadedLibraries: which files' code lies where in a recorded process, for the reader of the trace: facts `module.N`
// (docs/format.md). The process lists them itself when it begins, when it unloads one and when it exits, unless another
// thread keeps the loader's list to itself; code that belongs to none of them is looked up in the kernel's map of the
// process.
//
// Thread safety: one thread at a time. Allocates, reads files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/tables.h"

namespace contrafact::recorder {

class LoadedLibraries {
 public:
  LoadedLibraries(Tables& tables, int32_t pid) : tables_(tables), pid_(pid) {}

  // The process lists one library: "BIAS BEGIN END BUILD_ID PATH", numbers in hexadecimal; and has listed all that are
  // loaded. PATH may be /proc/self/exe.
  void list(std::string_view library);
  void end_list(int64_t now_ns);
  // The loaded libraries, as list() takes them.
  std::vector<std::string> loaded() const;
  // Whose code lies there: the file's path; empty if that is not known. Valid until the list changes.
  std::string_view path_at(uint64_t address) const;
  // Code at these addresses has run. Finds out whose it is, where that is not known yet and can still be found out.
  void find(const std::vector<uint64_t>& addresses, int64_t now_ns);

 private:
  struct Library {
    size_t number;
    std::string text;  // of its fact, without the times
    uint64_t end;
    int64_t loaded_ns;
    bool seen;
  };
  bool knows(uint64_t address) const;
  void add(uint64_t begin, uint64_t end, std::string text, int64_t now_ns);
  void tell(const Library& library, int64_t unloaded_ns);
  void read_map(int64_t now_ns);

  Tables& tables_;
  const int32_t pid_;
  size_t count_ = 0;
  std::map<uint64_t, Library> loaded_;  // by the first address of its code
  std::vector<std::string> listed_;
};

// By its name: the C library's, or the loader's.
bool is_of_c_library(std::string_view path);

}  // namespace contrafact::recorder
