// One of the two builds of library_for_test.cc, while it is loaded.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace contrafact::translate {

// Whether a library comes to the place that the last one left. The emulator's search for a place goes on from the last
// one.
inline bool reuses_places() {
  return std::getenv("CONTRAFACT_EMULATED") == nullptr;
}

class LoadedLibrary {
 public:
  enum class Build { one, two };
  explicit LoadedLibrary(Build build)
      : handle_(dlopen(build == Build::one ? CONTRAFACT_TEST_LIBRARY_1 : CONTRAFACT_TEST_LIBRARY_2,
                       RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) ADD_FAILURE() << dlerror();
  }
  ~LoadedLibrary() { unload(); }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  void unload() {
    if (handle_) dlclose(handle_);
    handle_ = nullptr;
  }
  uint64_t address(const char* name) const { return reinterpret_cast<uint64_t>(dlsym(handle_, name)); }
  uint64_t code() const { return address("library_answer"); }

  // Where it lies, from its first page to the end of its last segment.
  struct Extent {
    uint64_t begin;
    uint64_t end;
    bool overlaps(Extent other) const { return begin < other.end && other.begin < end; }
  };
  Extent extent() const {
    link_map* map = nullptr;
    if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) {
      ADD_FAILURE() << dlerror();
      return {};
    }
    Extent extent{map->l_addr, map->l_addr};
    dl_iterate_phdr(
        [](dl_phdr_info* object, size_t, void* found) {
          auto& wanted = *static_cast<Extent*>(found);
          if (object->dlpi_addr != wanted.begin) return 0;
          for (int i = 0; i < object->dlpi_phnum; ++i) {
            const ElfW(Phdr)& part = object->dlpi_phdr[i];
            if (part.p_type == PT_LOAD) wanted.end = std::max(wanted.end, wanted.begin + part.p_vaddr + part.p_memsz);
          }
          return 1;
        },
        &extent);
    return extent;
  }

 private:
  void* handle_;
};

}  // namespace contrafact::translate
