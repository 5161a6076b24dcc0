// One of the two builds of library_for_test.cc, while it is loaded.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

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

 private:
  void* handle_;
};

}  // namespace contrafact::translate
