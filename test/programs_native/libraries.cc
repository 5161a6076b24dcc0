// A library is loaded, takes a lock, and goes, once for each argument: its path. With several, the last one stays: the
// process still has it when it ends.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static bool use(const char* path, bool stays) {
  void* library = dlopen(path, RTLD_NOW);
  if (!library) {
    printf("%s\n", dlerror());
    return false;
  }
  auto* use_lock = reinterpret_cast<int (*)()>(dlsym(library, "use_library_lock"));
  printf("%d\n", use_lock());
  usleep(60'000);
  if (stays) return true;
  dlclose(library);
  usleep(60'000);
  printf("%d\n", dlopen(path, RTLD_NOLOAD) == nullptr);
  return true;
}

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const bool stays = count > 2 && i == count - 1;
    if (!use(arguments[i], stays)) return 1;
  }
}
